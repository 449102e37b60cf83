import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

/// What is sent in one turn is gathered in one buffer and leaves in one write.
extension WebSocketHandler {
    /// What is sent over several turns is gathered up to here, while the transport takes nothing.
    private static let gatheredBytes = 64 << 10

    /// Adds a frame to what leaves in this turn.
    func append(_ payload: ByteBuffer, opcode: WebSocketOpcode, isFinal: Bool = true, reserved: WebSocketReservedBits = .unset) {
        self.beginOutbound(withRoomFor: payload.readableBytes)
        WebSocketFrameEncoder.write(
            payload, opcode: opcode, isFinal: isFinal, reserved: reserved, maskingKey: self.makeMaskingKey(), into: &self.outbound)
        self.scheduleFlush()
    }

    /// Adds a frame of a whole text, which is known to be UTF-8, to what leaves in this turn.
    func append(text: [UInt8]) {
        self.beginOutbound(withRoomFor: text.count)
        WebSocketFrameEncoder.write(text: text, maskingKey: self.makeMaskingKey(), into: &self.outbound)
        self.scheduleFlush()
    }

    /// Sends the answer to the opening handshake, within the read that brought the request: it leaves after that, with the frames behind it.
    func sendHandshakeAnswer(_ fields: HTTPFields) {
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

    /// The bytes that were sent in this turn and not handed to the channel.
    var outboundBytes: Int { self.sharedBuffer == nil ? self.outbound.readableBytes : self.sharedLength }

    /// Whether what was sent in this turn lies in memory of others, too.
    private var sharesOutbound: Bool { self.sharedBuffer != nil || (!self.ownsOutbound && self.outbound.readableBytes > 0) }

    /// The first frame of a turn needs a buffer: the last one still belongs to the channel.
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

    /// Makes ``outbound`` ready for the header of a frame whose payload is not copied.
    func beginHeader() {
        if self.sharesOutbound { self.writeOutbound() }
        self.ownsOutbound = true
    }

    /// Adds a whole frame that other connections are sent as well. It is shared, not copied, as far as they were sent the same before.
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

    /// Gives the channel a buffer that is not copied into the turn's.
    func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.write(self.wrapOutboundOut(bytes), promise: nil)
        self.hasUnflushed = true
    }

    /// What is gathered goes to the channel, which keeps it until the next flush.
    func writeOutbound() {
        guard self.outboundBytes > 0, let context = self.context else { return }
        self.write(self.takeOutbound(), context)
    }

    /// Lets go of what is gathered: an idle connection keeps no buffer.
    func takeOutbound() -> ByteBuffer {
        if let sharedBuffer = self.sharedBuffer.take() { return sharedBuffer.part(self.sharedLength) }
        var bytes = ByteBuffer()
        swap(&bytes, &self.outbound)
        return bytes
    }

    /// In a read the flush comes after its end; otherwise once at the end of the loop's turn.
    func scheduleFlush() {
        self.buffers.turn.delivered()
        guard !self.isReading, !self.flushIsScheduled, let context = self.context else { return }
        self.flushIsScheduled = true
        self.buffers.flushLater(self, on: context.eventLoop)
    }

    /// The read is complete: its answers leave with those to the reads of the same turn.
    func flushAfterRead(_ context: ChannelHandlerContext) {
        guard !self.flushIsScheduled, self.outboundBytes > 0 || self.hasUnflushed || self.deflaterIsSpare else { return }
        self.flushIsScheduled = true
        self.buffers.flushAfterRead(self, on: context.eventLoop)
    }

    func turnEnded() {
        self.flushIsScheduled = false
        self.flushUnlessGathering()
    }

    /// While the transport takes nothing, one buffer grows: each that is handed over is kept, however little is in it.
    func flushUnlessGathering() {
        let isGathering = !self.isWritable && self.ownsOutbound && !self.hasUnflushed && self.outbound.readableBytes < Self.gatheredBytes
        if isGathering { self.letGoOfSpareDeflater() } else { self.flushNow() }
        if !self.isWritable || self.readPauses.contains(.output) { self.queueChanged() }
    }

    private func letGoOfSpareDeflater() {
        guard self.deflaterIsSpare else { return }
        self.deflaterIsSpare = false
        self.deflater = nil
    }

    func flushNow() {
        self.letGoOfSpareDeflater()
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
