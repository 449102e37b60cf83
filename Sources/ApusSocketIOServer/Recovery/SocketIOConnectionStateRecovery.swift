/// The settings of connection state recovery: a client that lost its connection resumes as the same
/// socket, with its id, rooms and data, and receives the events that it missed.
///
/// The client stores a private id and the offset of the last event that it received. As with
/// socket.io for Node, every event carries its offset as the last argument. Acks, volatile events
/// and events that request an ack are not stored. Clients of Socket.IO 2.x cannot resume. A socket
/// that either side disconnected, that caused a protocol error, or that ended with the server's
/// shutdown is not stored.
public struct SocketIOConnectionStateRecovery: Hashable, Sendable {
    /// The time for which a lost socket and the events of its namespace are stored. Default: 2
    /// minutes, as in socket.io for Node.
    public var maximumDisconnection: Duration
    /// Whether a client that resumes its session skips the namespace's middleware. Default: `true`,
    /// as in socket.io for Node.
    public var skipsMiddleware: Bool
    /// The maximum number of events stored per namespace. A client that missed more events starts
    /// a new session. Default: 10,000. socket.io for Node has no limit.
    public var maximumEvents: Int
    /// The maximum number of bytes of events stored per namespace. Default: 16 MiB. socket.io for
    /// Node has no limit.
    public var maximumBytes: Int
    /// The maximum number of lost sockets stored per namespace. The oldest is removed first.
    /// Default: 10,000. socket.io for Node has no limit.
    public var maximumSessions: Int

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - maximumDisconnection: The time for which a lost socket and the events are stored.
    ///     Default: 2 minutes.
    ///   - skipsMiddleware: Whether a client that resumes its session skips middleware. Default:
    ///     `true`.
    ///   - maximumEvents: The maximum number of events stored per namespace. Default: 10,000.
    ///   - maximumBytes: The maximum number of bytes of events stored per namespace. Default: 16
    ///     MiB.
    ///   - maximumSessions: The maximum number of lost sockets stored per namespace. Default:
    ///     10,000.
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

/// The outcome of connection state recovery for a socket.
public enum SocketIORecovery: Hashable, Sendable {
    /// The client did not request recovery, or recovery is disabled.
    case none
    /// The socket resumed with its id, rooms and data, and every event that it missed was sent.
    case complete
    /// The client requested recovery, but its session or some of the missed events are no longer
    /// stored. The socket is new, and the application must update the client's state by other
    /// means.
    case incomplete
}
