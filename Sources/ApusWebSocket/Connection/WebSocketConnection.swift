import ApusEventLoop
public import ApusWebSocketProtocol
public import HTTPTypes
import NIOConcurrencyHelpers
public import NIOCore

/// An open WebSocket connection of a client or a server.
///
/// ```swift
/// try await connection.send("hello")
/// for try await message in connection.messages { print(message) }
/// ```
///
/// There are two ways to receive. Tasks read ``messages``, or ``onMessage(_:)`` calls a handler on
/// the event loop, without a lock, a task or a change of threads. There are two ways to send.
/// ``send(_:)`` waits for free space in the queue; ``post(_:)`` does not wait, and its queue is
/// bounded. The connection stays open until either side closes it, even if the application releases
/// this object.
public final class WebSocketConnection: @unchecked Sendable {
    // Unchecked: the constants are Sendable. The variables below "Event loop" are accessed on
    // `eventLoop` only. A `NIOLoopBoundBox` would add an indirection per message.

    /// The event loop of the connection, on which its handlers are called.
    public let eventLoop: any EventLoop
    /// The negotiated subprotocol; `nil` if none was negotiated.
    public let subprotocol: String?
    /// The peer's address on the transport; `nil` if the system does not provide it.
    public let remoteAddress: SocketAddress?
    /// The request that opened the connection, with its path, query and cookies. `nil` on a client.
    ///
    /// Each access creates the value, so store the parts that are used often.
    public var request: HTTPRequest? { self.storedRequest?.request }
    private let storedRequest: StoredRequest?
    /// The reference of the queues to this object. It is set from ``attach(_:)`` until the
    /// connection ends.
    let link: OwnerLink<WebSocketConnection>

    let flow: WebSocketFlowControl
    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    let status = NIOLockedValueBox(Status())

    /// The state that is accessible from any thread.
    struct Status: Sendable {
        /// The end of the connection. Indirect, because a closure is larger than the rest of the
        /// status.
        private enum Ending: Sendable {
            case none
            indirect case closed(WebSocketClosure)
        }

        var isOpen = true
        private var ending = Ending.none
        var latency: Duration?
        var isCompressed = false
        var waiters: [CheckedContinuation<WebSocketClosure, Never>] = []

        var closure: WebSocketClosure? {
            get { if case .closed(let closure) = self.ending { closure } else { nil } }
            set { self.ending = newValue.map { .closed($0) } ?? .none }
        }
    }

    // MARK: Event loop

    /// The variables that every message uses. Unchecked, because they are accessed within single
    /// statements only.
    @exclusivity(unchecked) var hot = Hot()
    var handler: WebSocketHandler? { self.hot.handler }

    struct Hot {
        var handler: WebSocketHandler?
        var messageHandler: ((WebSocketConnection, WebSocketMessage) -> Void)?
        var readCompleteHandler: ((WebSocketConnection) -> Void)?
        var heartbeat: WebSocketHeartbeatDriver?
        /// The keep-alive of the connection; `nil` on a client.
        var keepAlive: ServerKeepAlive?
    }

    var pongHandler: ((WebSocketConnection, ByteBuffer, Duration?) -> Void)?
    var closeHandlers: [(WebSocketClosure) -> Void] = []
    /// The unanswered Pings, except those of the heartbeat. Their numbers begin at 2^63; the
    /// heartbeat's Pings have smaller numbers.
    var pings = PendingPings<WebSocketPingWaiter>(firstID: 1 << 63)
    var closeWasRequested = false
    /// Whether the inbox is full and pauses reading.
    var inboxPausesReading = false

    /// Creates a connection without a WebSocket, which ``attach(_:)`` sets.
    package init(
        on eventLoop: any EventLoop, subprotocol: String?, remoteAddress: SocketAddress?, flow: WebSocketFlowControl = .init(),
        request: HTTPRequest? = nil
    ) {
        self.eventLoop = eventLoop
        self.subprotocol = subprotocol
        self.remoteAddress = remoteAddress
        self.storedRequest = request.map { StoredRequest($0) }
        self.flow = flow
        let link = OwnerLink<WebSocketConnection>(on: eventLoop)
        self.link = link
        self.inbox = WebSocketInbox(flow: flow) {
            // Read the current state: the inbox may have filled up again before this closure runs.
            link.onLoop { $0.setReading(paused: $0.inbox.isPaused) }
        }
        self.outbox = WebSocketOutbox(flow: flow) { link.inLaterTurn { $0.outboxHopped() } }
    }

    /// Sets the WebSocket of the connection. The connection is the delegate of the WebSocket. Must
    /// be called on the event loop, before the first read.
    package func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.hot.handler = handler
        if self.closure == nil { self.link.connect(self) }  // it may already have ended
        if handler.deflate != nil { self.status.withLockedValue { $0.isCompressed = true } }
        self.transportChanged()
    }

    /// Starts the keep-alive. Must be called on the event loop. Has no effect if the connection has
    /// ended.
    func keep(_ keepAlive: ServerKeepAlive) {
        guard self.hot.handler != nil else { return }
        self.hot.keepAlive = keepAlive
        keepAlive.start()
    }

    // MARK: State

    /// Whether messages can be sent.
    public var isOpen: Bool { self.status.withLockedValue { $0.isOpen } }

    /// The closure of the connection; `nil` while it is open or closing.
    public var closure: WebSocketClosure? { self.status.withLockedValue { $0.closure } }

    /// The round-trip time of the last answered ping; `nil` before the first.
    public var latency: Duration? { self.status.withLockedValue { $0.latency } }

    /// Whether permessage-deflate (RFC 7692) was negotiated.
    public var isCompressed: Bool { self.status.withLockedValue { $0.isCompressed } }

    /// Waits for the end of the connection.
    ///
    /// Ignores cancellation, and has no timeout.
    public func waitUntilClosed() async -> WebSocketClosure {
        await withCheckedContinuation { continuation in
            let closure: WebSocketClosure? = self.status.withLockedValue { status in
                if status.closure == nil { status.waiters.append(continuation) }
                return status.closure
            }
            if let closure { continuation.resume(returning: closure) }
        }
    }
}

extension WebSocketConnection {
    /// The received messages, in order, for tasks to read; see ``WebSocketMessages``.
    public var messages: WebSocketMessages { WebSocketMessages(inbox: self.inbox) }

    /// Calls `handler` on the event loop for every message, including those already queued.
    ///
    /// This is the fastest way to receive. The handler must not block the event loop. It is
    /// released when the connection ends or another handler replaces it. A loop that waits on
    /// ``messages`` ends; a loop that starts later receives no message until the connection ends.
    public func onMessage(_ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ message: WebSocketMessage) -> Void) {
        self.eventLoop.runOnLoop { self.setMessageHandler(handler) }
    }

    /// Calls `handler` on the event loop after all messages of one read were delivered.
    ///
    /// Messages that the handler sends are written together with the responses to that read.
    public func onReadComplete(_ handler: @escaping @Sendable (_ connection: WebSocketConnection) -> Void) {
        self.eventLoop.runOnLoop {
            if self.closure == nil { self.hot.readCompleteHandler = handler }
        }
    }

    /// Calls `handler` on the event loop for every Pong, with the round-trip time if it answers a
    /// ping of this connection.
    public func onPong(
        _ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ payload: ByteBuffer, _ roundTrip: Duration?) -> Void
    ) {
        self.eventLoop.runOnLoop { self.setPongHandler(handler) }
    }

    /// Calls `handler` on the event loop when the connection has ended. If it has already ended,
    /// calls the handler immediately.
    public func onClose(_ handler: @escaping @Sendable (WebSocketClosure) -> Void) {
        self.eventLoop.runOnLoop { self.addCloseHandler(handler) }
    }

    // MARK: Event loop

    /// Sets the handler of ``onMessage(_:)`` on the event loop.
    func setMessageHandler(_ handler: @escaping (WebSocketConnection, WebSocketMessage) -> Void) {
        if self.closure == nil { self.hot.messageHandler = handler }
        for message in self.inbox.takeOver() { handler(self, message) }
    }

    /// Sets the handler of ``onPong(_:)`` on the event loop.
    func setPongHandler(_ handler: @escaping (WebSocketConnection, ByteBuffer, Duration?) -> Void) {
        if self.closure == nil { self.pongHandler = handler }
    }

    /// Adds a handler of ``onClose(_:)`` on the event loop.
    func addCloseHandler(_ handler: @escaping (WebSocketClosure) -> Void) {
        if let closure = self.closure { return handler(closure) }
        self.closeHandlers.append(handler)
    }

    func setReading(paused: Bool) {
        guard self.inboxPausesReading != paused else { return }
        self.inboxPausesReading = paused
        self.hot.handler?.setReading(paused: paused)
    }

    /// Whether reading from the peer is paused. While it is, missing bytes do not indicate a dead
    /// peer.
    var readingIsPaused: Bool { self.hot.handler?.readingIsPaused ?? false }
}

extension WebSocketConnection: WebSocketHandlerDelegate {
    package func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        self.hot.heartbeat?.hasMessage = true
        if let messageHandler = self.hot.messageHandler {
            messageHandler(self, message)
        } else if self.inbox.received(message) {
            self.setReading(paused: true)
        }
    }

    package func webSocketReadComplete(_ handler: WebSocketHandler) {
        self.hot.heartbeat?.readCompleted()
        self.hot.keepAlive?.readCompleted(isWithinHeader: handler.isWithinFrameHeader)
        self.hot.readCompleteHandler?(self)
    }

    package func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        self.hot.keepAlive?.writabilityChanged(isWritable: isWritable)
        self.transportChanged()
    }

    package func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {
        let (settled, ownRoundTrip) = self.settlePings(payload)
        let roundTrip = ownRoundTrip ?? self.hot.heartbeat?.receivedPong(payload)
        if let roundTrip {
            self.status.withLockedValue { $0.latency = roundTrip }
        }
        self.pongHandler?(self, payload, roundTrip)
        for (waiter, roundTrip) in settled { waiter(.success(roundTrip)) }
    }

    package func webSocketShouldClose(_ handler: WebSocketHandler) {
        self.startClosing(code: .goingAway)
    }

    package func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        let initiator: WebSocketClosure.Initiator = self.closeWasRequested ? .ourselves : error != nil ? .failure : .peer
        let closure = WebSocketClosure(
            code: code ?? .abnormalClosure, reason: handler.receivedCloseReason, wasClean: error == nil && code != nil,
            initiator: initiator, error: error)
        self.ended(closure)
    }

    private func ended(_ closure: WebSocketClosure) {
        self.hot.handler = nil
        self.link.disconnect()
        self.hot.heartbeat?.stop()
        self.hot.heartbeat = nil
        self.hot.keepAlive?.end()
        self.hot.keepAlive = nil
        let waiters = self.status.withLockedValue { status in
            status.isOpen = false
            status.closure = closure
            defer { status.waiters = [] }
            return status.waiters
        }
        let error = closure.error ?? WebSocketError(.closed, message: "the connection is \(closure)")
        self.outbox.ended(error)
        self.inbox.ended(closure.error)
        for waiter in self.pings.takeAll() { waiter(.failure(error)) }
        let handlers = self.closeHandlers
        self.hot.messageHandler = nil
        self.hot.readCompleteHandler = nil
        self.pongHandler = nil
        self.closeHandlers = []
        for handler in handlers { handler(closure) }
        for waiter in waiters { waiter.resume(returning: closure) }
    }
}

/// A closure that receives the round-trip time of a ping or the error that ended the wait. It is
/// called exactly once.
typealias WebSocketPingWaiter = (Result<Duration, any Error>) -> Void

extension WebSocketConnection {
    /// Sends a Ping and waits for its Pong.
    ///
    /// - Parameter timeout: The time to wait for the Pong. Default: 10 seconds.
    /// - Returns: The round-trip time, which also becomes ``latency``.
    /// - Throws: `WebSocketError.Code.timeout`, `WebSocketError.Code.queueFull` when 64 pings are
    ///   already pending, `WebSocketError.Code.closed` or the error that ended the connection, or
    ///   `CancellationError`.
    public func ping(timeout: Duration = .seconds(10)) async throws -> Duration {
        try await withLoopOperation(on: self.eventLoop) { self.ping($0, timeout: timeout) }
    }

    private func ping(_ operation: LoopOperation<Duration>, timeout: Duration) {
        guard self.hot.handler?.isOpen == true else {
            return operation.fail(self.closure?.error ?? WebSocketError(.closed, message: "the connection is closed"))
        }
        guard let id = self.sendPing({ operation.end(with: $0) }) else {
            return operation.fail(
                WebSocketError(.queueFull, message: "the connection has reached the maximum of \(self.pings.count) unanswered Pings"))
        }
        operation.expire(in: timeout) {
            _ = self.pings.abandon(id)
            return WebSocketError(.timeout, message: "the peer did not answer the Ping within \(timeout)")
        }
        operation.whenCancelled {
            _ = self.pings.abandon(id)
            operation.fail(CancellationError())
        }
    }

    /// Sends a Ping. Must be called on the event loop.
    ///
    /// - Returns: The number of the ping. `nil` if the connection is not open or too many pings are
    ///   pending; then no Ping is sent, and `waiter` is not called.
    func sendPing(_ waiter: @escaping WebSocketPingWaiter) -> UInt64? {
        guard let handler = self.hot.handler, handler.isOpen, let ping = self.pings.begin(waiter, at: self.sinceBoot) else { return nil }
        handler.sendPing(ping.payload)
        return ping.id
    }

    /// Removes the pings that a Pong answers. Returns their waiters, and the round-trip time of the
    /// ping whose payload the Pong contains.
    func settlePings(_ payload: ByteBuffer) -> (settled: [(waiter: WebSocketPingWaiter, roundTrip: Duration)], roundTrip: Duration?) {
        let now = self.sinceBoot
        let settled = self.pings.receivedPong(payload).map { (waiter: $0.waiter, roundTrip: now - $0.sentAt) }
        return (settled, settled.last?.roundTrip)
    }

    private var sinceBoot: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }
}
