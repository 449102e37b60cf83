import ApusConnectivity
import ApusEventLoop
package import ApusWebSocketProtocol
package import NIOCore

/// The WebSocket handler of a channel: reads bytes from the pipeline and passes messages to its
/// delegate.
///
/// It is added directly after the transport or TLS when the opening handshake has succeeded.
/// Messages do not pass through the pipeline. Everything sent during a read, or during one turn of
/// the event loop, is written with one flush, which is four times faster than a flush per frame.
///
/// Confined to the channel's event loop.
package final class WebSocketHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The size of a payload, in bytes, above which it is written without a copy. A smaller payload
    /// is copied behind its header.
    static let copiedPayloadBytes = 16 << 10

    let closeTimeout: Duration
    let maximumDeferredBytes: Int
    let buffers: WebSocketBuffers

    /// The variables that every message uses. Unchecked, because exclusivity checks were a fifth of
    /// the instructions of an echo server. No access spans a call to the delegate or to the
    /// channel.
    @exclusivity(unchecked) var hot: Hot

    struct Hot {
        var delegate: (any WebSocketHandlerDelegate)?
        var context: ChannelHandlerContext?
        /// The protocol. Its output contains the bytes that were sent in this turn and not yet
        /// passed to the channel.
        var endpoint: WebSocketEndpoint
        /// Whether the endpoint's output is uniquely owned by this connection.
        var ownsOutbound = false
        /// The frames of this turn, if other connections sent the same frames. The endpoint's
        /// output is then empty.
        var sharedBuffer: SharedWriteBuffer?
        /// The length of this connection's part of ``sharedBuffer``, in bytes.
        var sharedLength = 0
        /// Whether bytes were written to the channel without a flush.
        var hasUnflushed = false
        var isReading = false
        var flushIsScheduled = false
        /// Whether the transport's buffer is below its watermark.
        var isWritable = false
        /// Whether the channel reads into the event loop's buffer.
        var sharesReceiveBuffer = false
        /// Whether frames that were read are held.
        var isHolding = false
        /// Whether the last handled messages caused many deliveries to other connections.
        var sendsMuch = false
    }

    /// The number of headers and control frames that did not arrive in one read. A deadline
    /// identifies the incomplete one by this number.
    private(set) var incompleteFrames = 0
    /// Whether held frames are scheduled for a later turn.
    var isDeferred = false
    /// Whether the transport has ended while held frames are still to be handled.
    var hasEnded = false
    var readPauses: WebSocketReadPauses = []
    /// Whether the deflater has no context to preserve. If `true`, the flush releases the deflater,
    /// which is larger than the rest of the connection.
    var deflaterIsSpare = false
    /// Whether the fragmented message that is being sent is compressed.
    var compressesPieces = false
    var extras: Extras?
    /// The local role. Stored, because reading it from the endpoint would copy the endpoint.
    let role: WebSocketRole
    /// The negotiated compression; `nil` without compression.
    var deflate: WebSocketDeflateAgreement? { self.hot.endpoint.machine.deflate }
    /// The compressor; created for the first compressed message.
    var deflater: WebSocketDeflater?

    /// Creates a handler, to be added to a pipeline.
    ///
    /// - Parameters:
    ///   - role: The local role.
    ///   - limits: The limits of the connection.
    ///   - deflate: The negotiated compression; `nil` without compression in either direction.
    ///   - delegate: The delegate, retained until the end of the connection was reported to it.
    ///   - buffers: The buffers that the connections of the event loop share. Default: buffers of
    ///     this connection only.
    package init(
        role: WebSocketRole, limits: WebSocketLimits, deflate: WebSocketDeflateAgreement? = nil, delegate: any WebSocketHandlerDelegate,
        buffers: WebSocketBuffers = WebSocketBuffers()
    ) {
        self.buffers = buffers
        self.role = role
        self.closeTimeout = limits.closeTimeout
        self.maximumDeferredBytes = limits.maximumDeferredBytes
        self.hot = Hot(
            delegate: delegate,
            endpoint: WebSocketEndpoint(role: role, limits: limits, deflate: deflate) {
                // The source of masking keys must be unpredictable (RFC 6455 section 10.3).
                var generator = SystemRandomNumberGenerator()
                return generator.next()
            })
    }

    /// The event loop of the channel; `nil` while the handler is not in a pipeline.
    package var eventLoop: (any EventLoop)? { self.hot.context?.eventLoop }

    /// The channel; `nil` while the handler is not in a pipeline.
    package var channel: (any Channel)? { self.hot.context?.channel }

    /// Whether the transport's buffer is below its watermark.
    package var isWritable: Bool { self.hot.isWritable }

    /// Whether messages can be sent.
    package var isOpen: Bool { self.hot.context != nil && self.hot.endpoint.machine.isOpen }

    /// Whether a frame header or a control frame is incomplete. Peers usually send each of them in
    /// one piece.
    var isWithinFrameHeader: Bool { self.hot.endpoint.incomplete != nil }

    /// Makes the channel read into the event loop's shared buffer. Valid only for a server, as the
    /// first handler of the channel.
    package func shareReceiveBuffer() {
        guard self.role == .server, let channel = self.channel else { return }
        self.hot.sharesReceiveBuffer = true
        self.buffers.receive(on: channel, isNew: false)
    }

    // MARK: Pipeline

    package func handlerAdded(context: ChannelHandlerContext) {
        self.hot.context = context
        self.hot.isWritable = context.channel.isWritable
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        if !self.hot.isHolding { self.transportEnded(cause: nil) }
        self.hot.context = nil
        self.hot.isWritable = false
        _ = self.takeOutbound()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let read = self.unwrapInboundIn(data)
        defer { if self.hot.sharesReceiveBuffer { self.buffers.giveBackReceived(read) } }
        // After the close, bytes are read only to detect the end of the transport. The reference to
        // the delegate is loaded once for all frames.
        guard !self.hot.endpoint.machine.isFinished, let delegate = self.hot.delegate else { return }
        guard !self.hot.isHolding else { return self.hold(read) }
        self.hot.isReading = true
        var bytes = read
        if var joined = self.hot.endpoint.incomplete.take() {
            joined.writeImmutableBuffer(bytes)
            self.work(through: &joined, isRest: true, telling: delegate)
        } else {
            self.work(through: &bytes, isRest: false, telling: delegate)
        }
    }

    /// The maximum number of frames that are decoded at a time. Waiting bytes are kept undecoded,
    /// which requires less memory.
    private static let framesAtOnce = 256

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
            let failure = self.hot.endpoint.decoder.decode(&bytes, using: &self.buffers.hot.space, maximumFrames: Self.framesAtOnce)
            var frames = self.buffers.hot.space.takeBatch()
            guard self.deliver(&frames, to: delegate) else { return self.hold(frames, failure, bytes) }
            mayHoldMore = frames.count == Self.framesAtOnce
            self.buffers.hot.space.giveBack(&frames)
            if let failure {
                self.fail(failure)
            }
        } while mayHoldMore
        guard bytes.readableBytes > 0, !self.hot.endpoint.machine.isFinished else { return }
        if !isRest || bytes.readerIndex > 0 { self.incompleteFrames &+= 1 }
        // A copy, because the read buffer may be much larger than the remaining bytes, at most 130.
        var own = ByteBuffer()
        own.writeImmutableBuffer(bytes)
        self.hot.endpoint.incomplete = own
    }

    /// Handles frames. Returns `false` if the remaining frames must be held.
    private func deliver(_ frames: inout WebSocketFrameBatch, to delegate: any WebSocketHandlerDelegate) -> Bool {
        let before = self.buffers.turn.deliveries
        while !self.mustHold {
            guard let frame = frames.next() else { return true }
            self.perform(self.hot.endpoint.machine.receivedFrame(frame, isASCII: frames.isASCII), telling: delegate)
        }
        // The previous value remains if the handled frames caused no delivery.
        let deliveries = self.buffers.turn.deliveries &- before
        if deliveries > 0 { self.hot.sendsMuch = deliveries >= EventLoopTurn.lightDeliveries }
        return frames.isAtEnd
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        self.completeRead()
        context.fireChannelReadComplete()
    }

    /// Completes a read, or the handling of held frames.
    func completeRead() {
        if !self.hot.endpoint.machine.isFinished {
            self.hot.delegate?.webSocketReadComplete(self)
        }
        self.countUnfinished()
        // Without a preceding read, the peer has closed its side, and responses are flushed
        // immediately. The same applies without the shared receive buffer: with TLS, the last
        // message and the end of the transport may arrive in one read.
        let answersCanWait = self.hot.isReading && self.hot.sharesReceiveBuffer
        self.hot.isReading = false
        if answersCanWait, let context = self.hot.context { self.flushAfterRead(context) } else { self.flushUnlessGathering() }
    }

    /// Completes the read of the bytes that the HTTP decoder left over, and sends the responses. No
    /// read-complete event follows those bytes.
    func leftoverBytesPassed() {
        guard self.hot.context != nil, let channel = self.channel, channel.isActive else { return }
        if self.hot.isReading, !self.hot.endpoint.machine.isFinished { self.hot.delegate?.webSocketReadComplete(self) }
        self.hot.isReading = false
        self.scheduleFlush()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        self.hot.isWritable = isWritable
        if isWritable {
            if let payload = self.waitingPong.take() { self.sendPong(payload) }
            if self.outboundBytes > 0 { self.scheduleFlush() }
        }
        self.queueChanged()
        if !self.hot.endpoint.machine.isFinished {
            self.hot.delegate?.webSocketWritabilityChanged(self, isWritable: isWritable)
        }
        context.fireChannelWritabilityChanged()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    /// Handles the end of the transport, after the held frames.
    private func end() {
        guard self.hot.isHolding, !self.hot.endpoint.machine.isFinished else { return self.transportEnded(cause: nil) }
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
            // The server is shutting down. The event is not passed on, because HTTP handlers after
            // this one would close the channel.
            if let delegate = self.hot.delegate { delegate.webSocketShouldClose(self) } else { self.close(code: .goingAway, reason: "") }
        case ChannelEvent.inputClosed:
            // The peer half-closed the connection, if an HTTP server permits it. No close handshake
            // is possible, but the peer may still read the responses.
            self.flushNow()
            self.end()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}

extension WebSocketHandler {
    /// Performs the state machine's action for a frame.
    func perform(_ action: WebSocketConnectionStateMachine.FrameAction, telling delegate: any WebSocketHandlerDelegate) {
        switch action {
        case .deliver(let message):
            delegate.webSocket(self, received: message)
        case .sendPong(let payload):
            self.sendPong(payload)
        case .receivedPong(let payload):
            delegate.webSocket(self, receivedPong: payload)
        case .answerClose(let answer, let received):
            self.writeClose(answer)
            self.receivedCloseReason = received.reason
            self.endTransport()
            self.report(code: received.code ?? .noStatusReceived, error: nil)
        case .finishClose(let received):
            self.receivedCloseReason = received.reason
            self.endTransport()
            self.report(code: received.code ?? .noStatusReceived, error: nil)
        case .fail(let error, let sendClose):
            if sendClose {
                self.writeClose(WebSocketClosePayload(describing: error))
            }
            self.endTransport()
            self.report(code: error.closeCode, error: error)
        case .doNothing:
            break
        }
    }

    /// Closes the connection because of invalid bytes or a local failure.
    func fail(_ error: WebSocketError) {
        guard let delegate = self.hot.delegate else { return }
        self.perform(self.hot.endpoint.machine.decoderFailed(error), telling: delegate)
    }

    /// Ends the connection after the transport closed or failed.
    func transportEnded(cause: (any Error)?) {
        self.releaseBudgets()
        self.perform(self.hot.endpoint.machine.transportClosed(cause: cause))
    }

    private func perform(_ action: WebSocketConnectionStateMachine.EndAction) {
        self.closeTimer?.cancel()
        self.closeTimer = nil
        self.hot.context?.close(mode: .all, promise: nil)
        if case .report(let error) = action {
            self.report(code: nil, error: error)
        }
    }

    /// Reports the end of the connection to the delegate once, and releases the delegate.
    func report(code: WebSocketCloseCode?, error: WebSocketError?) {
        self.dropHeldFrames()
        guard let delegate = self.hot.delegate.take() else { return }
        delegate.webSocketClosed(self, code: code, error: error)
    }

    /// Flushes pending writes and closes the transport after the close handshake.
    ///
    /// Closes the outgoing half first. A full close while bytes of the peer are unread would send a
    /// reset, which can discard the Close frame before the peer reads it. The server closes first,
    /// and the client waits for that (RFC 6455 section 7.1.1). A peer that does not close its half
    /// in time is disconnected.
    private func endTransport() {
        guard let context = self.hot.context else { return }
        self.flushNow()
        self.startCloseTimer()
        guard self.role == .server else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        promise.futureResult.whenFailure { _ in channel.close(promise: nil) }  // no half-closure support
        context.close(mode: .output, promise: promise)
    }

    func startCloseTimer() {
        guard self.closeTimer == nil, let context = self.hot.context else { return }
        self.closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.closeTimeout)) {
            self.perform(self.hot.endpoint.machine.closeTimerFired())
        }
    }
}

/// The state that most connections need only at their end, or never. It is a separate object,
/// created on first use, to keep idle connections small.
extension WebSocketHandler {
    final class Extras {
        var waitingPong: ByteBuffer?
        var closeTimer: Scheduled<Void>?
        var receivedCloseReason = ""
        var deferred: [WebSocketOutput] = []
        var deferredBytes = 0
        /// Frames that were read but not yet handled.
        var held: WebSocketHeldFrames?
        /// The event loop on which held frames are resumed, even after the transport has closed.
        var eventLoop: (any EventLoop)?
        /// The number of bytes queued for the peer at the last check, or when handling of the
        /// peer's messages was suspended because of the queue.
        var queueAtLastCheck = 0
        var unfinished = ByteAccount()
        var queued = ByteAccount()
    }

    func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        self.extras = made
        return made
    }

    /// The payload of the last unanswered Ping. While the peer does not read, only the last Ping is
    /// answered (RFC 6455 section 5.5.3).
    var waitingPong: ByteBuffer? {
        get { self.extras?.waitingPong }
        set { self.change(newValue == nil) { $0.waitingPong = newValue } }
    }

    var closeTimer: Scheduled<Void>? {
        get { self.extras?.closeTimer }
        set { self.change(newValue == nil) { $0.closeTimer = newValue } }
    }

    /// The reason in the peer's Close frame; empty before it is received.
    package internal(set) var receivedCloseReason: String {
        get { self.extras?.receivedCloseReason ?? "" }
        set { self.change(newValue.isEmpty) { $0.receivedCloseReason = newValue } }
    }

    /// The messages to send after the fragmented message that is being sent.
    var deferred: [WebSocketOutput] {
        get { self.extras?.deferred ?? [] }
        set { self.change(newValue.isEmpty) { $0.deferred = newValue } }
    }

    var deferredBytes: Int {
        get { self.extras?.deferredBytes ?? 0 }
        set { self.change(newValue == 0) { $0.deferredBytes = newValue } }
    }

    private func change(_ isDefault: Bool, _ body: (Extras) -> Void) {
        if let extras {
            body(extras)
        } else if !isDefault {
            body(self.makeExtras())
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler.Extras: Sendable {}

/// The receiver of a ``WebSocketHandler``'s messages and events. All calls are made on the
/// channel's event loop.
package protocol WebSocketHandlerDelegate: AnyObject {
    /// A complete message was received. The delegate may send and close within this call.
    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage)

    /// A Pong was received, solicited or not. The default implementation does nothing.
    func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer)

    /// All messages of one read were delivered. Messages sent within this call are written together
    /// with the responses. The default implementation does nothing.
    func webSocketReadComplete(_ handler: WebSocketHandler)

    /// The transport's buffer rose above its high watermark, or fell below its low watermark.
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool)

    /// The application is shutting down. The default implementation closes with
    /// `WebSocketCloseCode.goingAway`.
    func webSocketShouldClose(_ handler: WebSocketHandler)

    /// The connection has ended. This is the last call, and it is made exactly once.
    ///
    /// - Parameters:
    ///   - code: The code of the peer's Close frame (`WebSocketCloseCode.noStatusReceived` if the
    ///     frame was empty), or of the Close frame sent after a protocol violation. `nil` without a
    ///     Close frame.
    ///   - error: The error that ended the connection; `nil` after an orderly close and after
    ///     ``WebSocketHandler/abort(_:)`` without an error.
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?)
}

extension WebSocketHandlerDelegate {
    package func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {}

    package func webSocketReadComplete(_ handler: WebSocketHandler) {}

    package func webSocketShouldClose(_ handler: WebSocketHandler) { handler.close(code: .goingAway, reason: "") }
}
