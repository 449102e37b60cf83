import ApusConnectivity
import ApusEventLoop
import ApusWebSocketProtocol
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// Answers the WebSocket requests of an HTTP/1 connection and passes all other requests on.
///
/// In the pipeline, it follows an HTTP codec and precedes the handlers of other requests, which may
/// be those of a hummingbird server. Confined to the channel's event loop.
final class WebSocketHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler, EventLoopTimerOwner {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: WebSocketServer
    private let handshake: WebSocketServerHandshake
    /// Whether the connection uses TLS.
    private let isSecure: Bool
    /// The deadline of the handshake; `nil` inside another server, where the deadline starts with
    /// the head of the request.
    private let deadline: NIODeadline?
    private var machine = WebSocketHTTPStateMachine()
    private var context: ChannelHandlerContext?
    private var timer = EventLoopTimer()
    private var timerIsSet = false
    private var check: Task<Void, Never>?
    private var readIsHeld = false

    init(server: WebSocketServer, isSecure: Bool, deadline: NIODeadline? = nil) {
        self.server = server
        self.isSecure = isSecure
        self.handshake = WebSocketServerHandshake(configuration: server.configuration)
        self.deadline = deadline
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if self.deadline != nil { self.startTimer(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.end()
        self.context = nil
    }

    private func end() {
        self.machine.connectionEnded()
        self.stopTimer()
        self.check?.cancel()
        self.check = nil
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard !self.timerIsSet else { return }
        self.timerIsSet = true
        let timers = self.server.timers.value(on: context.eventLoop)
        let deadline = self.deadline ?? timers.now + TimeAmount(self.server.configuration.handshakeTimeout)
        timers.set(&self.timer, at: deadline, for: self, .init(0))
    }

    private func stopTimer() {
        guard self.timerIsSet, let context = self.context else { return }
        self.timerIsSet = false
        self.server.timers.value(on: context.eventLoop).cancel(&self.timer)
    }

    /// Ends the handshake at its deadline.
    func timerFired(_ name: EventLoopTimer.Name) {
        self.timerIsSet = false
        switch self.machine.timerFired() {
        case .refuse:
            self.check?.cancel()
            self.write(
                .unavailable(
                    "The handshake took more than \(self.server.configuration.handshakeTimeout)",
                    retryAfter: self.server.configuration.retryAfter))
        case .close: self.context?.close(promise: nil)
        case .doNothing: break
        }
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            let request = HTTPRequest(head, isSecure: self.isSecure)
            self.perform(self.machine.receivedHead(request.flatMap { self.handshake.isOurs($0) ? $0 : nil }), data, context)
        case .body: self.perform(self.machine.receivedBody(), data, context)
        case .end: self.perform(self.machine.receivedEnd(), data, context)
        }
    }

    private func perform(_ action: WebSocketHTTPStateMachine.Action, _ data: NIOAny?, _ context: ChannelHandlerContext) {
        switch action {
        case .forward: if let data { context.fireChannelRead(data) }
        case .startTimer: self.startTimer(context)
        case .decide(let request, let hasBody): self.decide(request, hasBody: hasBody, context)
        case .doNothing: break
        }
    }

    /// Delays reads during a handshake. The client must not send yet; bytes that it sends remain in
    /// the kernel.
    func read(context: ChannelHandlerContext) {
        if self.machine.pausesReading {
            self.readIsHeld = true
        } else {
            context.read()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end()
        context.fireChannelInactive()
    }

    // MARK: Deciding

    private func decide(_ request: HTTPRequest, hasBody: Bool, _ context: ChannelHandlerContext) {
        do throws(WebSocketUpgradeRefusal) {
            let agreement = try self.handshake.judge(request, hasBody: hasBody)
            let permit = try self.server.admit(request, from: context.remoteAddress)
            guard let shouldUpgrade = self.server.configuration.shouldUpgrade else {
                return self.upgrade(request, agreement, permit)
            }
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            let eventLoop = context.eventLoop
            self.check = Task {
                let refusal: WebSocketUpgradeRefusal?
                do {
                    try await shouldUpgrade(request)
                    refusal = nil
                } catch {
                    refusal =
                        error as? WebSocketUpgradeRefusal ?? WebSocketUpgradeRefusal(.internalServerError, message: "Internal server error")
                }
                eventLoop.execute { handler.value.checked(refusal, request, agreement, permit) }
            }
        } catch {
            self.refuse(error)
        }
    }

    private func checked(
        _ refusal: WebSocketUpgradeRefusal?, _ request: HTTPRequest, _ agreement: WebSocketServerHandshake.Agreement,
        _ permit: AdmissionPermit
    ) {
        self.check = nil
        if let refusal {
            permit.release()
            self.refuse(refusal)
        } else {
            self.upgrade(request, agreement, permit)
        }
    }

    private func refuse(_ refusal: WebSocketUpgradeRefusal) {
        guard self.machine.decided() else { return }
        self.write(refusal)
    }

    private func write(_ refusal: WebSocketUpgradeRefusal) {
        guard let context = self.context else { return }
        self.server.logger.debug("WebSocket refused", metadata: ["http.status": "\(refusal.status.code)"])
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(refusal.response))), promise: nil)
        context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: refusal.message)))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    private func upgrade(_ request: HTTPRequest, _ agreement: WebSocketServerHandshake.Agreement, _ permit: AdmissionPermit) {
        guard self.machine.decided(), let context = self.context else {
            return permit.release()  // the deadline has passed, or the client has disconnected
        }
        self.stopTimer()
        do throws(WebSocketUpgradeRefusal) {
            try self.server.beginOpening()
        } catch {
            permit.release()
            return self.write(error)
        }
        let response = HTTPResponse(status: .switchingProtocols, headerFields: agreement.fields)
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        if self.readIsHeld { context.read() }
        self.server.open(request, agreement, permit, on: context.channel) { handler in
            WebSocketServerUpgrade.replaceHTTPHandlers(in: context.pipeline.syncOperations, removing: self, with: handler)
            // Without TLS, the handler is the first one of the pipeline.
            if self.deadline != nil, !self.isSecure { handler.shareReceiveBuffer() }
        }
    }

    // MARK: Out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = self.unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { self.perform(self.machine.answered(), nil, context) }
    }
}

@available(*, unavailable)
extension WebSocketHTTPHandler: Sendable {}
