public import ApusWebSocketProtocol

/// How a WebSocket connection ended.
public struct WebSocketClosure: Sendable, Hashable, CustomStringConvertible {
    /// Who brought the end about.
    public enum Initiator: Sendable, Hashable {
        /// The peer sent the first Close frame.
        case peer
        /// We closed.
        case ourselves
        /// Nobody wanted it: the transport broke, a deadline passed or a rule was broken. ``WebSocketClosure/error`` tells which.
        case failure
    }

    /// The code of the peer's Close frame (1005 when it held none), of ours when a rule was broken, 1006 when there was no frame.
    public let code: WebSocketCloseCode
    /// The reason the peer gave, mostly empty.
    public let reason: String
    /// Whether both sides said goodbye.
    public let wasClean: Bool
    /// Who brought the end about.
    public let initiator: Initiator
    /// What went wrong; `nil` after an orderly close and after ``WebSocketConnection/abort()``.
    public let error: WebSocketError?

    package init(code: WebSocketCloseCode, reason: String, wasClean: Bool, initiator: Initiator, error: WebSocketError?) {
        self.code = code
        self.reason = reason
        self.wasClean = wasClean
        self.initiator = initiator
        self.error = error
    }

    /// The code, who closed and why, on one line.
    public var description: String {
        let why = self.error.map { " (\($0))" } ?? (self.reason.isEmpty ? "" : " \(self.reason.debugDescription)")
        switch self.initiator {
        case .peer: return "closed by the peer with \(self.code)\(why)"
        case .ourselves: return "closed by us with \(self.code)\(why)"
        case .failure: return "failed with \(self.code)\(why)"
        }
    }
}
