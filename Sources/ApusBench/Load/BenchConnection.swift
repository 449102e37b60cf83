import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// A WebSocket client of the load generator.
///
/// After the handshake, this handler precedes the `WebSocketHandler` and passes no bytes on to it.
/// Messages are scanned, not decoded.
final class BenchConnection: ChannelInboundHandler, BenchPeer {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let timeout = Duration.seconds(30)

    private unowned let worker: BenchWorker
    private var ready: EventLoopPromise<Void>?
    private var context: ChannelHandlerContext?
    private var scanner = BenchFrameScanner()
    private var window: BenchWindow
    private var incomplete: ByteBuffer?
    private let messages: BenchMessages
    private let frames: BenchFrames
    /// Whether the next binary message completes an answer.
    private var awaitsAttachment = false
    /// The slot of the message whose answer awaits its attachment; `nil` for the oldest message.
    private var attachmentPlace: Int?
    private var deliveries = 0
    private var answersInRead = 0
    private var deadline: Scheduled<Void>?

    private init(worker: BenchWorker, number: Int, ready: EventLoopPromise<Void>) {
        self.worker = worker
        self.ready = ready
        (self.messages, self.frames, _) = worker.voice(number)
        self.window = BenchWindow(capacity: max(worker.plan.inFlight, 1), isNumbered: worker.messages.isNumbered)
    }

    /// Opens a connection. `ready` succeeds when messages can be sent.
    static func open(for worker: BenchWorker, number: Int, ready: EventLoopPromise<Void>) {
        let plan = worker.plan
        let connection = BenchConnection(worker: worker, number: number, ready: ready)
        connection.deadline = worker.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.timeout)) {
            connection.failed(BenchError("a connection was not ready for messages within \(Self.timeout)"))
        }
        let url: WebSocketURL
        do throws(WebSocketError) { url = try WebSocketURL(plan.url) } catch { return connection.failed(error) }
        var dialer = Dialer(tls: plan.tls)
        dialer.connectTimeout = Self.timeout
        WebSocketClientConnector.attempt(
            url, headers: plan.headers, through: dialer, limits: WebSocketLimits(), timeout: Self.timeout, handshakeTimeout: nil,
            on: worker.eventLoop, makeDelegate: { _ in IgnoringDelegate() }
        ).futureResult.assumeIsolated().whenComplete { result in
            do {
                let handler = try result.get()
                try handler.channel?.pipeline.syncOperations.addHandler(connection, position: .before(handler))
            } catch {
                connection.failed(error)
            }
        }
    }

    private func failed(_ error: any Error) {
        self.deadline?.cancel()
        let ready = self.ready.take()
        ready?.fail(error)
        self.context?.close(promise: nil)
    }

    private func becameReady() {
        guard let ready = self.ready.take() else { return }
        self.deadline?.cancel()
        for join in self.messages.roomJoins { self.write(BenchMessages.frame(join)) }
        self.worker.opened(self)
        ready.succeed()
    }

    // MARK: The load

    func send(_ count: Int, meantFor time: UInt64) -> Int {
        guard let context = self.context else { return 0 }
        // A broadcast occupies no slot: its deliveries are counted.
        if self.worker.isBroadcast {
            context.writeAndFlush(self.wrapOutboundOut(self.frames.several(1)), promise: nil)
            return 1
        }
        var sent = 0
        if self.messages.isNumbered {
            var bytes = ByteBuffer()
            while sent < count, let place = self.window.sent(at: time) {
                self.frames.append(place: place, to: &bytes)
                sent += 1
            }
            if sent > 0 { context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil) }
            return sent
        }
        while sent < count, self.window.sent(at: time) != nil { sent += 1 }
        var rest = sent
        while rest > 0 {
            let part = min(rest, self.frames.batchCount)
            context.write(self.wrapOutboundOut(self.frames.several(part)), promise: nil)
            rest -= part
        }
        if sent > 0 { context.flush() }
        return sent
    }

    func takeUnanswered() -> [UInt64] { self.window.takeUnanswered() }

    func close() {
        guard let context = self.context else { return }
        var frame = ByteBuffer()
        BenchMessages.write(.close, ByteBuffer(integer: UInt16(1000)), into: &frame)
        context.writeAndFlush(self.wrapOutboundOut(frame), promise: nil)
        context.close(promise: nil)
    }

    // MARK: Pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard self.ready != nil else { return context.close(promise: nil) }  // the deadline has passed
        if !self.messages.isSocketIO { self.becameReady() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if var joined = self.incomplete.take() {
            joined.writeImmutableBuffer(bytes)
            bytes = joined
        }
        let now = BenchWorker.now
        let taken = bytes.withUnsafeReadableBytes { bytes in
            self.scanner.scan(bytes) { self.received(opcode: $0, $1, at: now) }
        }
        guard let taken else { return self.failed(BenchError("the server sent an invalid WebSocket frame")) }
        bytes.moveReaderIndex(forwardBy: taken)
        if bytes.readableBytes > 0 { self.incomplete = ByteBuffer(buffer: bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let count = self.answersInRead
        guard count > 0 else { return }
        self.answersInRead = 0
        let now = BenchWorker.now
        if self.worker.isBroadcast { self.worker.deliveriesCounted(at: now) } else { self.worker.answered(count, by: self, at: now) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if self.ready != nil {
            self.failed(BenchError("the server closed a connection before it was ready"))
        } else {
            self.worker.ended(self)
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.failed(error) }

    // MARK: Messages

    private func received(opcode: UInt8, _ bytes: UnsafeRawBufferPointer, at now: UInt64) {
        switch WebSocketOpcode(rawValue: opcode) {
        case .text: self.receivedMessage(self.messages.meaning(ofText: bytes), at: now)
        case .binary:
            if !self.messages.isSocketIO {
                self.answered(place: nil, at: now)
            } else if self.awaitsAttachment {
                self.awaitsAttachment = false
                self.answered(place: self.attachmentPlace, at: now)
            }
        case .ping:
            var pong = ByteBuffer()
            BenchMessages.write(.pong, ByteBuffer(bytes: bytes), into: &pong)
            self.write(pong)
        case .close, .pong, .continuation, nil: break
        }
    }

    private func receivedMessage(_ meaning: BenchMessages.Meaning, at now: UInt64) {
        switch meaning {
        case .answer: self.answered(place: nil, at: now)
        case .answerTo(let place): self.answered(place: place, at: now)
        case .attachmentFollows(let place):
            self.awaitsAttachment = true
            self.attachmentPlace = place
        case .ping: self.write(BenchMessages.frame("3"))
        case .open: self.write(BenchMessages.frame(self.messages.join))
        case .joined: self.becameReady()
        case .refused: self.failed(BenchError("the server refused the namespace"))
        case .nothing: break
        }
    }

    private func answered(place: Int?, at now: UInt64) {
        if self.worker.isBroadcast {
            self.worker.delivered(sequence: self.deliveries, at: now)
            self.deliveries += 1
            self.answersInRead += 1
            return
        }
        let sent: UInt64? = if let place { self.window.answered(place: place) } else { self.window.answered() }
        guard let sent else { return }
        self.worker.record(sent: sent, at: now)
        self.answersInRead += 1
    }

    private func write(_ frame: ByteBuffer) {
        guard let context = self.context else { return }
        context.writeAndFlush(self.wrapOutboundOut(frame), promise: nil)
    }
}

@available(*, unavailable)
extension BenchConnection: Sendable {}

/// A delegate that ignores all events: `BenchConnection` reads the bytes first.
private final class IgnoringDelegate: WebSocketHandlerDelegate {
    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {}
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {}
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {}
}
