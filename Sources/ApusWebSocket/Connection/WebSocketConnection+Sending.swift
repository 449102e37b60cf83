public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
package import NIOCore

extension WebSocketConnection {
    /// Sends a message; suspends while the transport's buffer is above its watermark.
    ///
    /// Messages of one task keep their order, and waiting tasks go in the order in which they came. Returning means that the message
    /// is on its way, not that it has arrived.
    ///
    /// - Throws: ``WebSocketError/Code/closed`` or the error that ended the connection; `CancellationError` when the task was cancelled
    ///   while it waited, and the message is then not sent.
    public func send(_ message: WebSocketMessage) async throws {
        try await self.outbox.send(.message(message))
    }

    /// Sends a message without waiting, from any thread; from the event loop it goes straight into the write of this turn.
    ///
    /// - Returns: Whether the message is on its way. `false` when the connection is closed or ``WebSocketFlowControl/postedBytes``
    ///   are waiting; ``WebSocketFlowControl/overflow`` then says what happens.
    @discardableResult
    public func post(_ message: WebSocketMessage) -> Bool {
        guard self.eventLoop.inEventLoop else {
            switch self.outbox.post(message) {
            case .queued: return true
            case .refuse: return false
            case .overflow(let overflow, _):
                self.onLoop { $0.overflowed(overflow) }
                return false
            }
        }
        self.writeWaiting()
        guard let handler = self.handler, handler.isOpen else { return false }
        // The question costs something and is asked only of a transport that lags, or of a turn that sends very much.
        if !handler.isWritable || handler.deferredBytes > 0 || handler.outboundBytes > self.flow.postedBytes / 2,
            handler.queuedBytes + message.payload.readableBytes > self.flow.postedBytes
        {
            self.overflowed(self.flow.overflow)
            return false
        }
        handler.send(message)
        return true
    }

    /// Sends a frame that was encoded once for many servers' connections (``WebSocketHandler/encodeServerFrame(_:)``), on the event loop.
    @discardableResult
    package func post(preencoded frame: ByteBuffer) -> Bool {
        self.writeWaiting()
        guard let handler = self.handler, handler.isOpen else { return false }
        if !handler.isWritable, handler.queuedBytes + frame.readableBytes > self.flow.postedBytes {
            self.overflowed(self.flow.overflow)
            return false
        }
        handler.send(preencoded: frame)
        return true
    }

    private func overflowed(_ overflow: WebSocketFlowControl.Overflow) {
        switch overflow {
        case .close: self.startClosing(code: .policyViolation, reason: "too much is waiting for this reader")
        case .drop: break
        }
    }

    /// What other threads have sent goes out before a message of the event loop.
    private func writeWaiting() {
        if self.outbox.isWaiting { self.writeOutbox() }
    }

    /// The hop of the outbox.
    func outboxHopped() {
        self.writeOutbox()
        self.handler?.flushUnlessGathering()  // also tells the truth about the transport's buffer
        self.transportChanged()
    }

    private func writeOutbox() {
        let (parcels, creditIsDue) = self.outbox.takeAll()
        guard let handler = self.handler else { return }
        for item in parcels {
            switch item {
            case .message(let message): handler.send(message)
            case .piece(let piece):
                do throws(WebSocketError) {
                    try handler.send(piece: piece.bytes, of: piece.kind, isLast: piece.isLast, compression: piece.compression)
                } catch {
                    handler.abort(error)
                }
            }
        }
        if creditIsDue, handler.isOpen, !handler.isWritable, handler.queuedBytes > self.flow.postedBytes {
            self.overflowed(self.flow.overflow)
        }
    }

    /// After a write, and when the transport's buffer crossed a watermark.
    func transportChanged() {
        guard let handler = self.handler else { return }
        let isWritable = handler.isWritable
        self.outbox.transportBecame(writable: isWritable, holding: isWritable ? 0 : handler.queuedBytes)
    }

    // MARK: Closing

    /// Closes in order and waits for the end, at most ``WebSocketLimits/closeTimeout``.
    ///
    /// What was sent before goes out first. A connection that is closed already answers how it ended.
    ///
    /// - Parameters:
    ///   - code: 1000, or 3000 to 4999 for the application's own.
    ///   - reason: At most 123 bytes are sent; one with CR, LF or NUL is left out.
    @discardableResult
    public func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") async -> WebSocketClosure {
        self.startClosing(code: code, reason: reason)
        return await self.waitUntilClosed()
    }

    /// Starts the close handshake without waiting for its end; ``onClose(_:)`` tells of it.
    public func startClosing(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        self.onLoop { connection in
            guard let handler = connection.handler else { return }
            connection.writeOutbox()
            connection.closeWasRequested = true
            connection.status.withLockedValue { $0.isOpen = false }
            connection.outbox.ended(WebSocketError(.closed, message: "the connection is closing"))
            connection.inbox.ended(nil)  // what still comes is thrown away by the protocol
            // A reader that is full must not keep the answer to our Close frame from us.
            connection.setReading(paused: false)
            handler.close(code: code, reason: reason)
        }
    }

    /// Ends the connection at once, without a Close frame, because of `error`. On the event loop.
    func fail(_ error: WebSocketError) {
        self.handler?.abort(error)
    }

    /// Ends the connection at once, without a Close frame.
    public func abort() {
        self.onLoop { connection in
            connection.closeWasRequested = true
            connection.handler?.abort()
        }
    }
}
