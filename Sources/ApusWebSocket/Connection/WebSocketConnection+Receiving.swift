public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
public import NIOCore

extension WebSocketConnection {
    /// The messages, in order, for tasks to read; see ``WebSocketMessages``.
    public var messages: WebSocketMessages { WebSocketMessages(inbox: self.inbox) }

    /// Hands every message to `handler` on the event loop, those that came before included. A loop over ``messages``
    /// that waits ends; one begun afterwards waits for the connection's end.
    ///
    /// The fast path. The handler must not block: everything on its event loop would wait. It is let go of when the connection ends,
    /// and a later one takes its place.
    public func onMessage(_ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ message: WebSocketMessage) -> Void) {
        self.onLoop { connection in
            if connection.closure == nil { connection.messageHandler = handler }
            for message in connection.inbox.takeOver() { handler(connection, message) }
        }
    }

    /// Calls `handler` on the event loop when all messages of one read were given out.
    ///
    /// What is sent up to its end leaves in one write with the answers to those messages.
    public func onReadComplete(_ handler: @escaping @Sendable (_ connection: WebSocketConnection) -> Void) {
        self.onLoop { connection in
            guard connection.closure == nil else { return }
            connection.readCompleteHandler = handler
        }
    }

    /// Calls `handler` on the event loop for every Pong, with the round-trip time when it answers a ping of ours.
    public func onPong(
        _ handler: @escaping @Sendable (_ connection: WebSocketConnection, _ payload: ByteBuffer, _ roundTrip: Duration?) -> Void
    ) {
        self.onLoop { connection in
            guard connection.closure == nil else { return }
            connection.pongHandler = handler
        }
    }

    /// Calls `handler` on the event loop when the connection has ended, at once when it has already.
    public func onClose(_ handler: @escaping @Sendable (WebSocketClosure) -> Void) {
        self.onLoop { connection in
            if let closure = connection.closure { return handler(closure) }
            connection.closeHandlers.append(handler)
        }
    }

    func setReading(paused: Bool) {
        guard self.inboxPausesReading != paused else { return }
        self.inboxPausesReading = paused
        self.handler?.setReading(paused: paused)
    }

    /// Whether the peer is not read: its silence means nothing then.
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
        for tell in settled { tell() }
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
        for tell in self.pings.takeAll() { tell(.failure(error)) }
        let handlers = self.closeHandlers
        self.messageHandler = nil
        self.readCompleteHandler = nil
        self.pongHandler = nil
        self.closeHandlers = []
        for handler in handlers { handler(closure) }
        for waiter in waiters { waiter.resume(returning: closure) }
    }
}
