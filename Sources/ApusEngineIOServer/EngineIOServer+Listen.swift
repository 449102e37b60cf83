import ApusEngineIOProtocol
import ApusConnectivity
import ApusWebSocket
import HTTPTypes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
package import NIOSSL

extension EngineIOServer {
    /// Listens on its own until the task is cancelled, then shuts down. Requests outside the path get 404.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The TLS context; `nil` listens in the clear.
    ///   - eventLoopGroup: Where the connections live.
    ///   - onListening: Called once with the address in use.
    /// - Throws: The system's error when the address cannot be used, `invalidConfiguration`. Cancellation throws nothing.
    package func listen(
        host: String, port: Int, tls: NIOSSLContext?, on eventLoopGroup: any EventLoopGroup, onListening: @Sendable (SocketAddress) -> Void
    ) async throws {
        try self.configuration.validate()
        try await Listener.run(on: .host(host, port: port), eventLoopGroup, onListening: onListening) { channel in
            guard self.admit(channel) else { throw EngineIOError(.unavailable, message: "Too many connections") }
            if tls == nil { WebSocketBuffers.receiveHandshake(on: channel) }
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            try pipeline.addHandler(self.makeHTTPHandler(isAlone: true))
            try pipeline.addHandler(NotFoundHandler())
        }
        await self.shutdown()
    }
}

/// Answers what nobody else did.
final class NotFoundHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    /// There is no HTTP any more.
    static func leave(_ pipeline: ChannelPipeline.SynchronousOperations) {
        guard let context = try? pipeline.context(handlerType: Self.self) else { return }
        pipeline.removeHandler(context: context, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = self.unwrapInboundIn(data) else { return }
        let body = ByteBuffer(string: "Not found. Nothing but an Engine.IO server is here.\n")
        let fields: HTTPFields = [.contentType: "text/plain; charset=UTF-8", .contentLength: String(body.readableBytes)]
        context.write(self.wrapOutboundOut(.head(HTTPResponse(status: .notFound, headerFields: fields))), promise: nil)
        context.write(self.wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)  // a reset, a TLS failure: nothing more to say to this peer
    }
}
