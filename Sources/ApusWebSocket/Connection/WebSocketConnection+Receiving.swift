import ApusEventLoop
public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
public import NIOCore

extension WebSocketConnection {
    /// The received messages, in order, for tasks to read; see ``WebSocketMessages``.
    public var messages: WebSocketMessages { WebSocketMessages(inbox: self.inbox) }

    /// Calls `handler` on the event loop for every message, including those already queued.
    ///
    /// The fastest way to receive. The handler must not block: it would stop its event loop. It is
    /// released when the connection ends, and a later handler replaces it. A loop that waits on
    /// ``messages`` ends; one that starts later waits until the connection ends.
    public func onMessage(_ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ message: WebSocketMessage) -> Void) {
        self.eventLoop.runOnLoop { self.setMessageHandler(handler) }
    }

    /// Calls `handler` on the event loop after all messages of one read were delivered.
    ///
    /// Messages that the handler sends leave in the same write as the responses to that read.
    public func onReadComplete(_ handler: @escaping @Sendable (_ connection: WebSocketConnection) -> Void) {
        self.eventLoop.runOnLoop {
            if self.closure == nil { self.readCompleteHandler = handler }
        }
    }

    /// Calls `handler` on the event loop for every Pong, with the round-trip time if it answers a
    /// ping of this connection.
    public func onPong(
        _ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ payload: ByteBuffer, _ roundTrip: Duration?) -> Void
    ) {
        self.eventLoop.runOnLoop { self.setPongHandler(handler) }
    }

    /// Calls `handler` on the event loop when the connection has ended, immediately if it already
    /// has.
    public func onClose(_ handler: @escaping @Sendable (WebSocketClosure) -> Void) {
        self.eventLoop.runOnLoop { self.addCloseHandler(handler) }
    }

    // MARK: Event loop

    /// Sets the handler as ``onMessage(_:)`` does.
    func setMessageHandler(_ handler: @escaping (WebSocketConnection, WebSocketMessage) -> Void) {
        if self.closure == nil { self.messageHandler = handler }
        for message in self.inbox.takeOver() { handler(self, message) }
    }

    /// Sets the handler as ``onPong(_:)`` does.
    func setPongHandler(_ handler: @escaping (WebSocketConnection, ByteBuffer, Duration?) -> Void) {
        if self.closure == nil { self.pongHandler = handler }
    }

    /// Adds a handler as ``onClose(_:)`` does.
    func addCloseHandler(_ handler: @escaping (WebSocketClosure) -> Void) {
        if let closure = self.closure { return handler(closure) }
        self.closeHandlers.append(handler)
    }

    func setReading(paused: Bool) {
        guard self.inboxPausesReading != paused else { return }
        self.inboxPausesReading = paused
        self.handler?.setReading(paused: paused)
    }

    /// Whether reading from the peer is paused. Its silence means nothing then.
    var readingIsPaused: Bool { self.handler?.readingIsPaused ?? false }
}

extension WebSocketConnection: WebSocketHandlerDelegate {
    package func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        self.heartbeat?.hasMessage = true
        if let messageHandler = self.messageHandler {
            messageHandler(self, message)
        } else if self.inbox.received(message) {
            self.setReading(paused: true)
        }
    }

    package func webSocketReadComplete(_ handler: WebSocketHandler) {
        self.heartbeat?.readCompleted()
        self.keepAlive?.readCompleted(isWithinHeader: handler.isWithinFrameHeader)
        self.readCompleteHandler?(self)
    }

    package func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        self.keepAlive?.writabilityChanged(isWritable: isWritable)
        self.transportChanged()
    }

    package func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {
        let (settled, ownRoundTrip) = self.settlePings(payload)
        let roundTrip = ownRoundTrip ?? self.heartbeat?.receivedPong(payload)
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
        self.handler = nil
        self.link.disconnect()
        self.heartbeat?.stop()
        self.heartbeat = nil
        self.keepAlive?.end()
        self.keepAlive = nil
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
        self.messageHandler = nil
        self.readCompleteHandler = nil
        self.pongHandler = nil
        self.closeHandlers = []
        for handler in handlers { handler(closure) }
        for waiter in waiters { waiter.resume(returning: closure) }
    }
}
