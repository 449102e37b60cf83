package import ApusEngineIOProtocol

/// An event of a session other than a message.
package enum EngineIOClientEvent: Sendable {
    /// A ping, which the client received (version 4) or sent (version 3).
    case ping
    /// A pong. In version 4, the client sent it, and `roundTrip` is `nil`. In version 3, the client
    /// received it after this time.
    case pong(roundTrip: Duration?)
    /// The round-trip time in version 4, measured with the POST of the pong, or with a WebSocket
    /// Ping after the pong.
    case roundTrip(Duration)
    /// The WebSocket carries the session now.
    case upgrade
    /// The upgrade failed. Polling continues.
    case upgradeError(EngineIOError)
}
