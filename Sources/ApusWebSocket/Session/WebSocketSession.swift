import ApusBytes
import ApusConnectivity
public import ApusEventLoop
public import ApusWebSocketProtocol
import HTTPTypes
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
/// There are three ways to use a session. They can be combined: a scope
/// (``withConnection(to:configuration:isolation:_:)``), a handle (``connect(timeout:)``,
/// ``send(_:)``, ``messages``, ``close(code:reason:)``) and callbacks (``listen(on:_:)``).
///
/// The session connects when it is first used. When all references to the session and its
/// ``messages`` are released, the connection closes with 1001. After the session has ended
/// (``State/isEnded``), ``open()``, ``connect(timeout:)`` and ``listen(on:_:)`` start it again.
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
    ///   - logger: The logger for states and attempts at `debug`, without payloads and tokens.
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
    ///   - reconnection: The policy for reconnecting. Default: delays from 1 second, doubled up to
    ///     60 seconds.
    ///   - heartbeat: The heartbeat, which detects a dead connection. Default: a Ping every 30
    ///     seconds.
    ///   - client: The configuration of each connection.
    ///   - logger: The logger for states and attempts at `debug`.
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

    /// Returns the current state and every later state. The stream ends when the session is
    /// released.
    ///
    /// - Parameter policy: The policy for states that a slow reader has not read.
    ///   `.bufferingNewest(1)` keeps the latest state only.
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

    /// The closure of the last open connection; `nil` if no connection has closed.
    public var lastClosure: WebSocketClosure? { self.snapshot.lastClosure }

    /// The close code of the last open connection; `nil` if no connection has closed.
    public var lastCloseCode: WebSocketCloseCode? { self.lastClosure?.code }

    /// The cause of the last failed attempt or lost connection; `nil` if there was none.
    public var lastError: WebSocketError? { self.snapshot.lastError }

    /// The round-trip time of the last answered ping; `nil` before the first.
    public var latency: Duration? { self.snapshot.latency }

    /// The number of messages dropped by the queue; see ``WebSocketSendQueue``.
    public var droppedMessages: Int { self.snapshot.droppedMessages }
}

/// The parts of a session that are accessible from any thread.
///
/// Closes the session when the last reference to it and its sequences is released. Otherwise the
/// session would reconnect until the process ends, because no caller can close it.
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

    // No caller has a reference to the session. In contrast to `close()`, this does not wait for
    // the close handshake.
    deinit {
        self.core.onLoop { core in
            core.close(code: .goingAway, reason: "")
            core.subscribers.removeAll()
            core.waiters.finishWatchers()
        }
    }
}

// MARK: - Opening, sending and closing

extension WebSocketSession {
    /// Starts connecting and returns immediately. Observe ``states(bufferingPolicy:)``, or use
    /// ``connect(timeout:)``.
    public func open() {
        self.core.onLoop { $0.connect(again: true) }
    }

    /// Starts the session if necessary and waits until it is open.
    ///
    /// The reconnection policy repeats failed attempts. After a timeout or a cancellation of this
    /// call, the session continues to connect.
    ///
    /// - Parameter timeout: The time to wait. Default: 30 seconds.
    /// - Throws: `WebSocketError.Code.timeout` with the last failure as its cause,
    ///   `CancellationError`, or the error that ended the session.
    public func connect(timeout: Duration = .seconds(30)) async throws {
        let core = self.core
        try await withLoopOperation(on: core.eventLoop) { core.value.connect($0, timeout: timeout) }
    }

    /// Sends a message. Suspends while the transport's buffer is above its high watermark.
    ///
    /// Without a connection, the message is queued (``WebSocketSessionConfiguration/queue``) and
    /// the call returns. A message passed to a connection that then fails may be lost, since
    /// WebSocket has no acknowledgements.
    ///
    /// - Throws: `WebSocketError.Code.queueFull`, `WebSocketError.Code.closed` if the session is
    ///   closing or has ended, `CancellationError`.
    public func send(_ message: WebSocketMessage) async throws {
        if let connection = self.connection {
            do {
                return try await connection.send(message)
            } catch is WebSocketError {
                // The connection ended during the wait, and the message was not sent: it is queued.
            }
        }
        let core = self.core
        try await core.eventLoop.submit { try core.value.send(message).get() }.get()
    }

    /// Sends or queues a message without waiting, from any thread.
    ///
    /// - Returns: `false` if the session is closing or has ended, or if a queue limit is exceeded;
    ///   the message is then not sent. An overflow of the session's queue is reported only to a
    ///   caller on the event loop.
    @discardableResult
    public func post(_ message: WebSocketMessage) -> Bool {
        let core = self.core
        if core.eventLoop.inEventLoop {
            if case .success = core.value.send(message) { return true }
            return false
        }
        let (connection, state) = self.lifetime.snapshot.withLockedValue { ($0.connection, $0.state) }
        if let connection { return connection.post(message) }
        guard !state.isEnded, state != .closing else { return false }
        core.onLoop { _ = $0.send(message) }
        return true
    }

    /// Sends a Ping and waits for its Pong.
    ///
    /// - Parameter timeout: The time to wait for the Pong. Default: 10 seconds.
    /// - Returns: The round-trip time.
    /// - Throws: `WebSocketError.Code.closed` without a connection, and the errors of
    ///   ``WebSocketConnection/ping(timeout:)``.
    public func ping(timeout: Duration = .seconds(10)) async throws -> Duration {
        guard let connection = self.connection else {
            throw WebSocketError(.closed, message: "no Ping was sent: \(self.state.reason)")
        }
        return try await connection.ping(timeout: timeout)
    }

    /// Closes the session and waits until it has ended, even if the task is cancelled. No further
    /// attempt is made.
    ///
    /// - Parameters:
    ///   - code: The close code: 1000 (the default), or an application code from 3000 to 4999. With
    ///     a code that must not be sent, the Close frame is empty.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    ///     Default: empty.
    public func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        let ended = self.core.eventLoop.makePromise(of: Void.self)
        self.core.onLoop { core in
            core.close(code: code, reason: reason)
            if core.state.isEnded { ended.succeed() } else { core.waiters.waitForEnd(ended) }
        }
        try? await ended.futureResult.get()  // ignores cancellation
    }

    /// Closes the session without waiting until it has ended.
    ///
    /// - Parameters:
    ///   - code: The close code: 1000 (the default), or an application code from 3000 to 4999. With
    ///     a code that must not be sent, the Close frame is empty.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    ///     Default: empty.
    public func startClosing(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        self.core.onLoop { $0.close(code: code, reason: reason) }
    }

    /// Opens a session, calls `body` when it is first open, and closes it when `body` returns
    /// (1000) or throws (1001).
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - configuration: The configuration of the session.
    ///   - isolation: The isolation of `body`. Default: the caller's.
    ///   - body: The closure to call with the open session.
    /// - Returns: The result of `body`, after the session has ended.
    /// - Throws: The errors of ``connect(timeout:)`` and of `body`.
    public static func withConnection<Result>(
        to url: String, configuration: WebSocketSessionConfiguration = .init(), isolation: isolated (any Actor)? = #isolation,
        _ body: (WebSocketSession) async throws -> Result
    ) async throws -> Result {
        let session = WebSocketSession(url, configuration: configuration)
        let result: Result
        do {
            try await session.connect()
            result = try await body(session)
        } catch {
            await session.close(code: .goingAway)
            throw error
        }
        await session.close()
        return result
    }
}

// MARK: - Types

extension WebSocketSession {
    /// The state of a session.
    public enum State: Sendable, Hashable {
        /// No connection was requested yet.
        case idle
        /// An attempt is in progress, or the hook of an opened connection is running.
        case connecting
        /// The connection is open.
        case open
        /// The application has closed the session, which waits for the peer's Close frame.
        case closing
        /// The peer closed the connection with a code that permits no further attempt. Final, until
        /// the session is started again.
        case closedByPeer
        /// The application closed the session. Final, until the session is started again.
        case closedByUser
        /// The reconnection policy or the cause of the loss permits no further attempt. Final,
        /// until the session is started again.
        case failed
        /// The session waits for the time of the next attempt, or for a network.
        case waitingToReconnect

        /// Whether the session stays in this state until ``WebSocketSession/open()``,
        /// ``WebSocketSession/connect(timeout:)`` or ``WebSocketSession/listen(on:_:)`` is called.
        public var isEnded: Bool {
            switch self {
            case .closedByPeer, .closedByUser, .failed: true
            case .idle, .connecting, .open, .closing, .waitingToReconnect: false
            }
        }

        /// The state as a clause of an error message.
        package var reason: String {
            switch self {
            case .idle: "the session was not opened yet; call `open()`"
            case .connecting: "the session is not connected yet"
            case .open: "the session is open"
            case .closing, .closedByUser: "the application closed the session"
            case .closedByPeer: "the peer closed the session; `open()` connects again"
            case .failed: "the session failed and does not reconnect; `open()` connects again"
            case .waitingToReconnect: "the session waits to reconnect"
            }
        }
    }

    /// An event of a session.
    public enum Event: Sendable {
        /// The first or a later connection opened. Queued messages were sent over it.
        case opened(subprotocol: String?)
        /// A message was received.
        case message(WebSocketMessage)
        /// A Pong was received, with the round-trip time if it answers a ping of this session.
        case pong(ByteBuffer, roundTrip: Duration?)
        /// An attempt to connect failed.
        case failure(WebSocketError, willRetry: Bool)
        /// An open connection ended.
        case closed(WebSocketClosure, willRetry: Bool)
    }

    /// The reason why a session has no connection. The decision to retry depends on it.
    public enum Loss: Sendable, Hashable {
        /// An attempt failed. `WebSocketError.refusal` contains the response of a server that
        /// refused the handshake.
        case attempt(WebSocketError)
        /// An open connection ended, but not because the application closed the session.
        case connection(WebSocketClosure)

        /// The default decision, used if ``WebSocketSessionConfiguration/retryDecision`` is `nil`.
        ///
        /// The session retries after lost transports, timeouts, the statuses 408, 425, 429 and 5xx
        /// (not before `Retry-After`) and close codes that indicate a problem of the server. It
        /// does not retry after invalid URLs, requests or certificates, other statuses, a close
        /// with 1000, and close codes that indicate an error of the client.
        public var defaultDecision: RetryDecision {
            switch self {
            case .attempt(let error): error.retryDecision
            // This side closed the connection, but not on request of the application; for example,
            // because a queue exceeded its limit.
            case .connection(let closure) where closure.initiator == .ourselves: .retry
            case .connection(let closure): closure.error?.retryDecision ?? closure.code.retryDecision
            }
        }
    }
}

extension WebSocketError: RetryClassifiable {
    /// The decision for an error; see ``WebSocketSession/Loss/defaultDecision``.
    public var retryDecision: RetryDecision {
        switch self.code {
        case .invalidURL, .invalidUse, .invalidConfiguration, .unsupportedVersion: .giveUp
        case .connectionRefused: self.refusal.map(Self.decision(after:)) ?? .retry
        default: RetryDecision(classifying: self.cause)
        }
    }

    private static func decision(after refusal: Refusal) -> RetryDecision {
        switch refusal.status {
        case 408, 425, 429, 500...599:
            // RFC 9110 section 10.2.3: seconds or a date. A date is ignored, because the clocks may
            // differ.
            guard let text = refusal.headers[.retryAfter], let seconds = Int(digits: text) else { return .retry }
            return .retryAfter(min(.seconds(min(seconds, 86_400)), RetryDecision.maximumDelay))
        default:
            return .giveUp
        }
    }
}

extension WebSocketCloseCode {
    /// The decision after an orderly close by the peer.
    var retryDecision: RetryDecision {
        switch self.rawValue {
        case 1000, 1002, 1003, 1007, 1008, 1010: .giveUp
        case 3000, 3003: .giveUp  // IANA registry: unauthorized, forbidden
        default: .retry
        }
    }
}
