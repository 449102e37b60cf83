package import ApusEngineIOProtocol

/// An event of a session other than a message.
package enum EngineIOClientEvent: Sendable {
    /// A ping: received in version 4, sent in version 3.
    case ping
    /// A pong: sent in version 4, without a round trip; received in version 3, with the round trip.
    case pong(roundTrip: Duration?)
    /// The round trip in version 4: measured with the POST of the pong, or with a WebSocket Ping
    /// after it.
    case roundTrip(Duration)
    /// The WebSocket carries the session now.
    case upgrade
    /// The upgrade failed. Polling continues.
    case upgradeError(EngineIOError)
}
