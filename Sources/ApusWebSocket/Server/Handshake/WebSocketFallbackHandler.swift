import ApusBytes
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers all requests that are not WebSocket requests, in a server without a web framework.
final class WebSocketFallbackHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let path: String?
    private var hasAnswered = false

    init(path: String?) {
        self.path = path
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Answer immediately, without waiting for a body. The connection closes.
        guard case .head(let head) = self.unwrapInboundIn(data), !self.hasAnswered else { return }
        self.hasAnswered = true
        let path = HTTPRequestTarget(head.uri).path.split(atByte: "?").first ?? ""
        let isOurPath = self.path.map { $0.hasSameBytes(as: path) } ?? true
        let refusal =
            isOurPath
            // RFC 9110 section 15.5.22: "The server MUST send an Upgrade header field in a 426
            // response"
            ? WebSocketUpgradeRefusal(
                .upgradeRequired, message: "This server accepts WebSocket requests only.\n", headerFields: [.upgrade: "websocket"])
            : WebSocketUpgradeRefusal(.notFound, message: "Not found. This server accepts WebSocket requests only.\n")
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(refusal.response))), promise: nil)
        if head.method != .HEAD {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: refusal.message)))), promise: nil)
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset or a TLS failure
    }
}

@available(*, unavailable)
extension WebSocketFallbackHandler: Sendable {}
