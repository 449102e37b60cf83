import ApusConnectivity
import ApusFramedProtocol
import ApusJSON
import NIOCore
import NIOSSL
import NIOTLS

/// The channel handler of a framed session. It passes received bytes to the session and performs
/// the resulting actions on the connection.
///
/// Confined to the channel's event loop.
final class FramedHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// The transport or TLS is not connected. Transitions to `running` or `ended`.
        case waiting
        /// Transitions to `closing` or `ended`.
        case running
        /// Received data is ignored, and a bye or error frame is being written. Transitions to
        /// `ended`.
        case closing
        /// Final.
        case ended
    }

    /// The reasons why reading is paused.
    struct Pauses: OptionSet {
        let rawValue: UInt8
        /// The inbox is full.
        static let inbox = Self(rawValue: 1)
        /// The peer sends requests and does not read the answers.
        static let answers = Self(rawValue: 2)
        /// The disk is slow.
        static let disk = Self(rawValue: 4)
    }

    /// The number of queued answers above which reading stops. Reading resumes at half of this
    /// number.
    private static let maximumAnswers = 256

    /// The maximum number of reads per turn: NIO's default, and the number while large files are
    /// received, which suffices for a window of 8 MiB with buffers of up to 256 KiB.
    private static let (defaultReads, fileReads): (UInt, UInt) = (4, 32)

    private let configuration: FramedConnectionConfiguration
    private let waitsForTLS: Bool
    /// The connection, retained until it has been notified of the end.
    private var connection: FramedConnection?
    private var context: ChannelHandlerContext?
    private var phase = Phase.waiting
    private var session: FramedSession
    private var liveness: LivenessMonitor?
    private var tick: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?
    /// The beginning of an incomplete head.
    private var pending: ByteBuffer?
    /// The number of writes that the transport has not completed.
    private var writes = 0
    /// Whether a flush is scheduled for the end of this turn.
    private var willFlush = false
    /// The number of queued bytes at the last tick.
    private var waitingBytes = 0
    /// The number of queued answers.
    private var answers = 0
    /// The answers of this turn that are not written yet. Many small answers are written as one
    /// buffer.
    private var unwrittenBytes = ByteBuffer()
    private var unwrittenAnswers = 0
    /// The latest answer to a ping, while the channel is not writable.
    private var waitingPong: ByteBuffer?
    private var lastPing: Int64 = 0
    private var pauses: Pauses = []
    /// The error that ended the session, until it is reported.
    private var failure: FramedError?
    private var hasReceivedBye = false
    private var hasSentBye = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - isClient: Whether this side is the client.
    ///   - waitsForTLS: Whether a TLS handler precedes this one and its handshake is not complete.
    ///   - connection: The connection to notify.
    /// - Throws: `FramedError.Code.invalidConfiguration` when this side cannot use the framing.
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
        if context.channel.isActive { self.transportConnected() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        self.transportConnected()
        context.fireChannelActive()
    }

    private func transportConnected() {
        guard self.liveness == nil, case .waiting = self.phase else { return }
        self.liveness = LivenessMonitor(settings: self.configuration.watch, at: self.now)
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
        guard case .running = self.phase else { return }  // read only to detect the end of the transport
        var bytes = self.unwrapInboundIn(data)
        let isOwn = self.pending != nil
        if var joined = self.pending.take() {
            joined.writeImmutableBuffer(bytes)
            bytes = joined
        }
        let heads = self.session.headCount
        let actions = self.session.receivedBytes(&bytes)
        let isWithinHead = self.session.isWithinHead(bytes)
        self.liveness?.received(isWithinHead: isWithinHead, isAnotherHead: self.session.headCount != heads, at: self.now)
        if bytes.readableBytes > 0 {
            // Use a separate buffer, because the read may be much larger than a head. Later bytes
            // are appended to it, which avoids a copy of the whole head for each byte that a slow
            // peer sends.
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
                self.liveness?.opened()
                self.connection?.handlerOpened(hello)
            case .messageBegan(let header, let bodyLength): self.connection?.inbox.receivedPart(.head(header, bodyLength: bodyLength))
            case .messageBody(let bytes): self.connection?.inbox.receivedPart(.body(bytes))
            case .messageEnded: self.connection?.inbox.receivedPart(.end)
            case .transfer(let part): self.connection?.handlerReceived(part)
            case .pong: break  // `channelRead` reports all received bytes to `liveness`
            case .receivedBye:
                self.hasReceivedBye = true
                self.connection?.handlerReceivedBye()
            case .fail(let error): return self.close(because: error)
            }
        }
    }

    /// Writes and flushes. The future succeeds when the transport has written all buffers.
    ///
    /// - Parameter flushesAtOnce: Whether to flush immediately; `false` flushes at the end of this
    ///   turn.
    @discardableResult
    func write(_ buffers: [ByteBuffer], flushesAtOnce: Bool = true) -> EventLoopFuture<Void>? {
        self.writeAnswers()  // the queued answers precede the buffers
        return self.writeNow(buffers, flushesAtOnce: flushesAtOnce)
    }

    private func writeNow(_ buffers: [ByteBuffer], flushesAtOnce: Bool) -> EventLoopFuture<Void>? {
        guard let context = self.context, let last = buffers.last else { return nil }
        switch self.phase {
        case .running, .closing: break
        case .waiting, .ended: return nil
        }
        for buffer in buffers.dropLast() { context.write(self.wrapOutboundOut(buffer), promise: nil) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        self.writes += 1
        self.liveness?.wrote(at: self.now)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.writes -= 1
            self.liveness?.took(isWaiting: self.writes > 0, at: self.now)
        }
        context.write(self.wrapOutboundOut(last), promise: promise)
        if flushesAtOnce { context.flush() } else { self.flushLater(context) }
        return promise.futureResult
    }

    /// Flushes at the end of this turn of the event loop.
    private func flushLater(_ context: ChannelHandlerContext) {
        guard !self.willFlush else { return }
        self.willFlush = true
        context.eventLoop.assumeIsolated().execute {
            self.writeAnswers()
            self.willFlush = false
            self.context?.flush()
        }
    }

    /// Writes an answer to the peer at the end of this turn. Reading stops while many answers are
    /// queued.
    func answer(_ head: FrameHead) {
        // A bye frame must be the last frame.
        guard let context = self.context, case .running = self.phase, !self.hasSentBye else { return }
        // This side creates the head, with only text and numbers, so that encoding never fails.
        try? head.write(into: &self.unwrittenBytes)
        self.unwrittenAnswers += 1
        self.answers += 1
        if self.answers > Self.maximumAnswers { self.setReading(paused: true, .answers) }
        self.flushLater(context)
    }

    private func writeAnswers() {
        guard self.unwrittenAnswers > 0 else { return }
        let (bytes, count) = (self.unwrittenBytes, self.unwrittenAnswers)
        self.unwrittenBytes = ByteBuffer()
        self.unwrittenAnswers = 0
        self.writeNow([bytes], flushesAtOnce: false)?.assumeIsolated().whenComplete { _ in
            self.answers -= count
            if self.answers <= Self.maximumAnswers / 2 { self.setReading(paused: false, .answers) }
        }
    }

    /// Creates a message to be sent.
    ///
    /// - Throws: `FramedError` when the message is invalid or the connection is closed.
    func message(_ header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard case .running = self.phase else { throw FramedError(.closed, message: "the connection is closed") }
        return try self.session.message(header: header, bodyLength: bodyLength)
    }

    var isReadingPaused: Bool { !self.pauses.isEmpty }

    func setReading(paused: Bool, _ reason: Pauses) {
        let before = self.isReadingPaused
        if paused { self.pauses.formUnion(reason) } else { self.pauses.subtract(reason) }
        guard self.isReadingPaused != before, let context = self.context else { return }
        self.liveness?.reading(isPaused: paused, at: self.now)
        // Fails only when the channel is closed, and then there is nothing to read.
        try? context.channel.syncOptions?.setOption(.autoRead, value: !paused)
    }

    /// Sets the number of reads per turn, which determines the number of read buffers. A large file
    /// needs more buffers: those that wait for the disk cannot be reused, and the system has to
    /// clear new memory.
    func setUsesManyReadBuffers(_ readsMuch: Bool) {
        guard let options = self.context?.channel.syncOptions, !self.isBehindTLS else { return }  // TLS releases its buffers immediately
        try? options.setOption(.maxMessagesPerRead, value: readsMuch ? Self.fileReads : Self.defaultReads)
    }

    /// Whether a NIOSSL handler decrypts the received bytes.
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
        // A large write progresses gradually and completes only at its end, so count the queued
        // bytes.
        let waiting = self.writes > 0 ? (try? self.context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 : 0
        if self.writes > 0, waiting < self.waitingBytes { self.liveness?.took(isWaiting: true, at: self.now) }
        self.waitingBytes = waiting
        switch self.liveness?.ticked(canPing: self.session.speaksVersion2 && self.session.isOpen, at: self.now) {
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
        case .closing, .ended: break
        }
    }

    // MARK: Closing

    /// Fails the connection because of a local error. The peer receives the error if possible.
    func fail(_ error: FramedError) {
        switch self.phase {
        case .waiting: self.close(because: error)
        case .running: self.perform(self.session.failed(error))
        case .closing, .ended: break
        }
    }

    /// Sends a bye frame after all queued bytes, and waits for the bye frame of the peer. The
    /// second call, when that frame has arrived, closes the connection.
    func sendBye() {
        guard case .running = self.phase else { return self.cut() }
        self.startCloseTimer()
        // The fixed mode has no bye frame; closing the transport has the same meaning.
        let bye = self.hasSentBye ? [] : self.session.bye()
        let isLast = self.hasReceivedBye || !self.session.speaksVersion2 || !self.session.isOpen
        self.hasSentBye = true
        let written = self.write(bye.isEmpty ? [ByteBuffer()] : bye)
        guard isLast else { return }
        self.phase = .closing
        written?.assumeIsolated().whenComplete { _ in self.cut() }
    }

    /// Closes after an error of the session. In version 2 the transport stays open at first, so
    /// that the peer can read the error frame: closing it immediately could discard the frame.
    private func close(because error: FramedError) {
        switch self.phase {
        case .closing, .ended: return
        case .waiting, .running: break
        }
        self.failure = error
        self.pending = nil
        let isPeerNotified = self.session.speaksVersion2 && error.code != .peerFailed
        self.phase = .closing
        // A peer that does not read will not receive the error frame either.
        guard isPeerNotified, self.writes == 0, self.context?.channel.isActive == true else { return self.cut() }
        self.setReading(paused: false, [.inbox, .answers, .disk])
        self.startCloseTimer()
        self.connection?.handlerFailed(error)
    }

    func startCloseTimer() {
        guard self.closeTimer == nil, let context = self.context else { return }
        self.closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.configuration.closeTimeout)) { self.cut() }
    }

    /// Closes the transport immediately.
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
        self.liveness = nil
        self.pending = nil
        self.waitingPong = nil
        let connection = self.connection.take()
        connection?.handlerEnded(self.failure)
    }
}

@available(*, unavailable)
extension FramedHandler: Sendable {}
