/// Lets a client that lost its connection come back as the same socket: its id, rooms and data, and the events it missed.
///
/// The client keeps a private id and the offset of the last event it got, which every event carries as its last argument (so does the
/// reference server's). Events that ask for an ack, volatile ones and acks are not kept; clients of Socket.IO 2.x cannot come back. A socket that
/// was disconnected by either side on purpose, or by a protocol fault, is not kept either.
public struct SocketIOConnectionStateRecovery: Hashable, Sendable {
    /// How long a lost socket and the events of its namespace are kept. Default: 2 minutes, the reference server's.
    public var maximumDisconnection: Duration
    /// Whether a client that comes back whole is let in without asking the namespace's middleware again. Default: yes, as the reference server.
    public var skipsMiddleware: Bool
    /// Most events kept a namespace. A client that missed more starts anew. Default: 10,000 (the reference has no bound).
    public var maximumEvents: Int
    /// Most bytes of events kept a namespace. Default: 16 MiB (the reference has no bound).
    public var maximumBytes: Int
    /// Most lost sockets kept a namespace; the one lost first goes. Default: 10,000 (the reference has no bound).
    public var maximumSessions: Int

    /// - Parameters:
    ///   - maximumDisconnection: How long a lost socket and the events are kept.
    ///   - skipsMiddleware: Whether middleware is skipped for a client that comes back whole.
    ///   - maximumEvents: Most events kept a namespace.
    ///   - maximumBytes: Most bytes of events kept a namespace.
    ///   - maximumSessions: Most lost sockets kept a namespace.
    public init(
        maximumDisconnection: Duration = .seconds(120), skipsMiddleware: Bool = true, maximumEvents: Int = 10_000,
        maximumBytes: Int = 16 << 20, maximumSessions: Int = 10_000
    ) {
        self.maximumDisconnection = maximumDisconnection
        self.skipsMiddleware = skipsMiddleware
        self.maximumEvents = maximumEvents
        self.maximumBytes = maximumBytes
        self.maximumSessions = maximumSessions
    }
}

/// Whether a socket is one that came back.
public enum SocketIORecovery: Hashable, Sendable {
    /// The client did not ask: it is new, or recovery is off.
    case none
    /// The same socket as before. Its id, rooms and data are back, and every event it missed was sent.
    case complete
    /// The client was here before, but its socket is not known any more, or some events it missed are gone. The socket is a new one; whatever
    /// the client shows is to be brought up to date by other means.
    case incomplete
}
