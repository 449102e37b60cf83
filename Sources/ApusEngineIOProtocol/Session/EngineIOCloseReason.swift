/// Why an Engine.IO session ended.
///
/// The descriptions are the reference server's words; Socket.IO hands them to `disconnect` listeners unchanged.
package enum EngineIOCloseReason: String, Hashable, Sendable, CustomStringConvertible {
    /// The peer closed its connection, or said so with a close packet.
    case transportClose = "transport close"
    /// The connection failed: a reset, a protocol fault below Engine.IO, an outbound queue over its bound.
    case transportError = "transport error"
    /// A ping was not answered in time.
    case pingTimeout = "ping timeout"
    /// The peer sent what no packet can be.
    case parseError = "parse error"
    /// This side closed the session.
    case forcedClose = "forced close"
    /// The whole server is going away.
    case serverShuttingDown = "server shutting down"

    package var description: String { self.rawValue }
}
