import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL

/// The server of `apus ws --listen`: every message comes back to who sent it, on any path.
struct WebSocketEchoServer {
    var address: WebSocketListenAddress
    var tls: NIOSSLContext?
    var limits: WebSocketLimits

    /// Listens until the task is cancelled.
    func run(onListening: @Sendable (SocketAddress) -> Void) async throws {
        let tls = self.tls
        let limits = self.limits
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
                    try pipeline.addHandler(EchoUpgradeHandler(limits: limits))
                }
            }
        let listener =
            switch self.address {
            case .tcp(let host, let port): try await bootstrap.bind(host: host, port: port).get()
            case .unix(let path): try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        if let address = listener.localAddress { onListening(address) }
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
    }
}

/// Waits for the request and becomes a WebSocket.
private final class EchoUpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let limits: WebSocketLimits
    private var request: HTTPRequest?

    init(limits: WebSocketLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let request): self.request = request
        case .body: break
        case .end:
            guard let request = self.request.take() else { return }
            do throws(WebSocketError) {
                let fields = try WebSocketServerUpgrade.respond(to: request)
                context.write(self.wrapOutboundOut(.head(HTTPResponse(status: .switchingProtocols, headerFields: fields))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
                WebSocketServerUpgrade.replaceHTTPHandlers(
                    in: context.pipeline.syncOperations, removing: self,
                    with: WebSocketHandler(role: .server, limits: self.limits, delegate: EchoDelegate()))
            } catch {
                let channel = context.channel
                context.write(
                    self.wrapOutboundOut(.head(HTTPResponse(status: .badRequest, headerFields: [.contentLength: "0"]))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Sends back what came, and reads no more than the peer takes.
final class EchoDelegate: WebSocketHandlerDelegate {
    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) { handler.send(message) }
    func webSocketReadComplete(_ handler: WebSocketHandler) {}
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        handler.channel?.setOption(.autoRead, value: isWritable).whenFailure { _ in }
    }
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {}
}
