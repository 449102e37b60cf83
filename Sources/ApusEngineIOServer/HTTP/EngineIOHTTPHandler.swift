import ApusConnectivity
import ApusEngineIOProtocol
package import ApusEventLoop
import ApusWebSocket
import HTTPTypes
import Logging
package import NIOCore
package import NIOHTTP1

/// Answers the requests under the server's path, one at a time, and passes other requests on.
///
/// Placed after an HTTP codec and before the handlers of other requests: in a plain NIO pipeline or
/// in the pipeline of a Hummingbird server.
package final class EngineIOHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler, EventLoopTimerOwner {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    let server: EngineIOServer
    /// Whether the connection uses TLS.
    let isSecure: Bool
    /// The deadline of the first request, if it is already running.
    private let firstDeadline: NIODeadline?
    /// Whether this handler enforces all deadlines of the connection, the idle time between
    /// requests included.
    let isAlone: Bool
    let passing: PassThroughTimeouts?
    var context: ChannelHandlerContext?
    var machine = EngineIOHTTPStateMachine()
    /// The request that is being read or answered.
    var exchange: EngineIOExchange?
    /// The application's check of a handshake, while it runs.
    var check: Task<Void, Never>?
    private var readIsHeld = false
    /// The deadline of the current request, which received bytes do not extend.
    private var deadline = EventLoopTimer()
    private var timers: EventLoopTimers?
    /// The account of incomplete bodies and pipelined requests in the server's budget.
    private var unfinished = ByteAccount()
    /// The account of unread responses in the server's budget, including responses of other
    /// handlers.
    private var queued = ByteAccount()

    init(
        server: EngineIOServer, isSecure: Bool, isAlone: Bool, passing: PassThroughTimeouts? = nil, firstDeadline: NIODeadline? = nil
    ) {
        self.server = server
        self.isSecure = isSecure
        self.firstDeadline = firstDeadline
        self.isAlone = isAlone
        self.passing = passing
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.timers = self.server.timers.value(on: context.eventLoop)
        // The first deadline includes the TLS handshake.
        if let firstDeadline {
            self.timers?.set(&self.deadline, at: firstDeadline, for: self, .init(0))
        } else if self.isAlone {
            self.startDeadline(self.server.configuration.requestTimeout, context)
        }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.stopDeadline()
        self.stopCheck()
        self.releaseBudgets()
        self.context = nil
    }

    // MARK: Deadlines

    func startDeadline(_ time: Duration, _ context: ChannelHandlerContext) {
        self.timers?.set(&self.deadline, at: context.eventLoop.now + TimeAmount(time), for: self, .init(0))
    }

    /// Closes the connection after its deadline.
    package func timerFired(_ name: EventLoopTimer.Name) {
        guard let context else { return }
        self.server.logger.debug("Connection closed: the deadline of a request, its response or the next request has passed")
        context.close(promise: nil)
    }

    func stopDeadline() { self.timers?.cancel(&self.deadline) }

    func stopCheck() {
        self.check?.cancel()
        self.check = nil
    }

    /// Starts the deadline by which the response must be sent and the next request must arrive.
    private func waitForNextRequest(_ context: ChannelHandlerContext) {
        if self.isAlone { self.startDeadline(self.server.configuration.keepAliveTimeout, context) }
    }

    /// Starts the deadline of a request for another handler.
    private func startDeadline(ofPassed part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        guard self.isAlone, case .head(let head) = part else { return }
        self.startDeadline(self.passing?.requestTimeout(head) ?? self.server.configuration.requestTimeout, context)
    }

    /// Handles the end of a request for another handler, whose response may already be complete.
    private func passedWhole(_ context: ChannelHandlerContext) {
        if self.machine.isSilent {
            self.stopDeadline()
            self.waitForNextRequest(context)
        } else if let passing = self.passing {
            self.startDeadline(passing.answerTimeout, context)
        } else {
            self.stopDeadline()
        }
    }

    // MARK: In

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let hasRoom = self.machine.receivedPart(self.unwrapInboundIn(data))
        self.proceed(context)
        if !hasRoom { context.close(promise: nil) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        self.countUnfinished(context)
        context.fireChannelReadComplete()
    }

    func countUnfinished(_ context: ChannelHandlerContext) {
        guard self.exchange != nil || self.machine.isPending || !self.unfinished.isEmpty else { return }
        let bytes = (self.exchange?.body.readableBytes ?? 0) + self.machine.pendingBytes
        self.unfinished.set(bytes, in: self.server.budgets.unfinished, for: self) { self.closer(context) }
    }

    /// Continues with requests that waited for a response. Fires `channelReadComplete`, on which
    /// web frameworks rely and which no read causes here.
    private func proceedAfterAnswer(_ context: ChannelHandlerContext) {
        if self.proceed(context) { context.fireChannelReadComplete() }
    }

    /// Returns whether part of a request was passed on.
    @discardableResult private func proceed(_ context: ChannelHandlerContext) -> Bool {
        var hasPassed = false
        while let action = self.machine.nextAction(isOurs: self.isOurs) {
            switch action {
            case .begin(let head): self.begin(head, context)
            case .body(let part): if case .body(let bytes) = part { self.receivedBody(bytes) }
            case .dispatch: self.dispatch(context)
            case .forwardHead(let part):
                self.startDeadline(ofPassed: part, context)
                hasPassed = true
                context.fireChannelRead(self.wrapInboundOut(part))
            case .forward(let part): context.fireChannelRead(self.wrapInboundOut(part))
            case .forwardEnd(let part):
                self.passedWhole(context)
                hasPassed = true
                context.fireChannelRead(self.wrapInboundOut(part))
            case .discard: break
            }
        }
        return hasPassed
    }

    /// Does not read while the application's check runs: bytes after a WebSocket handshake would
    /// only accumulate in the decoder.
    package func read(context: ChannelHandlerContext) {
        if self.check == nil {
            context.read()
        } else {
            self.readIsHeld = true
        }
    }

    func releaseRead(_ context: ChannelHandlerContext) {
        guard self.readIsHeld else { return }
        self.readIsHeld = false
        context.read()
    }

    private func isOurs(_ head: HTTPRequestHead) -> Bool {
        self.server.configuration.covers(HTTPRequestTarget(head.uri).path)
    }

    // MARK: Out

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = self.unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        if self.machine.forwardedAnswered() { self.waitForNextRequest(context) }
        self.proceedAfterAnswer(context)
    }

    /// Writes the response of `responder`. A late response is dropped.
    func write(_ response: HTTPResponse, body: ByteBuffer, for responder: EngineIOResponder) {
        guard let context = self.context, let exchange = self.exchange, exchange.responder === responder,
            self.machine.answered(keepAlive: exchange.keepAlive)
        else { return }
        self.exchange = nil
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
        // RFC 9110 section 9.3.2: a response to HEAD has no content.
        if body.readableBytes > 0, exchange.request.method != .head {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        self.waitForNextRequest(context)
        if exchange.keepAlive {
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            self.proceedAfterAnswer(context)
        } else {
            let channel = context.channel
            context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.countQueue(context)
        context.fireChannelWritabilityChanged()
    }

    package func flush(context: ChannelHandlerContext) {
        context.flush()
        if !self.queued.isEmpty || !context.channel.isWritable { self.countQueue(context) }
    }

    private func countQueue(_ context: ChannelHandlerContext) {
        let bytes = context.channel.isWritable ? 0 : (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        self.queued.set(bytes, in: self.server.budgets.queued, for: self) { self.closer(context) }
    }

    private func releaseBudgets() {
        self.unfinished.set(0, in: self.server.budgets.unfinished, for: self) { {} }
        self.queued.set(0, in: self.server.budgets.queued, for: self) { {} }
    }

    /// Returns a closure that closes the connection, called by a budget that is exceeded.
    private func closer(_ context: ChannelHandlerContext) -> @Sendable () -> Void {
        let channel = context.channel
        // Closes asynchronously: the budget calls the closure while this handler updates its
        // account, and closing would update the account again.
        return { channel.eventLoop.execute { channel.close(promise: nil) } }
    }

    // MARK: End

    package func channelInactive(context: ChannelHandlerContext) {
        self.stopDeadline()
        self.stopCheck()
        self.machine.finish()
        self.releaseBudgets()
        self.abandonExchange()
        context.fireChannelInactive()
    }
}

@available(*, unavailable)
extension EngineIOHTTPHandler: Sendable {}
