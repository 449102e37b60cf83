import ApusConnectivity
public import ApusEventLoop
public import ApusWebSocketProtocol
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
import NIOPosix

/// A WebSocket client session that reconnects after a lost connection.
///
/// ```swift
/// let feed = WebSocketSession("wss://example.com/feed", reconnection: .exponential(from: .seconds(1), to: .seconds(60)))
/// for try await message in feed.messages { print(message) }
/// ```
///
/// There are three ways to use it, which can be combined: a scope
/// (``withConnection(to:configuration:isolation:_:)``), a handle (``connect(timeout:)``,
/// ``send(_:)``, ``messages``, ``close(code:reason:)``) and callbacks (``listen(on:_:)``).
///
/// The session connects when it is first used. When the last reference to it and to its
/// ``messages`` is released, the connection closes with 1001. After the session has ended
/// (``State/isEnded``), ``connect(timeout:)`` and ``listen(on:_:)`` start it again.
public final class WebSocketSession: Sendable {
    let lifetime: WebSocketSessionLifetime
    var core: NIOLoopBoundBox<WebSocketSessionCore> { self.lifetime.core }
    var snapshot: WebSocketSessionSnapshot { self.lifetime.snapshot.withLockedValue { $0 } }

    /// Creates a session without connecting.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`. The session fails on first use if the URL
    ///     is invalid.
    ///   - configuration: The configuration of the session and its connections.
    ///   - eventLoop: The event loop of the session. Default: one of the process-wide group.
    ///   - logger: Receives states and attempts at `debug`, but no payloads and no tokens.
    public init(
        _ url: String, configuration: WebSocketSessionConfiguration, on eventLoop: (any EventLoop)? = nil,
        logger: Logger = Logger(label: "apus.websocket.session")
    ) {
        self.lifetime = WebSocketSessionLifetime(
            url: url, configuration: configuration, logger: logger, eventLoop: eventLoop ?? MultiThreadedEventLoopGroup.singleton.next())
    }

    /// Creates a session with the most common settings, without connecting.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - reconnection: The policy for reconnecting.
    ///   - heartbeat: The heartbeat, which detects a dead connection.
    ///   - client: The configuration of each connection.
    ///   - logger: Receives states and attempts at `debug`.
    public convenience init(
        _ url: String, reconnection: ReconnectionPolicy = .exponential(from: .seconds(1), to: .seconds(60)),
        heartbeat: WebSocketHeartbeat = .ping(), client: WebSocketClientConfiguration = .init(),
        logger: Logger = Logger(label: "apus.websocket.session")
    ) {
        var configuration = WebSocketSessionConfiguration()
        configuration.reconnection = reconnection
        configuration.heartbeat = heartbeat
        configuration.client = client
        self.init(url, configuration: configuration, logger: logger)
    }

    // MARK: State

    /// The current state.
    public var state: State { self.snapshot.state }

    /// Returns the current state and every change. Ends when the session is released.
    ///
    /// - Parameter policy: Which states a slow reader misses. `.bufferingNewest(1)` keeps the
    ///   current state only.
    public func states(bufferingPolicy policy: BufferingPolicy) -> EventStream<State> {
        let (stream, continuation) = EventStream.make(of: State.self, bufferingPolicy: policy)
        self.core.onLoop { [weak core] object in
            let id = object.waiters.watch(object.state, continuation)
            continuation.onTermination = { [weak core] _ in core?.onLoop { $0.waiters.unwatch(id) } }
        }
        return stream
    }

    /// The number of the current attempt since the connection was lost; 0 while it is open or was
    /// never lost.
    public var attempt: Int { self.snapshot.attempt }

    /// The connection, while it is open.
    public var connection: WebSocketConnection? { self.snapshot.connection }

    /// How the last open connection ended.
    public var lastClosure: WebSocketClosure? { self.snapshot.lastClosure }

    /// The close code of the last open connection.
    public var lastCloseCode: WebSocketCloseCode? { self.lastClosure?.code }

    /// The cause of the last failed attempt or lost connection.
    public var lastError: WebSocketError? { self.snapshot.lastError }

    /// The round-trip time of the last answered ping.
    public var latency: Duration? { self.snapshot.latency }

    /// The number of messages dropped by the queue; see ``WebSocketSendQueue``.
    public var droppedMessages: Int { self.snapshot.droppedMessages }
}

/// The parts of a session that any thread may use.
///
/// Closes the session when the last reference to it and its sequences is released: no caller could
/// close it then, and it would reconnect until the process ends.
final class WebSocketSessionLifetime: Sendable {
    let snapshot = NIOLockedValueBox(WebSocketSessionSnapshot())
    let flow: WebSocketFlowControl
    let core: NIOLoopBoundBox<WebSocketSessionCore>

    init(url: String, configuration: WebSocketSessionConfiguration, logger: Logger, eventLoop: any EventLoop) {
        self.flow = configuration.client.flow
        self.core = .sending(
            WebSocketSessionCore(url: url, configuration: configuration, logger: logger, snapshot: self.snapshot, eventLoop: eventLoop),
            to: eventLoop)
    }

    deinit {
        self.core.onLoop { core in
            core.close(code: .goingAway, reason: "")
            core.subscribers.removeAll()
            core.waiters.finishWatchers()
        }
    }
}
