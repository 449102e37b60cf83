package import ApusWebSocketProtocol
package import NIOCore

/// The WebSocket handler of a channel: reads bytes from the pipeline and passes messages to its
/// delegate.
///
/// Its place is directly after the transport or TLS, added after the opening handshake. Messages do
/// not pass through the pipeline. Everything sent during a read, or during one turn of the event
/// loop, leaves in one write with one flush, which is four times faster than a flush per frame.
///
/// Confined to the channel's event loop.
package final class WebSocketHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The payload size above which a payload is written without a copy. A smaller one is copied
    /// behind its header.
    static let copiedPayloadBytes = 16 << 10

    let closeTimeout: Duration
    let maximumDeferredBytes: Int
    let buffers: WebSocketBuffers

    // Unchecked are the variables used for every message: the exclusivity checks took a fifth of an
    // echo's instructions. No access spans a call to the delegate or to the channel.
    @exclusivity(unchecked) var delegate: (any WebSocketHandlerDelegate)?
    @exclusivity(unchecked) var context: ChannelHandlerContext?
    @exclusivity(unchecked) var machine: WebSocketConnectionStateMachine
    @exclusivity(unchecked) private var decoder: WebSocketFrameDecoder
    /// The beginning of an incomplete header or control frame.
    @exclusivity(unchecked) private var incomplete: ByteBuffer?
    /// The number of headers that did not arrive in one read; tells a deadline which header it
    /// applies to.
    private(set) var incompleteFrames = 0

    /// The bytes sent in this turn and not yet passed to the channel.
    @exclusivity(unchecked) var outbound = ByteBuffer()
    /// Whether ``outbound`` is uniquely owned by this connection.
    @exclusivity(unchecked) var ownsOutbound = false
    /// The frames of this turn while other connections sent the same ones; ``outbound`` is empty
    /// then.
    @exclusivity(unchecked) var sharedBuffer: SharedWriteBuffer?
    /// The length of this connection's part of ``sharedBuffer``.
    @exclusivity(unchecked) var sharedLength = 0
    /// Whether bytes were written to the channel without a flush.
    @exclusivity(unchecked) var hasUnflushed = false
    @exclusivity(unchecked) var isReading = false
    @exclusivity(unchecked) var flushIsScheduled = false
    /// Whether the transport's buffer is below its watermark.
    @exclusivity(unchecked) package private(set) var isWritable = false
    /// Whether the channel reads into the event loop's buffer.
    @exclusivity(unchecked) private var sharesReceiveBuffer = false
    /// Whether frames that were read are held.
    @exclusivity(unchecked) var isHolding = false
    /// Whether the messages handled before the last hold caused many deliveries.
    @exclusivity(unchecked) var sendsMuch = false
    /// Whether held frames are scheduled for a later turn.
    var isDeferred = false
    /// Whether the transport has ended while held frames are still to be handled.
    var hasEnded = false
    var readPauses: WebSocketReadPauses = []
    /// Whether the deflater has no context to keep. It is released at the flush, as it is larger
    /// than the rest of the connection.
    var deflaterIsSpare = false
    /// Whether the fragmented message that is being sent is compressed.
    var compressesPieces = false
    let role: WebSocketRole
    /// The source of masking keys, which must be unpredictable (RFC 6455 10.3).
    var generator = SystemRandomNumberGenerator()
    var extras: Extras?
    /// The negotiated compression; `nil` without compression.
    var deflate: WebSocketDeflateAgreement? { self.machine.deflate }
    /// The compressor; created for the first compressed message.
    var deflater: WebSocketDeflater?

    /// - Parameters:
    ///   - role: The local role.
    ///   - limits: The limits of the connection.
    ///   - deflate: The negotiated compression; `nil` without compression in either direction.
    ///   - delegate: The delegate, held strongly until the end was reported to it.
    ///   - buffers: The buffers shared by the connections of the event loop.
    package init(
        role: WebSocketRole, limits: WebSocketLimits, deflate: WebSocketDeflateAgreement? = nil, delegate: any WebSocketHandlerDelegate,
        buffers: WebSocketBuffers = WebSocketBuffers()
    ) {
        self.buffers = buffers
        self.role = role
        self.closeTimeout = limits.closeTimeout
        self.maximumDeferredBytes = limits.maximumDeferredBytes
        self.delegate = delegate
        self.machine = WebSocketConnectionStateMachine(limits: limits, deflate: deflate)
        self.decoder = WebSocketFrameDecoder(role: role, limits: limits, allowedReservedBits: deflate == nil ? .unset : .rsv1)
    }

    /// The event loop of the channel; `nil` while the handler is not in a pipeline.
    package var eventLoop: (any EventLoop)? { self.context?.eventLoop }

    /// The channel; `nil` while the handler is not in a pipeline.
    package var channel: (any Channel)? { self.context?.channel }

    /// Whether messages can be sent.
    package var isOpen: Bool { self.context != nil && self.machine.isOpen }

    /// Whether a frame has begun whose header, or whose control frame, is incomplete. Peers send
    /// both in one piece.
    var isWithinFrameHeader: Bool { self.incomplete != nil }

    /// Makes the channel read into the event loop's shared buffer. Valid only for a server, as the
    /// first handler of the channel.
    package func shareReceiveBuffer() {
        guard self.role == .server, let channel = self.channel else { return }
        self.sharesReceiveBuffer = true
        self.buffers.receive(on: channel, isNew: false)
    }

    // MARK: Pipeline

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.isWritable = context.channel.isWritable
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        if !self.isHolding { self.transportEnded(cause: nil) }
        self.context = nil
        self.isWritable = false
        _ = self.takeOutbound()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let read = self.unwrapInboundIn(data)
        self.received(read)
        if self.sharesReceiveBuffer { self.buffers.giveBackReceived(read) }
    }

    /// The maximum number of frames decoded at a time. Bytes that wait are kept undecoded, which
    /// takes less memory.
    private static let framesAtOnce = 256

    private func received(_ read: ByteBuffer) {
        // After the end, bytes are read only to detect the end of the transport. One reference to
        // the delegate serves all frames.
        guard !self.machine.isFinished, let delegate = self.delegate else { return }
        guard !self.isHolding else { return self.hold(read) }
        self.isReading = true
        var bytes = read
        if var joined = self.incomplete.take() {
            joined.writeImmutableBuffer(bytes)
            self.work(through: &joined, isRest: true, telling: delegate)
        } else {
            self.work(through: &bytes, isRest: false, telling: delegate)
        }
    }

    /// Resumes held frames.
    func work(through held: consuming WebSocketHeldFrames, telling delegate: any WebSocketHandlerDelegate) {
        guard self.deliver(&held.frames, to: delegate) else { return self.hold(held.frames, held.failure, held.undecoded) }
        if let failure = held.failure { return self.fail(failure) }
        self.work(through: &held.undecoded, isRest: false, telling: delegate)
    }

    /// Decodes and handles frames until one must be held.
    ///
    /// - Parameter isRest: Whether the bytes begin with a header that was incomplete before.
    private func work(through bytes: inout ByteBuffer, isRest: Bool, telling delegate: any WebSocketHandlerDelegate) {
        var mayHoldMore: Bool
        repeat {
            let failure = self.decoder.decode(&bytes, using: &self.buffers.space, maximumFrames: Self.framesAtOnce)
            var frames = self.buffers.space.takeBatch()
            guard self.deliver(&frames, to: delegate) else { return self.hold(frames, failure, bytes) }
            mayHoldMore = frames.count == Self.framesAtOnce
            self.buffers.space.giveBack(&frames)
            if let failure {
                self.fail(failure)
            }
        } while mayHoldMore
        guard bytes.readableBytes > 0, !self.machine.isFinished else { return }
        if !isRest || bytes.readerIndex > 0 { self.incompleteFrames &+= 1 }
        // A copy, because the read buffer may be much larger than the 130 bytes this can be.
        var own = ByteBuffer()
        own.writeImmutableBuffer(bytes)
        self.incomplete = own
    }

    /// Handles frames. Returns `false` if the remaining ones must be held.
    private func deliver(_ frames: inout WebSocketFrameBatch, to delegate: any WebSocketHandlerDelegate) -> Bool {
        let before = self.buffers.turn.deliveries
        while !self.mustHold {
            guard let frame = frames.next() else { return true }
            self.perform(self.machine.receivedFrame(frame, isASCII: frames.isASCII), telling: delegate)
        }
        // Keeps the previous value if no frame was handled.
        let deliveries = self.buffers.turn.deliveries &- before
        if deliveries > 0 { self.sendsMuch = deliveries >= EventLoopTurn.lightDeliveries }
        return frames.isAtEnd
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        self.completeRead()
        context.fireChannelReadComplete()
    }

    /// Completes a read, or the handling of held frames.
    func completeRead() {
        if !self.machine.isFinished {
            self.delegate?.webSocketReadComplete(self)
        }
        self.countUnfinished()
        // Without a preceding read this is the peer's end, and responses are flushed at once. With
        // TLS both may come in one read.
        let answersCanWait = self.isReading && self.sharesReceiveBuffer
        self.isReading = false
        if answersCanWait, let context = self.context { self.flushAfterRead(context) } else { self.flushUnlessGathering() }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        self.isWritable = isWritable
        if isWritable {
            if let payload = self.waitingPong.take() { self.sendPong(payload) }
            if self.outboundBytes > 0 { self.scheduleFlush() }
        }
        self.queueChanged()
        if !self.machine.isFinished {
            self.delegate?.webSocketWritabilityChanged(self, isWritable: isWritable)
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    /// Handles the end of the transport, after the held frames.
    private func end() {
        guard self.isHolding, !self.machine.isFinished else { return self.transportEnded(cause: nil) }
        self.hasEnded = true
        self.releaseBudgets()
        self.countUnfinished()
        self.resumeLater()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.transportEnded(cause: error)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            // The server is shutting down. Not passed on: HTTP handlers behind this one would close
            // the channel.
            if let delegate = self.delegate { delegate.webSocketShouldClose(self) } else { self.close(code: .goingAway, reason: "") }
        case ChannelEvent.inputClosed:
            // Half-closed by the peer, if an HTTP server allows it: no close handshake is possible,
            // but
            // the peer may still read the responses.
            self.flushNow()
            self.end()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}
