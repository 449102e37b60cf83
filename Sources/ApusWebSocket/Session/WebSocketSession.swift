public import ApusConnectivity
public import ApusWebSocketProtocol
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
import NIOPosix

/// A WebSocket that stays up: what is lost is opened again.
///
/// ```swift
/// let feed = WebSocketSession("wss://example.com/feed", reconnection: .exponential(from: .seconds(1), to: .seconds(60)))
/// for try await message in feed.messages { print(message) }
/// ```
///
/// Three doors lead to it: a scope (``withConnection(to:configuration:isolation:_:)``), a handle (``connect(timeout:)``,
/// ``send(_:)``, ``messages``, ``close(code:reason:)``) and callbacks (``listen(on:_:)``). They may be mixed.
///
/// The session lives as long as somebody holds it, or a sequence of its ``messages``; then its connection closes with 1001. It connects
/// when it is first used. After an end (``State/isEnded``) ``connect(timeout:)`` and ``listen(on:_:)`` begin anew.
public final class WebSocketSession: Sendable {
    let lifetime: WebSocketSessionLifetime
    var core: WebSocketSessionCore { self.lifetime.core }

    /// Makes a session; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`. A wrong one ends the session when it is used.
    ///   - configuration: How it connects and stays up.
    ///   - eventLoop: Where everything happens. Default: one of the process's.
    ///   - logger: States and attempts at `debug`. Never a payload or a token.
    public init(
        _ url: String, configuration: WebSocketSessionConfiguration, on eventLoop: (any EventLoop)? = nil,
        logger: Logger = Logger(label: "apus.websocket.session")
    ) {
        let core = WebSocketSessionCore(
            url: url, configuration: configuration, logger: logger,
            eventLoop: eventLoop ?? MultiThreadedEventLoopGroup.singleton.next())
        self.lifetime = WebSocketSessionLifetime(core: core)
    }

    /// Makes a session with the settings that are changed most; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - reconnection: When a lost connection is opened again.
    ///   - heartbeat: How a silent connection is found dead.
    ///   - client: How each connection is opened.
    ///   - logger: States and attempts at `debug`.
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

    /// How the session stands now.
    public var state: State { self.core.snapshot.withLockedValue { $0.state } }

    /// The state now, and every change; of a reader that lags only the newest 32 are kept. Ends when the session is released.
    public var states: AsyncStream<State> {
        let core = self.core
        return AsyncStream(bufferingPolicy: .bufferingNewest(32)) { continuation in
            core.onLoop { core in
                let id = core.waiters.watch(core.state, continuation)
                continuation.onTermination = { [weak core] _ in core?.onLoop { $0.waiters.unwatch(id) } }
            }
        }
    }

    /// The number of the present attempt since the connection was lost; 0 when it is open or was never lost.
    public var attempt: Int { self.core.snapshot.withLockedValue { $0.attempt } }

    /// The connection, while it is open.
    public var connection: WebSocketConnection? { self.core.snapshot.withLockedValue { $0.connection } }

    /// How the last connection that was open ended.
    public var lastClosure: WebSocketClosure? { self.core.snapshot.withLockedValue { $0.lastClosure } }

    /// The close code of the last connection that was open.
    public var lastCloseCode: WebSocketCloseCode? { self.lastClosure?.code }

    /// Why there was no connection the last time there was none.
    public var lastError: WebSocketError? { self.core.snapshot.withLockedValue { $0.lastError } }

    /// The round-trip time of the last answered ping.
    public var latency: Duration? { self.core.snapshot.withLockedValue { $0.latency } }

    /// How many messages the queue has thrown away; see ``WebSocketSendQueue``.
    public var droppedMessages: Int { self.core.snapshot.withLockedValue { $0.droppedMessages } }
}

/// Closes the connection when nobody holds the session nor a sequence of it any more.
final class WebSocketSessionLifetime: Sendable {
    let core: WebSocketSessionCore

    init(core: WebSocketSessionCore) {
        self.core = core
    }

    deinit {
        self.core.onLoop { core in
            core.close(code: .goingAway, reason: "")
            core.subscribers.removeAll()
            core.waiters.finishWatchers()
        }
    }
}
