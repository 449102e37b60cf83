public import ApusConnectivity
public import ApusWebSocketProtocol

/// How a session keeps its connection up.
public struct WebSocketSessionConfiguration: Sendable {
    /// How each connection is opened.
    public var client = WebSocketClientConfiguration()

    /// When a lost connection is opened again. Default: after 1 second, doubling to 60, each varied by half either way, for ever.
    public var reconnection: ReconnectionPolicy = .exponential(from: .seconds(1), to: .seconds(60))

    /// How a silent connection is found dead. Default: a Ping every 30 seconds, answered within 20.
    public var heartbeat: WebSocketHeartbeat = .ping()

    /// What is kept of what is sent while there is no connection.
    public var queue = WebSocketSendQueue()

    /// Called for every connection that opens, before anything queued is sent: the place for a login.
    ///
    /// It may read the answer from ``WebSocketConnection/messages``; what it leaves there goes to the session's listeners. When it throws,
    /// or takes longer than ``onOpenTimeout``, the connection is closed and the attempt has failed with ``WebSocketError/Code/openHook``
    /// (or with the thrown error, if that is a ``WebSocketError``).
    public var onOpen: (@Sendable (WebSocketConnection) async throws -> Void)?

    /// Default: 10 seconds.
    public var onOpenTimeout: Duration = .seconds(10)

    /// Whether another attempt is worth it; `nil` for ``WebSocketSession/Loss/defaultDecision``.
    ///
    /// Not asked after the user's own close: that is never followed by an attempt.
    public var retryDecision: (@Sendable (WebSocketSession.Loss) -> RetryDecision)?

    /// Whether attempts pause while this machine has no network, and are made at once when one returns or changes. Default: `true`.
    public var watchesNetwork: Bool = true

    /// What is watched.
    var networkMonitor = NetworkPathMonitor.shared

    /// The defaults.
    public init() {}

    func decision(about loss: WebSocketSession.Loss) -> RetryDecision {
        self.retryDecision?(loss) ?? loss.defaultDecision
    }
}
