package import ApusWebSocketProtocol
package import NIOCore

extension WebSocketHandler {
    /// Sends a message in one frame. After ``close(code:reason:)`` and the end it is dropped.
    ///
    /// The queue below has no bound of its own: stop while ``isWritable`` is `false`.
    ///
    /// - Parameter message: The message. While another goes out in pieces it waits for the last of them. Its wish for compression is
    ///   heeded where that was agreed on.
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

    /// A data frame. A large one is not copied when it need not be masked.
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

    /// Sends a text that is known to be UTF-8. It is written right behind what else was sent in this turn; no buffer is made for it.
    package func sendText(_ text: [UInt8], _ compression: WebSocketCompression = .automatic) {
        guard self.isOpen else { return }
        let isCompressed = self.deflate?.compresses(text.count, compression) ?? false
        guard !isCompressed, !self.machine.isSendingPieces else {
            return self.send(WebSocketMessage(.text, ByteBuffer(bytes: text)).compressed(compression))
        }
        // Copied it is in any case. In a buffer of its own: what stands there is not moved to make room for it.
        if text.count > Self.copiedPayloadBytes { self.writeOutbound() }
        self.append(text: text)
    }

    /// Sends a text that is known to be UTF-8. `middle`, a large part of it, goes before the last byte of `text` and is not copied when it need not
    /// be masked or compressed.
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

    /// Sends a frame from ``encodeServerFrame(_:)``; the same buffer may go to any number of connections.
    package func send(preencoded frame: ByteBuffer) {
        guard self.isOpen, let context = self.context else { return }
        guard !self.machine.isSendingPieces else {
            return self.deferUntilLastPiece(.frame(frame), bytes: frame.readableBytes)
        }
        self.append(shared: frame, context)
        self.scheduleFlush()
    }

    /// The frame a server sends for a message, to be sent to many.
    package static func encodeServerFrame(_ message: WebSocketMessage) -> ByteBuffer {
        var buffer = ByteBuffer()
        WebSocketFrameEncoder.write(WebSocketFrame(opcode: message.opcode, payload: message.payload), maskingKey: nil, into: &buffer)
        return buffer
    }

    /// Starts the close handshake; the channel closes when the peer has answered, or ``WebSocketLimits/closeTimeout`` later.
    ///
    /// - Parameters:
    ///   - code: A code that may not be sent leaves the frame empty.
    ///   - reason: Cut to 123 bytes. With CR, LF or NUL it is left out.
    package func close(code: WebSocketCloseCode, reason: String) {
        let payload =
            (try? WebSocketClosePayload(code: code, reason: reason)) ?? (try? WebSocketClosePayload(code: code, reason: "")) ?? .empty
        switch self.machine.closeRequested(payload) {
        case .sendClose(let payload):
            self.writeClose(payload)
            self.startCloseTimer()
            // The peer's Close frame is looked for, whatever is queued.
            self.set([.delegate, .output], false)
            self.resumeLater()
        case .doNothing:
            break
        }
    }

    /// Ends the connection at once, without a Close frame. The delegate hears of it, and of `error`, in this call.
    package func abort(_ error: WebSocketError? = nil) {
        let wasOpen = self.machine.abortRequested()
        self.closeTimer?.cancel()
        self.closeTimer = nil
        _ = self.takeOutbound()
        self.letGoOfMessages()
        self.context?.close(mode: .all, promise: nil)
        if wasOpen {
            self.report(code: nil, error: error)
        }
    }

    /// Sends a Ping, at most 125 bytes. The Pong comes to the delegate.
    package func sendPing(_ payload: ByteBuffer) {
        guard self.isOpen, payload.readableBytes <= 125 else { return }
        self.append(payload, opcode: .ping)
    }

    /// Bytes that were sent and did not leave this process.
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
