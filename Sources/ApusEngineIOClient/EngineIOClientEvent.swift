package import ApusEngineIOProtocol

/// What happens in a session beside its messages.
package enum EngineIOClientEvent: Sendable {
    /// Version 4: the server's ping came. Version 3: ours goes out.
    case ping
    /// Version 4: our answer to a ping goes out, and nobody knows how long it takes. Version 3: the server's answer came, after this time.
    case pong(roundTrip: Duration?)
    /// The WebSocket carries the session from now on.
    case upgrade
    /// The WebSocket could not be had; the polling goes on.
    case upgradeError(EngineIOError)
}
