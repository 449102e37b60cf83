import ApusBytes
import ApusEventLoop
public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
public import NIOCore

extension WebSocketConnection {
    /// Sends a message. Suspends while the transport's buffer is above its high watermark.
    ///
    /// The messages of one task are sent in order. Waiting tasks continue in the order of their
    /// calls. When the method returns, the message is queued; it may not have arrived.
    ///
    /// - Throws: `WebSocketError.Code.closed`, or the error that ended the connection;
    ///   `CancellationError` if the task is cancelled while it waits, in which case the message is
    ///   not sent.
    public func send(_ message: WebSocketMessage) async throws {
        try await self.outbox.send(.message(message))
    }

    /// Sends a message without waiting, from any thread. On the event loop, the message is part of
    /// the write of this turn.
    ///
    /// - Returns: Whether the message is queued. `false` if the connection is closed, or if the
    ///   queue would exceed ``WebSocketFlowControl/postedBytes``, in which case
    ///   ``WebSocketFlowControl/overflow`` applies.
    @discardableResult
    public func post(_ message: WebSocketMessage) -> Bool {
        guard self.eventLoop.inEventLoop else {
            switch self.outbox.post(message) {
            case .queued: return true
            case .refuse: return false
            case .overflow(let overflow, _):
                self.eventLoop.runOnLoop { self.overflowed(overflow) }
                return false
            }
        }
        self.writeWaiting()
        guard let handler = self.hot.handler, handler.isOpen else { return false }
        // The length of the queue is expensive to compute, so it is computed only for a slow
        // transport or in a turn that sends many bytes.
        if !handler.isWritable || handler.deferredBytes > 0 || handler.outboundBytes > self.flow.postedBytes / 2,
            handler.queuedBytes + message.payload.readableBytes > self.flow.postedBytes
        {
            self.overflowed(self.flow.overflow)
            return false
        }
        handler.send(message)
        return true
    }

    /// Sends a message that was encoded once for many connections. Must be called on the event
    /// loop.
    @discardableResult
    package func post(_ frame: WebSocketSharedFrame) -> Bool {
        self.writeWaiting()
        guard let handler = self.hot.handler, handler.isOpen else { return false }
        if !handler.isWritable, handler.queuedBytes + frame.plain.readableBytes > self.flow.postedBytes {
            self.overflowed(self.flow.overflow)
            return false
        }
        handler.send(.shared(frame))
        return true
    }

    private func overflowed(_ overflow: WebSocketFlowControl.Overflow) {
        switch overflow {
        case .close: self.startClosing(code: .policyViolation, reason: "outbound queue limit exceeded")
        case .drop: break
        }
    }

    /// Writes the messages that other threads queued, before a message of the event loop.
    private func writeWaiting() {
        if self.outbox.isWaiting { self.writeOutbox() }
    }

    /// Runs the task that the outbox scheduled.
    func outboxHopped() {
        self.writeOutbox()
        self.hot.handler?.flushUnlessGathering()  // also updates the transport's buffered byte count
        self.transportChanged()
    }

    private func writeOutbox() {
        let (items, limitCheckIsDue) = self.outbox.takeAll()
        guard let handler = self.hot.handler else { return }
        for item in items {
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
        if limitCheckIsDue, handler.isOpen, !handler.isWritable, handler.queuedBytes > self.flow.postedBytes {
            self.overflowed(self.flow.overflow)
        }
    }

    /// Updates the outbox after a write, and when the transport's buffer crosses a watermark.
    func transportChanged() {
        guard let handler = self.hot.handler else { return }
        let isWritable = handler.isWritable
        self.outbox.transportBecame(writable: isWritable, holding: isWritable ? 0 : handler.queuedBytes)
    }

    // MARK: Closing

    /// Performs the close handshake and waits until the connection has ended, at most
    /// `WebSocketLimits.closeTimeout`.
    ///
    /// Messages that were sent before are written first. If the connection has already ended,
    /// returns its closure.
    ///
    /// - Parameters:
    ///   - code: The close code: 1000 (the default), or an application code from 3000 to 4999. With
    ///     a code that must not be sent, the Close frame is empty.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    ///     Default: empty.
    @discardableResult
    public func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") async -> WebSocketClosure {
        self.startClosing(code: code, reason: reason)
        return await self.waitUntilClosed()
    }

    /// Starts the close handshake without waiting for its end, which ``onClose(_:)`` reports.
    ///
    /// - Parameters:
    ///   - code: The close code: 1000 (the default), or an application code from 3000 to 4999. With
    ///     a code that must not be sent, the Close frame is empty.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    ///     Default: empty.
    public func startClosing(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        self.eventLoop.runOnLoop {
            guard let handler = self.hot.handler else { return }
            self.writeOutbox()
            self.closeWasRequested = true
            self.status.withLockedValue { $0.isOpen = false }
            self.outbox.ended(WebSocketError(.closed, message: "the connection is closing"))
            self.inbox.ended(nil)  // the state machine discards later messages
            // Resume reading: a full inbox must not prevent the peer's Close frame from being read.
            self.setReading(paused: false)
            handler.close(code: code, reason: reason)
        }
    }

    /// Ends the connection immediately, without a Close frame, because of `error`. Must be called
    /// on the event loop.
    func fail(_ error: WebSocketError) {
        self.hot.handler?.abort(error)
    }

    /// Ends the connection immediately, without a Close frame.
    public func abort() {
        self.eventLoop.runOnLoop {
            self.closeWasRequested = true
            self.hot.handler?.abort()
        }
    }
}

extension WebSocketConnection {
    /// Sends one message in pieces, for example while it is read from a file or generated.
    ///
    /// Each piece is sent in a separate frame (RFC 6455 section 5.4) and is not stored. Calls of
    /// ``send(_:)`` from other tasks, and posted messages, wait for the last piece; pings do not.
    /// If the posted messages exceed `WebSocketLimits.maximumDeferredBytes`, the connection fails.
    ///
    /// ```swift
    /// try await connection.send(.text, pieces: lines.map { ByteBuffer(string: $0) })
    /// ```
    ///
    /// - Parameters:
    ///   - kind: The kind of the message. The pieces of a text must form valid UTF-8 together; a
    ///     piece may end within a character.
    ///   - pieces: The pieces. An empty sequence sends an empty message.
    ///   - compression: `.automatic` (the default) compresses if compression was negotiated,
    ///     regardless of the length.
    /// - Throws: The errors of ``send(_:)`` and of `pieces`; `WebSocketError.Code.invalidUse` for
    ///   a text that is not UTF-8. If a piece was already sent, an error or a cancellation closes
    ///   the connection with 1011.
    public func send<Pieces: AsyncSequence & Sendable>(
        _ kind: WebSocketMessage.Kind, pieces: Pieces, compression: WebSocketCompression = .automatic
    ) async throws where Pieces.Element == ByteBuffer {
        var piece = WebSocketPiece(
            message: self.outbox.nextNumber(), bytes: ByteBuffer(), kind: kind, isLast: false, compression: compression)
        var validator = UTF8StreamValidator()
        var hasBegun = false
        do {
            for try await bytes in pieces where bytes.readableBytes > 0 {
                guard kind == .binary || validator.receive(bytes) else { throw Self.invalidText }
                piece.bytes = bytes
                try await self.outbox.send(.piece(piece))
                hasBegun = true
            }
            guard validator.isComplete else { throw Self.invalidText }
            piece.bytes = ByteBuffer()
            piece.isLast = true
            try await self.outbox.send(.piece(piece))
        } catch {
            if hasBegun { self.startClosing(code: .internalError, reason: "message could not be completed") }
            throw error
        }
    }

    private static var invalidText: WebSocketError {
        WebSocketError(.invalidUse, message: "the pieces of a text message must form valid UTF-8")
    }
}
