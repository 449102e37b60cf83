import ApusEventLoop
package import ApusWebSocketProtocol
import HTTPTypes
package import NIOCore

/// A data message, in one of the forms that a caller can send.
package enum WebSocketOutput: Sendable {
    /// A message. Its compression preference applies if compression was negotiated.
    case message(WebSocketMessage)
    /// A text known to be UTF-8, with `around` inserted before its last byte. The bytes of `around`
    /// are not copied unless the text is masked, compressed or deferred.
    case text([UInt8], around: ByteBuffer? = nil, WebSocketCompression = .automatic)
    /// A message that was encoded once for many connections.
    case shared(WebSocketSharedFrame)

    /// The output in a form that can be stored and sent later. A text is copied into a message.
    package var stored: WebSocketOutput {
        guard case .text(let text, let middle, let compression) = self else { return self }
        var whole = ByteBufferAllocator().buffer(capacity: self.byteCount)
        if let middle, let end = text.last {
            whole.writeBytes(text.dropLast())
            whole.writeImmutableBuffer(middle)
            whole.writeInteger(end)
        } else {
            whole.writeBytes(text)
        }
        return .message(WebSocketMessage(.text, whole).compressed(compression))
    }

    /// The number of bytes, without compression.
    package var byteCount: Int {
        switch self {
        case .message(let message): message.payload.readableBytes
        case .text(let text, let middle, _): text.count + (middle?.readableBytes ?? 0)
        case .shared(let frame): frame.plain.readableBytes
        }
    }
}

extension WebSocketHandler {
    /// Sends a message in one frame, in the write of this turn. The message is dropped after
    /// ``close(code:reason:)`` and after the connection has ended. It waits while a fragmented
    /// message is being sent.
    ///
    /// The queue of the channel is unbounded: stop sending while ``isWritable`` is `false`.
    package func send(_ output: WebSocketOutput) {
        guard self.isOpen, let context = self.hot.context else { return }
        guard !self.hot.endpoint.machine.isSendingPieces else { return self.deferUntilLastPiece(output) }
        switch output {
        case .text(let text, nil, let compression):
            if let deflate = self.deflate, deflate.compresses(text.count, compression) { return self.send(output.stored) }
            // The text is copied in any case. A large text starts a new buffer, so that the buffer
            // need not be reallocated.
            if text.count > Self.copiedPayloadBytes { self.writeOutbound() }
            self.beginOutbound(withRoomFor: text.count)
            WebSocketFrameEncoder.write(text: text, maskingKey: self.makeMaskingKey(), into: &self.hot.endpoint.output)
        case .text(let text, let middle?, let compression):
            let length = output.byteCount
            guard let end = text.last, !self.role.masks, self.deflate?.compresses(length, compression) != true else {
                return self.send(output.stored)
            }
            self.beginHeader()
            WebSocketFrameEncoder.writeHeader(opcode: .text, payloadLength: length, maskingKey: nil, into: &self.hot.endpoint.output)
            self.hot.endpoint.output.writeBytes(text.dropLast())
            self.writeOutbound()
            self.write(middle, context)
            self.beginOutbound(withRoomFor: 1)
            self.hot.endpoint.output.writeInteger(end)
        case .message(let message):
            if let deflate = self.deflate, deflate.compresses(message.payload.readableBytes, message.compression) {
                return self.sendCompressed(message.payload, isLast: true, opcode: message.opcode, reserved: .rsv1)
            }
            return self.append(message.payload, opcode: message.opcode)
        case .shared(let frame):
            if let compressed = frame.compressed, let deflate = self.deflate, deflate.outgoingWindowBits >= frame.windowBits {
                self.append(shared: compressed, context)
                self.deflater?.reset()
            } else {
                self.append(shared: frame.plain, context)
            }
        }
        self.scheduleFlush()
    }

    /// Sends a message.
    package func send(_ message: WebSocketMessage) { self.send(.message(message)) }

    /// Returns the frame that a server sends for a message, for use with many connections.
    package static func encodeServerFrame(_ message: WebSocketMessage) -> ByteBuffer {
        var buffer = ByteBuffer()
        WebSocketFrameEncoder.write(WebSocketFrame(opcode: message.opcode, payload: message.payload), maskingKey: nil, into: &buffer)
        return buffer
    }

    /// Starts the close handshake. The channel closes after the peer's Close frame, or after
    /// `WebSocketLimits.closeTimeout`.
    ///
    /// - Parameters:
    ///   - code: The close code. A code that must not be sent leaves the frame empty.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    package func close(code: WebSocketCloseCode, reason: String) {
        switch self.hot.endpoint.machine.closeRequested(WebSocketClosePayload(sending: code, reason)) {
        case .sendClose(let payload):
            self.writeClose(payload)
            self.startCloseTimer()
            // Resumes reading, regardless of the queue, to receive the peer's Close frame.
            self.set([.delegate, .output], false)
            self.resumeLater()
        case .doNothing:
            break
        }
    }

    /// Ends the connection immediately, without a Close frame. Reports the end and `error` to the
    /// delegate within this call.
    package func abort(_ error: WebSocketError? = nil) {
        let wasOpen = self.hot.endpoint.machine.abortRequested()
        self.closeTimer?.cancel()
        self.closeTimer = nil
        _ = self.takeOutbound()
        self.discardDeferred()
        self.hot.context?.close(mode: .all, promise: nil)
        if wasOpen {
            self.report(code: nil, error: error)
        }
    }

    /// Sends a Ping of at most 125 bytes; a longer payload is not sent. The delegate receives the
    /// Pong.
    package func sendPing(_ payload: ByteBuffer) {
        guard self.isOpen, payload.readableBytes <= 125 else { return }
        self.append(payload, opcode: .ping)
    }

    /// The number of bytes that were sent and have not been written to the kernel.
    package var queuedBytes: Int {
        let below = try? self.hot.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        return self.outboundBytes + self.deferredBytes + (below ?? 0)
    }

    // MARK: Frames

    func sendPong(_ payload: ByteBuffer) {
        guard self.isOpen else { return }
        guard self.hot.isWritable else {
            self.waitingPong = payload
            return
        }
        self.append(payload, opcode: .pong)
    }

    func writeClose(_ payload: WebSocketClosePayload) {
        self.append(payload.encoded, opcode: .close)
    }
}

extension WebSocketHandler {
    /// Sends a message of unknown length in pieces, each in a separate frame.
    ///
    /// Pings and Pongs may be sent between the pieces. Other messages wait for the last piece, up
    /// to `WebSocketLimits.maximumDeferredBytes`. Pieces are dropped after ``close(code:reason:)``
    /// and after the connection has ended.
    ///
    /// - Parameters:
    ///   - bytes: The next piece. The pieces of a text must form valid UTF-8 together; a piece may
    ///     end within a character.
    ///   - kind: The kind of the message. It must be the same for all pieces.
    ///   - isLast: Whether the piece is the last one of the message.
    ///   - compression: The value for the first piece applies to the message; `.automatic`
    ///     compresses regardless of the length.
    /// - Throws: `WebSocketError.Code.invalidUse`. The piece is then not sent, and the message can
    ///   be continued.
    package func send(
        piece bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool, compression: WebSocketCompression = .automatic
    ) throws(WebSocketError) {
        guard self.isOpen, let opcode = try self.hot.endpoint.machine.pieceRequested(bytes, of: kind, isLast: isLast) else { return }
        let isFirst = opcode != .continuation
        if isFirst {
            self.compressesPieces = self.deflate != nil && compression != .never
        }
        if self.compressesPieces {
            self.sendCompressed(bytes, isLast: isLast, opcode: opcode, reserved: isFirst ? .rsv1 : .unset)
        } else {
            self.append(bytes, opcode: opcode, isFinal: isLast)
        }
        if isLast { self.sendDeferred() }
    }

    /// Compresses and sends a message or a piece of a message.
    func sendCompressed(_ payload: ByteBuffer, isLast: Bool, opcode: WebSocketOpcode, reserved: WebSocketReservedBits) {
        guard let deflate = self.deflate else { return }
        var compressed = ByteBuffer()
        do throws(WebSocketError) {
            let deflater: WebSocketDeflater
            if let present = self.deflater { deflater = present } else { deflater = try WebSocketDeflater(deflate) }
            try deflater.deflate(payload, isLast: isLast, into: &compressed)
            self.deflater = deflater
            if isLast, !deflate.outgoingTakesContextOver {
                deflater.reset()
                self.deflaterIsSpare = true
            } else {
                self.deflaterIsSpare = false
            }
        } catch {
            // This fails only if memory is exhausted. The connection fails, because a part of the
            // message may have been sent.
            return self.fail(error)
        }
        self.append(compressed, opcode: opcode, isFinal: isLast, reserved: reserved)
    }

    private func deferUntilLastPiece(_ output: WebSocketOutput) {
        let bytes = output.byteCount
        guard self.deferredBytes + bytes <= self.maximumDeferredBytes else {
            let error = WebSocketError(
                .invalidUse,
                message: "more than \(self.maximumDeferredBytes) bytes wait for the end of a fragmented message (`maximumDeferredBytes`)")
            return self.fail(error)
        }
        let extras = self.makeExtras()
        // Defer the uncompressed form of a shared frame. To send the compressed form would reset
        // the compressor, whose context the fragmented message still needs.
        if case .shared(let frame) = output {
            extras.deferred.append(.shared(frame.uncompressed))
        } else {
            extras.deferred.append(output.stored)
        }
        extras.deferredBytes += bytes
    }

    private func sendDeferred() {
        guard !self.deferred.isEmpty else { return }
        let waiting = self.deferred
        self.discardDeferred()
        for output in waiting { self.send(output) }
    }

    func discardDeferred() {
        self.deferred = []
        self.deferredBytes = 0
    }
}

// Frames that are sent in one turn are gathered in one buffer and written together.
extension WebSocketHandler {
    /// The maximum number of bytes to gather over several turns while the transport is not
    /// writable.
    private static let gatheredBytes = 64 << 10

    /// Adds a frame to the write of this turn. A large payload is not copied unless it is masked.
    func append(_ payload: ByteBuffer, opcode: WebSocketOpcode, isFinal: Bool = true, reserved: WebSocketReservedBits = .unset) {
        if !self.role.masks, payload.readableBytes > Self.copiedPayloadBytes, let context = self.hot.context {
            self.beginHeader()
            WebSocketFrameEncoder.writeHeader(
                opcode: opcode, isFinal: isFinal, reserved: reserved, payloadLength: payload.readableBytes, maskingKey: nil,
                into: &self.hot.endpoint.output)
            self.writeOutbound()
            self.write(payload, context)
        } else {
            self.beginOutbound(withRoomFor: payload.readableBytes)
            WebSocketFrameEncoder.write(
                payload, opcode: opcode, isFinal: isFinal, reserved: reserved, maskingKey: self.makeMaskingKey(),
                into: &self.hot.endpoint.output)
        }
        self.scheduleFlush()
    }

    /// Sends the response to the opening handshake during the read of the request. The response is
    /// written after that read, together with the frames that follow it.
    func sendHandshakeResponse(_ fields: HTTPFields) {
        self.beginOutbound(withRoomFor: 512)
        self.hot.endpoint.output.writeStaticString("HTTP/1.1 101 Switching Protocols\r\n")
        for field in fields {
            self.hot.endpoint.output.writeString(field.name.rawName)
            self.hot.endpoint.output.writeStaticString(": ")
            self.hot.endpoint.output.writeString(field.value)
            self.hot.endpoint.output.writeStaticString("\r\n")
        }
        self.hot.endpoint.output.writeStaticString("\r\n")
        self.hot.isReading = true
    }

    private func makeMaskingKey() -> WebSocketMaskingKey? { self.role.masks ? self.hot.endpoint.nextMaskingKey() : nil }

    /// The number of bytes sent in this turn and not yet passed to the channel.
    var outboundBytes: Int { self.hot.sharedBuffer == nil ? self.hot.endpoint.output.readableBytes : self.hot.sharedLength }

    /// Whether the frames of this turn are in memory that other connections share.
    private var sharesOutbound: Bool {
        self.hot.sharedBuffer != nil || (!self.hot.ownsOutbound && self.hot.endpoint.output.readableBytes > 0)
    }

    /// Makes the endpoint's output a buffer that only this connection uses, with space for a frame.
    /// The gathered bytes in shared memory are copied into it, or written before it.
    func beginOutbound(withRoomFor payloadBytes: Int) {
        guard self.hot.endpoint.output.readableBytes == 0 || !self.hot.ownsOutbound else { return }
        if self.hot.sharedBuffer == nil, self.hot.endpoint.output.readableBytes > Self.copiedPayloadBytes { self.writeOutbound() }
        let room = payloadBytes + WebSocketFrameEncoder.maximumHeaderBytes
        var buffer = self.buffers.takeBuffer(minimumBytes: room + self.outboundBytes)
        if let sharedBuffer = self.hot.sharedBuffer.take() {
            sharedBuffer.copy(self.hot.sharedLength, into: &buffer)
        } else if self.hot.endpoint.output.readableBytes > 0 {
            buffer.writeImmutableBuffer(self.hot.endpoint.output)
        }
        self.hot.endpoint.output = buffer
        self.hot.ownsOutbound = true
    }

    /// Prepares the endpoint's output for the header of a frame whose payload is not copied.
    func beginHeader() {
        if self.sharesOutbound { self.writeOutbound() }
        self.hot.ownsOutbound = true
    }

    /// Adds a complete frame that other connections send too. The memory is shared as long as all
    /// of them sent the same frames before.
    func append(shared frame: ByteBuffer, _ context: ChannelHandlerContext) {
        if self.outboundBytes == 0 {
            self.begin(with: frame)
        } else if self.hot.sharedBuffer == nil, !self.hot.ownsOutbound, self.hot.endpoint.output.readableBytes > Self.copiedPayloadBytes {
            self.writeOutbound()
            self.begin(with: frame)
        } else if frame.readableBytes > Self.copiedPayloadBytes {
            self.writeOutbound()
            self.write(frame, context)
        } else if let sharedBuffer = self.hot.sharedBuffer {
            switch sharedBuffer.append(frame, at: self.hot.sharedLength) {
            case .shared(let length): self.hot.sharedLength = length
            case .full:
                self.writeOutbound()
                self.begin(with: frame)
            case .different:
                self.beginOutbound(withRoomFor: frame.readableBytes)
                self.hot.endpoint.output.writeImmutableBuffer(frame)
            }
        } else if self.hot.ownsOutbound {
            self.hot.endpoint.output.writeImmutableBuffer(frame)
        } else {
            (self.hot.sharedBuffer, self.hot.sharedLength) = self.buffers.join(self.hot.endpoint.output, frame)
            self.hot.endpoint.output = ByteBuffer()
        }
    }

    private func begin(with frame: ByteBuffer) {
        self.hot.endpoint.output = frame
        self.hot.ownsOutbound = false
    }

    /// Writes a buffer to the channel without copying it.
    func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(bytes), promise: nil)
        self.hot.hasUnflushed = true
    }

    /// Writes the gathered bytes to the channel, which keeps them until the next flush.
    func writeOutbound() {
        guard self.outboundBytes > 0, let context = self.hot.context else { return }
        self.write(self.takeOutbound(), context)
    }

    /// Returns the gathered bytes and releases the buffer, because an idle connection has no
    /// buffer.
    func takeOutbound() -> ByteBuffer {
        if let sharedBuffer = self.hot.sharedBuffer.take() { return sharedBuffer.part(self.hot.sharedLength) }
        var bytes = ByteBuffer()
        swap(&bytes, &self.hot.endpoint.output)
        return bytes
    }

    /// Schedules a flush at the end of the loop's turn. During a read, the flush follows at the end
    /// of the read.
    func scheduleFlush() {
        self.buffers.turn.delivered()
        guard !self.hot.isReading, !self.hot.flushIsScheduled, let context = self.hot.context else { return }
        self.hot.flushIsScheduled = true
        self.buffers.flushLater(self, on: context.eventLoop)
    }

    /// Schedules the flush of the responses to a completed read, together with those of other reads
    /// in this turn.
    func flushAfterRead(_ context: ChannelHandlerContext) {
        guard !self.hot.flushIsScheduled, self.outboundBytes > 0 || self.hot.hasUnflushed || self.deflaterIsSpare else { return }
        self.hot.flushIsScheduled = true
        self.buffers.flushAfterRead(self, on: context.eventLoop)
    }

    func turnEnded() {
        self.hot.flushIsScheduled = false
        self.flushUnlessGathering()
    }

    /// Flushes the gathered bytes. While the transport is not writable, gathers up to
    /// ``gatheredBytes`` in one buffer instead, because the channel retains every buffer that is
    /// passed to it.
    func flushUnlessGathering() {
        let isGathering =
            !self.hot.isWritable && self.hot.ownsOutbound && !self.hot.hasUnflushed
            && self.hot.endpoint.output.readableBytes < Self.gatheredBytes
        if isGathering { self.releaseSpareDeflater() } else { self.flushNow() }
        if !self.hot.isWritable || self.readPauses.contains(.output) { self.queueChanged() }
    }

    private func releaseSpareDeflater() {
        guard self.deflaterIsSpare else { return }
        self.deflaterIsSpare = false
        self.deflater = nil
    }

    func flushNow() {
        self.releaseSpareDeflater()
        guard let context = self.hot.context else { return }
        if self.outboundBytes > 0 {
            let isOwn = self.hot.sharedBuffer == nil && self.hot.ownsOutbound
            let bytes = self.takeOutbound()
            self.hot.hasUnflushed = false
            context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
            if isOwn { self.buffers.giveBack(bytes) }
        } else if self.hot.hasUnflushed {
            self.hot.hasUnflushed = false
            context.flush()
        }
    }
}
