public import ApusWebSocketProtocol

/// The end of a WebSocket connection.
public struct WebSocketClosure: Sendable, Hashable, CustomStringConvertible {
    /// The side that ended the connection.
    public enum Initiator: Sendable, Hashable {
        /// The peer sent the first Close frame.
        case peer
        /// The local side closed or aborted the connection, even if an error such as a timeout of
        /// the close handshake followed.
        case ourselves
        /// The transport failed, a deadline passed, a limit was exceeded or the peer violated the
        /// protocol; see ``WebSocketClosure/error``.
        case failure
    }

    /// The close code: the code of the peer's Close frame (1005 if the frame was empty), the code
    /// of the local error after a protocol violation, or 1006 without a Close frame.
    public let code: WebSocketCloseCode
    /// The reason in the peer's Close frame, often empty.
    public let reason: String
    /// Whether both sides completed the close handshake.
    public let wasClean: Bool
    /// The side that ended the connection.
    public let initiator: Initiator
    /// The error that ended the connection; `nil` after an orderly close and after
    /// ``WebSocketConnection/abort()``.
    public let error: WebSocketError?

    package init(code: WebSocketCloseCode, reason: String, wasClean: Bool, initiator: Initiator, error: WebSocketError?) {
        self.code = code
        self.reason = reason
        self.wasClean = wasClean
        self.initiator = initiator
        self.error = error
    }

    /// The code, the initiator, and the error or, without an error, the reason, on one line.
    public var description: String {
        let why = self.error.map { " (\($0))" } ?? (self.reason.isEmpty ? "" : " \(self.reason.debugDescription)")
        switch self.initiator {
        case .peer: return "closed by the peer with \(self.code)\(why)"
        case .ourselves: return "closed locally with \(self.code)\(why)"
        case .failure: return "failed with \(self.code)\(why)"
        }
    }
}
