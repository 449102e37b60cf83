import NIOCore
import NIOHTTP1

/// Answers what is no HTTP/1.1, and what is too much of it, when the server stands on NIO alone.
///
/// Sits between the decoder and the codec. After its answer the rest of the peer's bytes is read and thrown away for a moment: a close
/// with bytes unread is a reset, and a reset can destroy the answer before it is read.
///
/// Confined to the channel's event loop.
final class WebSocketHTTPGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long what is still on its way is thrown away.
    private static let lingering = TimeAmount.seconds(1)

    /// The answer is written: nothing more is read, and the connection closes when its peer has had time to read it.
    struct LingeringClose: Sendable {}

    private var answerHasBegun = false
    private var isEnding = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isEnding else { return }
        // RFC 6455 4.2.1: "The HTTP version MUST be at least 1.1"
        if case .head(let head) = self.unwrapInboundIn(data), head.version != .http1_1 {
            return self.refuse(.httpVersionNotSupported, context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !self.isEnding else { return }  // the decoder complains about every later read as well
        switch error {
        case HTTPParserError.headerOverflow: self.refuse(.requestHeaderFieldsTooLarge, context)
        case is HTTPParserError: self.refuse(.badRequest, context)
        default: context.fireErrorCaught(error)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.answerHasBegun = true
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is LingeringClose else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
        self.close(context)
    }

    private func refuse(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        guard !self.answerHasBegun else {
            self.isEnding = true
            return context.close(promise: nil)
        }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["Connection": "close", "Content-Length": "0"])
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.close(context)
    }

    private func close(_ context: ChannelHandlerContext) {
        guard !self.isEnding else { return }
        self.isEnding = true
        let channel = context.channel
        let halfClosed = context.eventLoop.makePromise(of: Void.self)
        halfClosed.futureResult.whenFailure { _ in channel.close(promise: nil) }  // a transport without halves
        context.close(mode: .output, promise: halfClosed)
        context.eventLoop.scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
    }
}

@available(*, unavailable)
extension WebSocketHTTPGuard: Sendable {}
