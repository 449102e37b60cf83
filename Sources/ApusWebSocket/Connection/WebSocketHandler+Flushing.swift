import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

/// Gathers the frames sent in one turn in one buffer and writes them together.
extension WebSocketHandler {
    /// The maximum number of bytes gathered over several turns while the transport is not writable.
    private static let gatheredBytes = 64 << 10

    /// Adds a frame to the write of this turn.
    func append(_ payload: ByteBuffer, opcode: WebSocketOpcode, isFinal: Bool = true, reserved: WebSocketReservedBits = .unset) {
        self.beginOutbound(withRoomFor: payload.readableBytes)
        WebSocketFrameEncoder.write(
            payload, opcode: opcode, isFinal: isFinal, reserved: reserved, maskingKey: self.makeMaskingKey(), into: &self.outbound)
        self.scheduleFlush()
    }

    /// Adds a frame with a whole text, known to be UTF-8, to the write of this turn.
    func append(text: [UInt8]) {
        self.beginOutbound(withRoomFor: text.count)
        WebSocketFrameEncoder.write(text: text, maskingKey: self.makeMaskingKey(), into: &self.outbound)
        self.scheduleFlush()
    }

    /// Sends the response to the opening handshake, during the read of the request. It leaves after
    /// that read, together with the frames behind it.
    func sendHandshakeResponse(_ fields: HTTPFields) {
        self.beginOutbound(withRoomFor: 512)
        self.outbound.writeStaticString("HTTP/1.1 101 Switching Protocols\r\n")
        for field in fields {
            self.outbound.writeString(field.name.rawName)
            self.outbound.writeStaticString(": ")
            self.outbound.writeString(field.value)
            self.outbound.writeStaticString("\r\n")
        }
        self.outbound.writeStaticString("\r\n")
        self.isReading = true
    }

    private func makeMaskingKey() -> WebSocketMaskingKey? {
        self.role.masks ? WebSocketMaskingKey(word: self.generator.next()) : nil
    }

    /// The number of bytes sent in this turn and not yet passed to the channel.
    var outboundBytes: Int { self.sharedBuffer == nil ? self.outbound.readableBytes : self.sharedLength }

    /// Whether the frames of this turn are in memory that other connections share.
    private var sharesOutbound: Bool { self.sharedBuffer != nil || (!self.ownsOutbound && self.outbound.readableBytes > 0) }

    /// Makes ``outbound`` a buffer of this connection with room for a frame; the previous buffer
    /// still belongs to the channel.
    func beginOutbound(withRoomFor payloadBytes: Int) {
        guard self.outbound.readableBytes == 0 || !self.ownsOutbound else { return }
        if self.sharedBuffer == nil, self.outbound.readableBytes > Self.copiedPayloadBytes { self.writeOutbound() }
        let room = payloadBytes + WebSocketFrameEncoder.maximumHeaderBytes
        var buffer = self.buffers.takeBuffer(minimumBytes: room + self.outboundBytes)
        if let sharedBuffer = self.sharedBuffer.take() {
            sharedBuffer.copy(self.sharedLength, into: &buffer)
        } else if self.outbound.readableBytes > 0 {
            buffer.writeImmutableBuffer(self.outbound)
        }
        self.outbound = buffer
        self.ownsOutbound = true
    }

    /// Prepares ``outbound`` for the header of a frame whose payload is not copied.
    func beginHeader() {
        if self.sharesOutbound { self.writeOutbound() }
        self.ownsOutbound = true
    }

    /// Adds a whole frame that other connections send too. Shares the memory as long as they sent
    /// the same frames before it.
    func append(shared frame: ByteBuffer, _ context: ChannelHandlerContext) {
        if self.outboundBytes == 0 {
            self.begin(with: frame)
        } else if self.sharedBuffer == nil, !self.ownsOutbound, self.outbound.readableBytes > Self.copiedPayloadBytes {
            self.writeOutbound()
            self.begin(with: frame)
        } else if frame.readableBytes > Self.copiedPayloadBytes {
            self.writeOutbound()
            self.write(frame, context)
        } else if let sharedBuffer {
            switch sharedBuffer.append(frame, at: self.sharedLength) {
            case .shared(let length): self.sharedLength = length
            case .full:
                self.writeOutbound()
                self.begin(with: frame)
            case .different:
                self.beginOutbound(withRoomFor: frame.readableBytes)
                self.outbound.writeImmutableBuffer(frame)
            }
        } else if self.ownsOutbound {
            self.outbound.writeImmutableBuffer(frame)
        } else {
            (self.sharedBuffer, self.sharedLength) = self.buffers.join(self.outbound, frame)
            self.outbound = ByteBuffer()
        }
    }

    private func begin(with frame: ByteBuffer) {
        self.outbound = frame
        self.ownsOutbound = false
    }

    /// Writes a buffer to the channel without copying it.
    func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(bytes), promise: nil)
        self.hasUnflushed = true
    }

    /// Writes the gathered bytes to the channel, which keeps them until the next flush.
    func writeOutbound() {
        guard self.outboundBytes > 0, let context = self.context else { return }
        self.write(self.takeOutbound(), context)
    }

    /// Returns the gathered bytes and releases the buffer: an idle connection keeps none.
    func takeOutbound() -> ByteBuffer {
        if let sharedBuffer = self.sharedBuffer.take() { return sharedBuffer.part(self.sharedLength) }
        var bytes = ByteBuffer()
        swap(&bytes, &self.outbound)
        return bytes
    }

    /// Schedules a flush at the end of the loop's turn. During a read, the flush follows its end
    /// instead.
    func scheduleFlush() {
        self.buffers.turn.delivered()
        guard !self.isReading, !self.flushIsScheduled, let context = self.context else { return }
        self.flushIsScheduled = true
        self.buffers.flushLater(self, on: context.eventLoop)
    }

    /// Schedules the flush of the responses to a completed read, together with those of other reads
    /// in this turn.
    func flushAfterRead(_ context: ChannelHandlerContext) {
        guard !self.flushIsScheduled, self.outboundBytes > 0 || self.hasUnflushed || self.deflaterIsSpare else { return }
        self.flushIsScheduled = true
        self.buffers.flushAfterRead(self, on: context.eventLoop)
    }

    func turnEnded() {
        self.flushIsScheduled = false
        self.flushUnlessGathering()
    }

    /// Flushes, unless the transport is not writable. Then one buffer grows instead, since the
    /// channel keeps every buffer passed to it.
    func flushUnlessGathering() {
        let isGathering = !self.isWritable && self.ownsOutbound && !self.hasUnflushed && self.outbound.readableBytes < Self.gatheredBytes
        if isGathering { self.releaseSpareDeflater() } else { self.flushNow() }
        if !self.isWritable || self.readPauses.contains(.output) { self.queueChanged() }
    }

    private func releaseSpareDeflater() {
        guard self.deflaterIsSpare else { return }
        self.deflaterIsSpare = false
        self.deflater = nil
    }

    func flushNow() {
        self.releaseSpareDeflater()
        guard let context = self.context else { return }
        if self.outboundBytes > 0 {
            let isOwn = self.sharedBuffer == nil && self.ownsOutbound
            let bytes = self.takeOutbound()
            self.hasUnflushed = false
            context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
            if isOwn { self.buffers.giveBack(bytes) }
        } else if self.hasUnflushed {
            self.hasUnflushed = false
            context.flush()
        }
    }
}
