import ApusConnectivity
import ApusFramedProtocol
import NIOCore
import NIOSSL
import NIOTLS

/// A framed session on a channel: bytes come in from the pipeline, what becomes of them goes to the connection.
///
/// Confined to the channel's event loop.
final class FramedHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// The transport does not stand, or TLS does not. Leaves to `running` or `ended`.
        case waiting
        /// Leaves to `leaving` or `ended`.
        case running
        /// Nothing that comes counts any more; a goodbye or an error is on its way out. Leaves to `ended`.
        case leaving
        /// Final.
        case ended
    }

    /// Why nothing is read.
    struct Pauses: OptionSet {
        let rawValue: UInt8
        /// What was received is not taken.
        static let inbox = Self(rawValue: 1)
        /// The peer asks and does not read the answers.
        static let answers = Self(rawValue: 2)
        /// The disk lags behind.
        static let disk = Self(rawValue: 4)
    }

    /// So many answers may wait before nothing more is read, half as many before reading goes on.
    private static let maximumAnswers = 256

    /// Buffers of 256 KiB that are kept for reading, and read in a turn at most: NIO's default, and a transfer's window.
    private static let (fewReads, manyReads): (UInt, UInt) = (4, 32)

    private let configuration: FramedConnectionConfiguration
    private let waitsForTLS: Bool
    /// Held until it has heard of the end.
    private var connection: FramedConnection?
    private var context: ChannelHandlerContext?
    private var phase = Phase.waiting
    private var session: FramedSession
    private var watch: LivenessMonitor?
    private var tick: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?
    /// The beginning of a head of which the rest has not come.
    private var pending: ByteBuffer?
    /// Writes that the transport has not taken.
    private var writes = 0
    /// Whether what was written is flushed at the end of this turn.
    private var willFlush = false
    /// Their bytes, at the last tick.
    private var waitingBytes = 0
    /// Those of them that answer the peer.
    private var answers = 0
    /// Answers of this turn that are not written yet: many small ones go as one.
    private var gathered = ByteBuffer()
    private var gatheredAnswers = 0
    /// While the peer does not read, only the last answer to a ping waits.
    private var waitingPong: ByteBuffer?
    private var lastPing: Int64 = 0
    private var pauses: Pauses = []
    /// Why the end has come, until it has been told.
    private var failure: FramedError?
    private var peerHasSaidBye = false
    private var hasSaidBye = false

    /// - Parameters:
    ///   - isClient: Our side.
    ///   - waitsForTLS: Whether TLS stands before us and has not finished its handshake.
    ///   - connection: Whom it is for.
    /// - Throws: ``FramedError/Code/invalidUse`` when the framing cannot be spoken.
    init(
        isClient: Bool, configuration: FramedConnectionConfiguration, waitsForTLS: Bool = false, connection: FramedConnection
    ) throws(FramedError) {
        self.session = try FramedSession(
            isClient: isClient, framing: configuration.framing, limits: configuration.limits, capabilities: configuration.capabilities)
        self.configuration = configuration
        self.waitsForTLS = waitsForTLS
        self.connection = connection
    }

    private var now: Duration {
        Duration((self.context?.eventLoop.now ?? .uptimeNanoseconds(0)) - NIODeadline.uptimeNanoseconds(0))
    }

    // MARK: Pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { self.transportStands() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        self.transportStands()
        context.fireChannelActive()
    }

    private func transportStands() {
        guard self.watch == nil, case .waiting = self.phase else { return }
        self.watch = LivenessMonitor(settings: self.configuration.watch, at: self.now)
        self.scheduleTick()
        if !self.waitsForTLS { self.start() }
    }

    private func start() {
        guard case .waiting = self.phase else { return }
        self.phase = .running
        self.perform(self.session.connected())
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { self.start() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .running = self.phase else { return }  // read only to see the transport's end
        var bytes = self.unwrapInboundIn(data)
        let isOwn = self.pending != nil
        if var joined = self.pending.take() {
            joined.writeImmutableBuffer(bytes)
            bytes = joined
        }
        let heads = self.session.headCount
        let actions = self.session.received(&bytes)
        let isWithinHead = self.session.isWithinHead(bytes)
        self.watch?.received(isWithinHead: isWithinHead, isAnotherHead: self.session.headCount != heads, at: self.now)
        if bytes.readableBytes > 0 {
            // In a buffer of its own: what was read may be much larger than a head. Once it has one it grows there, or a head that comes
            // byte by byte would be copied for every byte.
            if isOwn {
                bytes.discardReadBytes()
                self.pending = bytes
            } else {
                var own = ByteBuffer()
                own.writeImmutableBuffer(bytes)
                self.pending = own
            }
        }
        self.perform(actions)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let pong = self.waitingPong.take() { self.write([pong]) }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.transportEnded(cause: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.transportEnded(cause: error)
    }

    // MARK: Actions

    private func perform(_ actions: [FramedSession.Action]) {
        for action in actions {
            switch action {
            case .write(let bytes): self.write([bytes])
            case .writePong(let bytes):
                if self.context?.channel.isWritable == true { self.write([bytes]) } else { self.waitingPong = bytes }
            case .opened(let hello):
                self.watch?.opened()
                self.connection?.handlerOpened(hello)
            case .messageBegan(let header, let bodyLength): self.connection?.inbox.received(.head(header, bodyLength: bodyLength))
            case .messageBody(let bytes): self.connection?.inbox.received(.body(bytes))
            case .messageEnded: self.connection?.inbox.received(.end)
            case .transfer(let part): self.connection?.handlerReceived(part)
            case .pong: break  // any byte is life; the watch has seen it
            case .peerSaidBye:
                self.peerHasSaidBye = true
                self.connection?.handlerReceivedBye()
            case .fail(let error): return self.leave(because: error)
            }
        }
    }

    /// Writes and flushes. The future is done when the transport has taken all of it.
    ///
    /// - Parameter flushesAtOnce: `false`: at the end of this turn of the loop, together with what else is written in it.
    @discardableResult
    func write(_ buffers: [ByteBuffer], flushesAtOnce: Bool = true) -> EventLoopFuture<Void>? {
        self.writeAnswers()  // they came first
        return self.writeNow(buffers, flushesAtOnce: flushesAtOnce)
    }

    private func writeNow(_ buffers: [ByteBuffer], flushesAtOnce: Bool) -> EventLoopFuture<Void>? {
        guard let context = self.context, let last = buffers.last else { return nil }
        switch self.phase {
        case .running, .leaving: break
        case .waiting, .ended: return nil
        }
        for buffer in buffers.dropLast() { context.write(self.wrapOutboundOut(buffer), promise: nil) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        self.writes += 1
        self.watch?.wrote(at: self.now)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.writes -= 1
            self.watch?.took(isWaiting: self.writes > 0, at: self.now)
        }
        context.write(self.wrapOutboundOut(last), promise: promise)
        if flushesAtOnce { context.flush() } else { self.flushLater(context) }
        return promise.futureResult
    }

    /// At the end of this turn of the loop.
    private func flushLater(_ context: ChannelHandlerContext) {
        guard !self.willFlush else { return }
        self.willFlush = true
        context.eventLoop.assumeIsolated().execute {
            self.writeAnswers()
            self.willFlush = false
            self.context?.flush()
        }
    }

    /// Writes what the peer has asked for, at the end of this turn. Nothing more is read while many answers wait for it to read them.
    func answer(_ head: FrameHead) {
        // A goodbye is the last frame.
        guard let context = self.context, case .running = self.phase, !self.hasSaidBye else { return }
        // Of our own making: small, and of nothing but text and numbers.
        try? head.write(into: &self.gathered)
        self.gatheredAnswers += 1
        self.answers += 1
        if self.answers > Self.maximumAnswers { self.setReading(paused: true, .answers) }
        self.flushLater(context)
    }

    private func writeAnswers() {
        guard self.gatheredAnswers > 0 else { return }
        let (bytes, count) = (self.gathered, self.gatheredAnswers)
        self.gathered = ByteBuffer()
        self.gatheredAnswers = 0
        self.writeNow([bytes], flushesAtOnce: false)?.assumeIsolated().whenComplete { _ in
            self.answers -= count
            if self.answers <= Self.maximumAnswers / 2 { self.setReading(paused: false, .answers) }
        }
    }

    /// - Throws: What is wrong with the message.
    func message(_ header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard case .running = self.phase else { throw FramedError(.closed, message: "the connection is closed") }
        return try self.session.message(header: header, bodyLength: bodyLength)
    }

    var isReadingPaused: Bool { !self.pauses.isEmpty }

    func setReading(paused: Bool, _ reason: Pauses) {
        let before = self.isReadingPaused
        if paused { self.pauses.formUnion(reason) } else { self.pauses.subtract(reason) }
        guard self.isReadingPaused != before, let context = self.context else { return }
        self.watch?.reading(isPaused: paused, at: self.now)
        // Fails when the channel is gone, and then there is nothing to read.
        try? context.channel.syncOptions?.setOption(.autoRead, value: !paused)
    }

    /// Keeps more buffers for reading while a large file comes: of those that wait for the disk none can be used again, and new memory has to be
    /// cleared by the system each time.
    func setReadsMuch(_ readsMuch: Bool) {
        guard let options = self.context?.channel.syncOptions, !self.isBehindTLS else { return }  // TLS gives its buffers back at once
        try? options.setOption(.maxMessagesPerRead, value: readsMuch ? Self.manyReads : Self.fewReads)
    }

    /// Whether what comes was deciphered by NIOSSL.
    var isBehindTLS: Bool {
        guard let context = self.context else { return false }
        return (try? context.pipeline.syncOperations.handler(type: NIOSSLHandler.self)) != nil
    }

    // MARK: Time

    private func scheduleTick() {
        guard let context = self.context else { return }
        self.tick = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.configuration.watch.tick)) { self.ticked() }
    }

    private func ticked() {
        // A large write leaves little by little, and is done when all of it has left.
        let waiting = self.writes > 0 ? (try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 : 0
        if self.writes > 0, waiting < self.waitingBytes { self.watch?.took(isWaiting: true, at: self.now) }
        self.waitingBytes = waiting
        switch self.watch?.ticked(canPing: self.session.speaksVersion2 && self.session.isOpen, at: self.now) {
        case nil: return
        case .doNothing?: break
        case .sendPing?:
            self.lastPing &+= 1
            if let ping = self.session.ping(id: self.lastPing) { self.write([ping]) }
        case .fail(let error)?:
            self.fail(error)
        }
        switch self.phase {
        case .waiting, .running:
            self.connection?.handlerTicked()
            self.scheduleTick()
        case .leaving, .ended: break
        }
    }

    // MARK: The end

    /// Gives the connection up because of an error of ours; the peer is told where it can be.
    func fail(_ error: FramedError) {
        switch self.phase {
        case .waiting: self.leave(because: error)
        case .running: self.perform(self.session.failed(error))
        case .leaving, .ended: break
        }
    }

    /// Says goodbye, after everything that was written, and waits for the peer's. Called again when that has come.
    func sayBye() {
        guard case .running = self.phase else { return self.cut() }
        self.startCloseTimer()
        // In the fixed mode the end of the bytes is the goodbye.
        let bye = self.hasSaidBye ? [] : self.session.bye()
        let isLast = self.peerHasSaidBye || !self.session.speaksVersion2 || !self.session.isOpen
        self.hasSaidBye = true
        let written = self.write(bye.isEmpty ? [ByteBuffer()] : bye)
        guard isLast else { return }
        self.phase = .leaving
        written?.assumeIsolated().whenComplete { _ in self.cut() }
    }

    /// The session has failed. In version 2 the peer gets the time to read why: closing at once could destroy what is on its way to it.
    private func leave(because error: FramedError) {
        switch self.phase {
        case .leaving, .ended: return
        case .waiting, .running: break
        }
        self.failure = error
        self.pending = nil
        let wasTold = self.session.speaksVersion2 && error.code != .peerFailed
        self.phase = .leaving
        // A peer that takes nothing will not take this either.
        guard wasTold, self.writes == 0, self.context?.channel.isActive == true else { return self.cut() }
        self.setReading(paused: false, [.inbox, .answers, .disk])
        self.startCloseTimer()
        self.connection?.handlerFailed(error)
    }

    func startCloseTimer() {
        guard self.closeTimer == nil, let context = self.context else { return }
        self.closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.configuration.closeTimeout)) { self.cut() }
    }

    /// Ends the transport now.
    func cut() {
        let channel = self.context?.channel
        self.end()
        channel?.close(promise: nil)
    }

    private func transportEnded(cause: (any Error)?) {
        if case .running = self.phase, self.failure == nil {
            if let cause {
                self.failure = FramedError(.connectionLost, message: "the connection failed", cause: cause)
            } else {
                for action in self.session.transportEnded(self.pending ?? ByteBuffer()) {
                    if case .fail(let error) = action { self.failure = error }
                }
            }
        } else if case .waiting = self.phase, self.failure == nil {
            self.failure = FramedError(.connectionLost, message: "the connection ended before it was ready", cause: cause)
        }
        let channel = self.context?.channel
        self.end()
        if cause != nil { channel?.close(promise: nil) }
    }

    private func end() {
        if case .ended = self.phase { return }
        self.phase = .ended
        self.tick?.cancel()
        self.tick = nil
        self.closeTimer?.cancel()
        self.closeTimer = nil
        self.watch = nil
        self.pending = nil
        self.waitingPong = nil
        let connection = self.connection.take()
        connection?.handlerEnded(self.failure)
    }
}

@available(*, unavailable)
extension FramedHandler: Sendable {}
