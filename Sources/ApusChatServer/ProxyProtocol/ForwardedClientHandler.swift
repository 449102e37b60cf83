import ApusConnectivity
import NIOCore
import NIOHTTP1

/// Replaces the HTTP fields that can contain the address of the client with the address from the
/// PROXY header.
final class ForwardedClientHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let client: ProxiedClient

    init(client: ProxiedClient) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = self.unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        head.headers.remove(name: "Forwarded")
        head.headers.remove(name: "X-Forwarded-For")
        if let address = self.client.address { head.headers.add(name: "X-Forwarded-For", value: address.description) }
        context.fireChannelRead(self.wrapInboundOut(.head(head)))
    }
}

@available(*, unavailable)
extension ForwardedClientHandler: Sendable {}
