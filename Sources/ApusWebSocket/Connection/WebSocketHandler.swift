package import ApusWebSocketProtocol
package import NIOCore

/// A WebSocket on a channel: bytes come in from the pipeline, messages go to the delegate.
///
/// Stands right behind the transport (or TLS), after the opening handshake. No message goes through the pipeline, and
/// what is sent during a read, or during one turn of the event loop, leaves in one write with one flush: four times
/// faster than a flush per frame (`platform.md`).
///
/// Confined to the channel's event loop.
package final class WebSocketHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// A payload above this goes out as it is; below, it is copied behind its header into the turn's one buffer.
    static let copiedPayloadBytes = 16 << 10

    let closeTimeout: Duration
    let maximumDeferredBytes: Int
    let buffers: WebSocketBuffers

    // Unchecked are the variables that every message touches: the checks of exclusive access took a fifth of an echo's instructions. None of
    // them is held over a call that leads out of here: delegates and the channel are called between two accesses.
    @exclusivity(unchecked) var delegate: (any WebSocketHandlerDelegate)?
    @exclusivity(unchecked) var context: ChannelHandlerContext?
    @exclusivity(unchecked) var machine: WebSocketConnectionStateMachine
    @exclusivity(unchecked) private var decoder: WebSocketFrameDecoder
    /// The beginning of a header or of a control frame of which the rest has not come.
    @exclusivity(unchecked) private var incomplete: ByteBuffer?
    /// Counts the headers that did not come in one read, so that a deadline knows which one it is about.
    private(set) var incompleteFrames = 0

    /// What was sent in this turn and not yet handed to the channel.
    @exclusivity(unchecked) var outbound = ByteBuffer()
    /// Whether ``outbound`` is a buffer of the loop's, and nobody else's.
    @exclusivity(unchecked) var ownsOutbound = false
    /// Holds what was sent in this turn while other connections were sent the same; ``outbound`` is empty then.
    @exclusivity(unchecked) var sharedBuffer: SharedWriteBuffer?
    /// How much of the joint was sent.
    @exclusivity(unchecked) var sharedLength = 0
    /// Whether something was given to the channel without a flush.
    @exclusivity(unchecked) var hasUnflushed = false
    @exclusivity(unchecked) var isReading = false
    @exclusivity(unchecked) var flushIsScheduled = false
    /// Whether the transport's buffer is below its watermark.
    @exclusivity(unchecked) package private(set) var isWritable = false
    /// Whether the channel reads into the event loop's buffer.
    @exclusivity(unchecked) private var sharesReceiveBuffer = false
    /// Whether frames that were read wait.
    @exclusivity(unchecked) var isHolding = false
    /// Whether the messages that were handled before others had to wait led to many.
    @exclusivity(unchecked) var sendsMuch = false
    /// Whether held frames wait for their turn.
    var isPutOff = false
    /// Whether the transport has ended, and the frames that were held then are still to be handled.
    var hasEnded = false
    var readPauses: WebSocketReadPauses = []
    /// Whether the deflater has nothing to remember; it then goes with the flush, for it is larger than all else here.
    var deflaterIsSpare = false
    /// Whether the message that is being sent in pieces is compressed.
    var compressesPieces = false
    let role: WebSocketRole
    /// Masks must not be guessable (RFC 6455 10.3), so they come from the system.
    var generator = SystemRandomNumberGenerator()
    var extras: Extras?
    /// How we compress; `nil` for not at all.
    var deflate: WebSocketDeflateAgreement? { self.machine.deflate }
    /// Made for the first message that is compressed.
    var deflater: WebSocketDeflater?

    /// - Parameters:
    ///   - role: Our side.
    ///   - limits: The bounds.
    ///   - deflate: What the handshake settled about compression; `nil`: nothing is compressed and nothing may come compressed.
    ///   - delegate: Held strongly until it has heard of the end.
    ///   - buffers: What the connections of the event loop share; a connection that stands alone has its own.
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

    /// The loop everything here runs on; `nil` before the handler is in a pipeline and after it has left.
    package var eventLoop: (any EventLoop)? { self.context?.eventLoop }

    /// The channel; `nil` before the handler is in a pipeline and after it has left.
    package var channel: (any Channel)? { self.context?.channel }

    /// Whether messages can be sent.
    package var isOpen: Bool { self.context != nil && self.machine.isOpen }

    /// Whether a frame has begun of which not even the header is there (or a control frame, of which every peer has the whole at hand).
    var isWithinFrameHeader: Bool { self.incomplete != nil }

    /// Has the channel read into the event loop's one buffer; for a server's handler that nothing stands before.
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

    /// Frames that are found at a time: what waits is kept as it came, and takes no more room than that.
    private static let framesAtOnce = 256

    private func received(_ read: ByteBuffer) {
        // After the end bytes are only read to see the transport's end. The delegate is taken hold of once for all frames.
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

    /// Resumes what was held.
    func work(through held: consuming WebSocketHeldFrames, telling delegate: any WebSocketHandlerDelegate) {
        guard self.deliver(&held.frames, to: delegate) else { return self.hold(held.frames, held.failure, held.undecoded) }
        if let failure = held.failure { return self.fail(failure) }
        self.work(through: &held.undecoded, isRest: false, telling: delegate)
    }

    /// Decodes and handles what is there, until something has to wait.
    ///
    /// - Parameter isRest: Whether the beginning is a header that was incomplete before.
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
        // In a buffer of its own: what was read may be much larger than the 130 bytes this can be.
        var own = ByteBuffer()
        own.writeImmutableBuffer(bytes)
        self.incomplete = own
    }

    /// Handles frames. Returns `false` when those that are left have to wait.
    private func deliver(_ frames: inout WebSocketFrameBatch, to delegate: any WebSocketHandlerDelegate) -> Bool {
        let before = self.buffers.turn.deliveries
        while !self.mustHold {
            guard let frame = frames.next() else { return true }
            self.perform(self.machine.receivedFrame(frame, isASCII: frames.isASCII), telling: delegate)
        }
        // Where none is handled, what is known of the read before stays.
        let deliveries = self.buffers.turn.deliveries &- before
        if deliveries > 0 { self.sendsMuch = deliveries >= EventLoopTurn.lightDeliveries }
        return frames.isAtEnd
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        self.completeRead()
        context.fireChannelReadComplete()
    }

    /// What was read, or was held, is handled as far as it can be.
    func completeRead() {
        if !self.machine.isFinished {
            self.delegate?.webSocketReadComplete(self)
        }
        self.countUnfinished()
        // Without a read before it this is the peer's end: it may still hear the answers to what it said. Behind TLS both may come in one read.
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

    /// The peer says nothing more. What it said before is handled first.
    private func end() {
        guard self.isHolding, !self.machine.isFinished else { return self.transportEnded(cause: nil) }
        self.hasEnded = true
        self.countNothing()
        self.countUnfinished()
        self.resumeLater()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.transportEnded(cause: error)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            // The server goes down. Not passed on: handlers of HTTP behind us would cut the connection.
            if let delegate = self.delegate { delegate.webSocketShouldClose(self) } else { self.close(code: .goingAway, reason: "") }
        case ChannelEvent.inputClosed:
            // Half-open, where a server of HTTP permits it: the peer will say nothing more, so there is nobody to close with. It may still hear what
            // it was answered.
            self.flushNow()
            self.end()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}
