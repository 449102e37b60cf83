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
    /// Whether something was given to the channel without a flush.
    @exclusivity(unchecked) var hasUnflushed = false
    @exclusivity(unchecked) var isReading = false
    @exclusivity(unchecked) var flushIsScheduled = false
    /// Whether the transport's buffer is below its watermark.
    @exclusivity(unchecked) package private(set) var isWritable = false
    /// Whether the channel reads into the event loop's buffer.
    @exclusivity(unchecked) private var sharesReceiveBuffer = false
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
        self.transportEnded(cause: nil)
        self.context = nil
        self.isWritable = false
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let read = self.unwrapInboundIn(data)
        self.received(read)
        if self.sharesReceiveBuffer { self.buffers.giveBackReceived(read) }
    }

    private func received(_ read: ByteBuffer) {
        // After the end bytes are only read to see the transport's end. The delegate is taken hold of once for all frames.
        guard !self.machine.isFinished, let delegate = self.delegate else { return }
        self.isReading = true
        var bytes = read
        let wasIncomplete = self.incomplete != nil
        if var joined = self.incomplete.take() {
            joined.writeImmutableBuffer(bytes)
            bytes = joined
        }
        let failure = self.decoder.decode(&bytes, using: &self.buffers.space)
        var frames = self.buffers.space.takeBatch()
        while let frame = frames.next() {
            self.perform(self.machine.receivedFrame(frame, isASCII: frames.isASCII), telling: delegate)
        }
        self.buffers.space.giveBack(&frames)
        if let failure {
            self.fail(failure)
        }
        if bytes.readableBytes > 0, !self.machine.isFinished {
            if !wasIncomplete || bytes.readerIndex > 0 { self.incompleteFrames &+= 1 }
            // In a buffer of its own: what was read may be much larger than the 130 bytes this can be.
            var own = ByteBuffer()
            own.writeImmutableBuffer(bytes)
            self.incomplete = own
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        if !self.machine.isFinished {
            self.delegate?.webSocketReadComplete(self)
        }
        // Without a read before it this is the peer's end: it may still hear the answers to what it said. Behind TLS both may come in one read.
        let answersCanWait = self.isReading && self.sharesReceiveBuffer
        self.isReading = false
        if answersCanWait { self.flushAfterRead(context) } else { self.flushUnlessGathering() }
        context.fireChannelReadComplete()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        self.isWritable = isWritable
        if isWritable {
            if let payload = self.waitingPong.take() { self.sendPong(payload) }
            if self.outbound.readableBytes > 0 { self.scheduleFlush() }
        }
        if !self.machine.isFinished {
            self.delegate?.webSocketWritabilityChanged(self, isWritable: isWritable)
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.transportEnded(cause: nil)
        context.fireChannelInactive()
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
            self.transportEnded(cause: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}
