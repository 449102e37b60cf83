import ApusEngineIOServer
import ApusWebSocket
public import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
public import NIOPosix
public import NIOSSL
import HTTPTypes

extension SocketIOServer {
    /// Listens on its own, without a web framework, until the task is cancelled. Requests outside the path get 404.
    ///
    /// - Parameters:
    ///   - host: The address to listen on, for example `127.0.0.1`.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The TLS context; `nil` (the default) listens in the clear.
    ///   - eventLoopGroup: Where the connections live. Default: the process-wide group, one loop a core.
    ///   - onListening: Called once with the address in use.
    /// - Throws: The system's error when the address cannot be used. Cancellation ends the server and throws nothing.
    public func run(
        host: String, port: Int, tls: NIOSSLContext? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        let listener = try await ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler()) }
            }
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
                    for handler in self.channelHandlers() { try pipeline.addHandler(handler) }
                    try pipeline.addHandler(NotFoundHandler())
                }
            }
            .bind(host: host, port: port).get()
        if let address = listener.localAddress { onListening(address) }
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        await self.shutdown()
    }
}

/// Answers what nobody else did.
private final class NotFoundHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = self.unwrapInboundIn(data) else { return }
        let body = ByteBuffer(string: "Not found. This is a Socket.IO server.\n")
        let fields: HTTPFields = [.contentType: "text/plain; charset=UTF-8", .contentLength: String(body.readableBytes)]
        context.write(self.wrapOutboundOut(.head(HTTPResponse(status: .notFound, headerFields: fields))), promise: nil)
        context.write(self.wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset, a TLS failure: nothing more to say to this peer
    }
}
