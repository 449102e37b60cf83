import ApusConnectivity
public import ApusEventLoop
public import ApusWebSocketProtocol

/// The configuration of a session.
public struct WebSocketSessionConfiguration: Sendable {
    /// The configuration of each connection.
    public var client = WebSocketClientConfiguration()

    /// The policy for reconnecting. Default: delays from 1 second, doubled up to 60 seconds and
    /// varied by up to half, without a limit on the number of attempts.
    public var reconnection: ReconnectionPolicy = .exponential(from: .seconds(1), to: .seconds(60))

    /// The heartbeat, which detects a dead connection. Default: a Ping every 30 seconds,
    /// which the peer must answer within 20 seconds.
    public var heartbeat: WebSocketHeartbeat = .ping()

    /// The limits of the queue for messages sent without a connection.
    public var queue = WebSocketSendQueue()

    /// A hook that is called for every opened connection before queued messages are sent, for
    /// example to log in. Default: `nil`.
    ///
    /// The closure may read responses from ``WebSocketConnection/messages``; unread messages are
    /// delivered to the session's listeners. If it throws or exceeds ``onOpenTimeout``, the
    /// connection closes and the attempt fails with `WebSocketError.Code.openHook`,
    /// `WebSocketError.Code.timeout`, or the thrown `WebSocketError`.
    public var onOpen: (@Sendable (WebSocketConnection) async throws -> Void)?

    /// The maximum time for ``onOpen``. Default: 10 seconds.
    public var onOpenTimeout: Duration = .seconds(10)

    /// A closure that decides whether to make another attempt. Default: `nil`,
    /// ``WebSocketSession/Loss/defaultDecision`` decides.
    ///
    /// It is not called after the application closes the session, because no attempt follows then.
    public var retryDecision: (@Sendable (WebSocketSession.Loss) -> RetryDecision)?

    /// Whether attempts pause while this machine has no network, and are made immediately when a
    /// network returns or changes. Default: `true`.
    public var watchesNetwork: Bool = true

    /// The monitor that reports network changes.
    var networkMonitor = NetworkPathMonitor.shared

    /// Creates the default configuration.
    public init() {}

    /// Returns the network that a session observes; `nil` for a Unix socket.
    func network(for host: String?) -> Reconnector.Network? {
        guard self.watchesNetwork, self.client.unixSocketPath == nil else { return nil }
        return Reconnector.Network(self.networkMonitor, host: host ?? "")
    }

    func decision(about loss: WebSocketSession.Loss) -> RetryDecision {
        self.retryDecision?(loss) ?? loss.defaultDecision
    }
}

/// The limits of the queue for messages sent while a session has no connection.
public struct WebSocketSendQueue: Sendable, Hashable {
    /// The policy for a message that exceeds the limits.
    public enum Overflow: Sendable, Hashable {
        /// `send` throws `WebSocketError.Code.queueFull`.
        case fail
        /// The oldest message is dropped. Suitable for values that later values replace, such as
        /// positions and prices.
        case dropOldest
        /// The new message is dropped.
        case dropNewest
    }

    /// The maximum number of queued messages. Default: 256. With 0, every message sent without a
    /// connection overflows.
    public var maximumMessages: Int = 256

    /// The maximum number of queued payload bytes. Default: 1 MiB.
    ///
    /// The whole queue is passed to the connection when it opens, even above
    /// ``WebSocketFlowControl/postedBytes``.
    public var maximumBytes: Int = 1 << 20

    /// The policy for messages above the limits. Default: ``Overflow/fail``.
    public var overflow: Overflow = .fail

    /// Creates the limits of a queue.
    ///
    /// - Parameters:
    ///   - maximumMessages: The maximum number of queued messages. Default: 256.
    ///   - maximumBytes: The maximum number of queued payload bytes. Default: 1 MiB.
    ///   - overflow: The policy for messages above the limits. Default: ``Overflow/fail``.
    public init(maximumMessages: Int = 256, maximumBytes: Int = 1 << 20, overflow: Overflow = .fail) {
        self.maximumMessages = maximumMessages
        self.maximumBytes = maximumBytes
        self.overflow = overflow
    }
}
