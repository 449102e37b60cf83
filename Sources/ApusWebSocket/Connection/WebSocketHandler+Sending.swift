package import ApusWebSocketProtocol
package import NIOCore

extension WebSocketHandler {
    /// Sends a message in one frame. Drops it after ``close(code:reason:)`` and after the end.
    ///
    /// The queue of the channel is unbounded: stop sending while ``isWritable`` is `false`.
    ///
    /// - Parameter message: The message. Waits for the last piece of a fragmented message, if one
    ///   is being sent. Its compression preference applies if compression was negotiated.
    package func send(_ message: WebSocketMessage) {
        guard self.isOpen else { return }
        guard !self.machine.isSendingPieces else {
            return self.deferUntilLastPiece(.message(message), bytes: message.payload.readableBytes)
        }
        let payload = message.payload
        if let deflate = self.deflate, deflate.compresses(payload.readableBytes, message.compression) {
            return self.sendCompressed(payload, isLast: true, opcode: message.opcode, reserved: .rsv1)
        }
        self.send(payload, isFinal: true, reserved: .unset, opcode: message.opcode)
    }

    /// Sends a data frame. A large payload is not copied unless it must be masked.
    func send(_ payload: ByteBuffer, isFinal: Bool, reserved: WebSocketReservedBits, opcode: WebSocketOpcode) {
        if !self.role.masks, payload.readableBytes > Self.copiedPayloadBytes, let context = self.context {
            self.beginHeader()
            WebSocketFrameEncoder.writeHeader(
                opcode: opcode, isFinal: isFinal, reserved: reserved, payloadLength: payload.readableBytes, maskingKey: nil,
                into: &self.outbound)
            self.writeOutbound()
            self.write(payload, context)
            self.scheduleFlush()
        } else {
            self.append(payload, opcode: opcode, isFinal: isFinal, reserved: reserved)
        }
    }

    /// Sends a text known to be UTF-8, without creating a buffer: appends it to the write of this
    /// turn.
    package func sendText(_ text: [UInt8], _ compression: WebSocketCompression = .automatic) {
        guard self.isOpen else { return }
        let isCompressed = self.deflate?.compresses(text.count, compression) ?? false
        guard !isCompressed, !self.machine.isSendingPieces else {
            return self.send(WebSocketMessage(.text, ByteBuffer(bytes: text)).compressed(compression))
        }
        // The text is copied in any case. A large one starts a new buffer, so that growing moves
        // nothing.
        if text.count > Self.copiedPayloadBytes { self.writeOutbound() }
        self.append(text: text)
    }

    /// Sends a text known to be UTF-8, with `middle` inserted before the last byte of `text`. The
    /// bytes of `middle` are not copied unless the text is masked, compressed or deferred.
    package func sendText(_ text: [UInt8], around middle: ByteBuffer, _ compression: WebSocketCompression = .automatic) {
        guard self.isOpen, let end = text.last else { return }
        let length = text.count + middle.readableBytes
        let isCompressed = self.deflate?.compresses(length, compression) ?? false
        guard !self.role.masks, !isCompressed, !self.machine.isSendingPieces, let context = self.context else {
            var whole = ByteBufferAllocator().buffer(capacity: length)
            whole.writeBytes(text.dropLast())
            whole.writeImmutableBuffer(middle)
            whole.writeInteger(end)
            return self.send(WebSocketMessage(.text, whole).compressed(compression))
        }
        self.beginHeader()
        WebSocketFrameEncoder.writeHeader(opcode: .text, payloadLength: length, maskingKey: nil, into: &self.outbound)
        self.outbound.writeBytes(text.dropLast())
        self.writeOutbound()
        self.write(middle, context)
        self.beginOutbound(withRoomFor: 1)
        self.outbound.writeInteger(end)
        self.scheduleFlush()
    }

    /// Sends a frame from ``encodeServerFrame(_:)``; the same buffer may be sent to any number of
    /// connections.
    package func send(preencoded frame: ByteBuffer) {
        guard self.isOpen, let context = self.context else { return }
        guard !self.machine.isSendingPieces else {
            return self.deferUntilLastPiece(.frame(frame), bytes: frame.readableBytes)
        }
        self.append(shared: frame, context)
        self.scheduleFlush()
    }

    /// Returns the frame that a server sends for a message, for use with many connections.
    package static func encodeServerFrame(_ message: WebSocketMessage) -> ByteBuffer {
        var buffer = ByteBuffer()
        WebSocketFrameEncoder.write(WebSocketFrame(opcode: message.opcode, payload: message.payload), maskingKey: nil, into: &buffer)
        return buffer
    }

    /// Starts the close handshake. The channel closes after the peer's Close frame, or after
    /// ``WebSocketLimits/closeTimeout``.
    ///
    /// - Parameters:
    ///   - code: The close code. A code that must not be sent leaves the frame empty.
    ///   - reason: Truncated to 123 bytes. Omitted if it contains CR, LF or NUL.
    package func close(code: WebSocketCloseCode, reason: String) {
        let payload =
            (try? WebSocketClosePayload(code: code, reason: reason)) ?? (try? WebSocketClosePayload(code: code, reason: "")) ?? .empty
        switch self.machine.closeRequested(payload) {
        case .sendClose(let payload):
            self.writeClose(payload)
            self.startCloseTimer()
            // Reads on, regardless of the queue, to receive the peer's Close frame.
            self.set([.delegate, .output], false)
            self.resumeLater()
        case .doNothing:
            break
        }
    }

    /// Ends the connection immediately, without a Close frame. Reports `error` to the delegate
    /// within this call.
    package func abort(_ error: WebSocketError? = nil) {
        let wasOpen = self.machine.abortRequested()
        self.closeTimer?.cancel()
        self.closeTimer = nil
        _ = self.takeOutbound()
        self.discardDeferred()
        self.context?.close(mode: .all, promise: nil)
        if wasOpen {
            self.report(code: nil, error: error)
        }
    }

    /// Sends a Ping of at most 125 bytes. The delegate receives the Pong.
    package func sendPing(_ payload: ByteBuffer) {
        guard self.isOpen, payload.readableBytes <= 125 else { return }
        self.append(payload, opcode: .ping)
    }

    /// The number of bytes that were sent and have not left this process.
    package var queuedBytes: Int {
        let below = try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        return self.outboundBytes + self.deferredBytes + (below ?? 0)
    }

    // MARK: Frames

    func sendPong(_ payload: ByteBuffer) {
        guard self.isOpen else { return }
        guard self.isWritable else {
            self.waitingPong = payload
            return
        }
        self.append(payload, opcode: .pong)
    }

    func writeClose(_ payload: WebSocketClosePayload) {
        self.append(payload.encoded, opcode: .close)
    }
}
