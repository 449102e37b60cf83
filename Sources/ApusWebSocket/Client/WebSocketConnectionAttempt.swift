import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOHTTP1

/// One way from an address to an open WebSocket. It ends once: open, failed or late.
///
/// Confined to its event loop.
final class WebSocketConnectionAttempt {
    let promise: EventLoopPromise<WebSocketHandler>
    private let eventLoop: any EventLoop
    private let limits: WebSocketLimits
    private let delegate: any WebSocketHandlerDelegate
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private(set) var hasEnded = false

    init(limits: WebSocketLimits, delegate: any WebSocketHandlerDelegate, eventLoop: any EventLoop) {
        self.limits = limits
        self.delegate = delegate
        self.eventLoop = eventLoop
        self.promise = eventLoop.makePromise()
    }

    func startTimer(_ timeout: Duration) {
        self.timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.fail(WebSocketError(.timeout, message: "no WebSocket within \(timeout)"))
        }
    }

    func fail(_ error: WebSocketError) {
        guard !self.hasEnded else { return }
        self.end()
        self.channel?.close(promise: nil)
        self.promise.fail(error)
    }

    private func end() {
        self.hasEnded = true
        self.timer?.cancel()
        self.timer = nil
    }

    // MARK: Steps

    func connected(_ result: Result<any Channel, any Error>, request: HTTPRequest, security: WebSocketClientTLS?) {
        let channel: any Channel
        switch result {
        case .success(let connected): channel = connected
        case .failure(let error):
            let code: WebSocketError.Code = if case ChannelError.connectTimeout = error { .timeout } else { .transport }
            return self.fail(WebSocketError(code, message: "no connection", cause: error))
        }
        guard !self.hasEnded else {
            channel.close(promise: nil)  // the deadline was faster
            return
        }
        self.channel = channel
        do {
            let pipeline = channel.pipeline.syncOperations
            if let security {
                try pipeline.addHandler(security.makeHandler())
            }
            try pipeline.addHandler(HTTPRequestEncoder())
            try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes)))
            try pipeline.addHandler(WebSocketClientHandshakeHandler(attempt: self, request: request))
        } catch {
            self.fail(WebSocketError(.transport, message: "the connection ended or TLS could not be set up", cause: error))
        }
    }

    /// The server agreed: HTTP leaves the pipeline, then the WebSocket enters it.
    ///
    /// The decoder leaves in a later turn and hands on what it read too much. It also looks at writes as if they were requests,
    /// so nothing may be sent before it has left: until then a collector keeps the bytes.
    func agreed(in pipeline: ChannelPipeline.SynchronousOperations, handshake: WebSocketClientHandshakeHandler) {
        do {
            let collector = LeftoverCollector(attempt: self)
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self)
            try pipeline.addHandler(collector, position: .after(decoder.handler))
            pipeline.removeHandler(handshake, promise: nil)
            pipeline.removeHandler(context: encoder, promise: nil)
            pipeline.removeHandler(context: decoder).assumeIsolated().whenComplete { _ in
                self.open(in: pipeline, collector: collector)
            }
        } catch {
            self.fail(WebSocketError(.transport, message: "the connection ended", cause: error))
        }
    }

    private func open(in pipeline: ChannelPipeline.SynchronousOperations, collector: LeftoverCollector) {
        guard !self.hasEnded else { return }
        let handler = WebSocketHandler(role: .client, limits: self.limits, delegate: self.delegate)
        do {
            try pipeline.addHandler(handler, position: .after(collector))
        } catch {
            return self.fail(WebSocketError(.transport, message: "the connection ended", cause: error))
        }
        self.end()
        self.promise.assumeIsolated().succeed(handler)
        pipeline.removeHandler(collector, promise: nil)
        handler.leftoverBytesPassed()
    }
}

/// Keeps the first bytes of the WebSocket until its handler is there.
final class LeftoverCollector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let attempt: WebSocketConnectionAttempt
    private var buffers: [ByteBuffer] = []

    init(attempt: WebSocketConnectionAttempt) {
        self.attempt = attempt
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.buffers.append(self.unwrapInboundIn(data))
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        for buffer in self.buffers {
            context.fireChannelRead(NIOAny(buffer))
        }
        self.buffers = []
        context.leavePipeline(removalToken: removalToken)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.attempt.fail(WebSocketError(.connectionLost, message: "the transport ended right after the handshake"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.attempt.fail(WebSocketError(.transport, message: "the transport failed", cause: error))
        context.fireErrorCaught(error)
    }
}
