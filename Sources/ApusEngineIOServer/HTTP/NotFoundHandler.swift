import ApusWebSocket
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers with 404 every request that no handler before it has answered.
final class NotFoundHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Removes the handler after an upgrade to WebSocket.
    static func remove(from pipeline: ChannelPipeline.SynchronousOperations) {
        guard let context = try? pipeline.context(handlerType: Self.self) else { return }
        pipeline.removeHandler(context: context, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = self.unwrapInboundIn(data) else { return }
        let body = ByteBuffer(string: "Not found. This server serves Engine.IO only.\n")
        let fields: HTTPFields = [.contentType: "text/plain; charset=UTF-8", .contentLength: String(body.readableBytes)]
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(HTTPResponse(status: .notFound, headerFields: fields)))), promise: nil)
        context.write(self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset or a TLS failure
    }
}
