/// The reason for the end of an Engine.IO session.
///
/// The raw values are the strings of Node's engine.io; Socket.IO passes them to `disconnect`
/// listeners unchanged.
package enum EngineIOCloseReason: String, Hashable, Sendable, CustomStringConvertible {
    /// The peer closed its connection, or sent a close packet.
    case transportClose = "transport close"
    /// The connection failed: a reset, a protocol error below Engine.IO, a second concurrent GET or
    /// POST, or an outbound queue over its limit.
    case transportError = "transport error"
    /// The peer did not answer a ping, or did not send one, in time.
    case pingTimeout = "ping timeout"
    /// The peer sent a malformed packet, or one that is not valid in the state of the session.
    case parseError = "parse error"
    /// This side closed the session.
    case forcedClose = "forced close"
    /// The server is shutting down.
    case serverShuttingDown = "server shutting down"

    package var description: String { self.rawValue }
}
