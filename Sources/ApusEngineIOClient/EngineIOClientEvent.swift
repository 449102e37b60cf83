package import ApusEngineIOProtocol

/// What happens in a session beside its messages.
package enum EngineIOClientEvent: Sendable {
    /// Version 4: the server's ping came. Version 3: ours goes out.
    case ping
    /// Version 4: our answer to a ping goes out; how long it takes is told as `roundTrip`. Version 3: the server's answer came, after this time.
    case pong(roundTrip: Duration?)
    /// Version 4, where nobody answers our pong: the server answered the POST that held it, or over a WebSocket a ping of that, after this time.
    case roundTrip(Duration)
    /// The WebSocket carries the session from now on.
    case upgrade
    /// The WebSocket could not be had; the polling goes on.
    case upgradeError(EngineIOError)
}
