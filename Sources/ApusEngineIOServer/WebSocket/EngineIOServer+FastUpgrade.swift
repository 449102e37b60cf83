import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
package import ApusWebSocket
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1

extension EngineIOServer: FastUpgradeHost {
    package var handshakeLimits: WebSocketLimits { WebSocketLimits() }

    package func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool {
        guard self.configuration.allowRequest == nil, self.configuration.covers(request.path),
            let wish = try? self.configuration.judge(request).parsed.get(), let agreement = try? self.agree(on: request)
        else { return false }
        let session: EngineIOSession
        let isNew: Bool
        switch wish {
        case .handshake(.webSocket, let version):
            let opened = try? self.open(
                .webSocket, version: version, request: request, remoteAddress: channel.remoteAddress, on: channel.eventLoop)
            guard let opened else { return false }
            (session, isNew) = (opened, true)
        case .upgrade(let sid):
            guard let present = try? self.session(sid) else { return false }
            (session, isNew) = (present, false)
        case .handshake(.polling, _), .poll, .post, .preflight: return false
        }
        let (transport, handler) = self.makeWebSocket(agreement, of: session, on: channel.eventLoop)
        upgradeHandler.acceptUpgrade(handler, answering: self.fields(of: agreement, for: request, beginning: isNew ? session.id : nil))
        session.eventLoop.runOnLoop { if isNew { session.opened(on: transport) } else { session.probeOpened(transport) } }
        return true
    }

    package func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws {
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder()),
            HTTPRequestGuard(isAlone: true, logger: self.logger),
            self.makeHTTPHandler(isSecure: isSecure, isAlone: true, firstDeadline: deadline),
            NotFoundHandler(),
        ])
    }
}

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
