import ApusBytes
import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOHTTP1

extension EngineIOHTTPHandler {
    // MARK: Reading

    func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard let request = HTTPRequest(head, isSecure: self.isSecure) else { return context.close(promise: nil) }
        let configuration = self.server.configuration
        self.startDeadline(configuration.requestTimeout, context)
        let (parsed, verdict) = configuration.judge(request)
        let responder = EngineIOResponder(
            handler: self, request: request, server: self.server, corsFields: configuration.cors.fields(for: request, verdict),
            eventLoop: context.eventLoop)
        let keepAlive = !WebSocketHandshake.fields(request.headerFields, .connection, contain: "close")
        var exchange = EngineIOExchange(request: request, parsed: parsed, responder: responder, keepAlive: keepAlive)
        if let length = request.headerFields[.contentLength].flatMap({ Int(digits: $0) }), length > configuration.maximumPayloadBytes {
            return self.refuseTooLarge(exchange)
        }
        if case .success(.post(let sid)) = parsed, let session = try? self.server.session(sid) {
            guard session.beginPost() else {
                self.refuseEarly(exchange)
                return session.eventLoop.runOnLoop { session.receivedOverlappingPost(responder) }
            }
            exchange.post = session
        }
        self.exchange = exchange
    }

    func receivedBody(_ bytes: ByteBuffer) {
        guard let length = self.exchange?.body.readableBytes else { return }
        guard length + bytes.readableBytes <= self.server.configuration.maximumPayloadBytes else {
            return self.exchange.take().map(self.refuseTooLarge) ?? ()
        }
        self.exchange?.body.writeImmutableBuffer(bytes)
    }

    private func refuseTooLarge(_ exchange: EngineIOExchange) {
        self.refuseEarly(exchange)
        exchange.responder.refuse(
            EngineIOError(
                .payloadTooLarge, message: "the body exceeds \(self.server.configuration.maximumPayloadBytes) bytes (`maximumPayloadBytes`)"
            ),
            close: true)
        guard let session = exchange.post else { return }
        session.endPost()
        session.eventLoop.runOnLoop { session.close(.parseError) }
    }

    /// Refuses a request before it is complete. The connection closes, since it cannot be reused.
    private func refuseEarly(_ exchange: EngineIOExchange) {
        var exchange = exchange
        exchange.keepAlive = false
        exchange.phase = .answering
        self.exchange = exchange
        self.machine.refusedEarly()
    }

    /// Handles the close of the connection during a request.
    func abandonExchange() {
        guard let exchange = self.exchange.take() else { return }
        switch (exchange.phase, exchange.parsed) {
        case (.reading, _): exchange.post?.endPost()
        case (.answering, .success(.poll(let sid))):
            guard let session = try? self.server.session(sid) else { return }
            session.eventLoop.runOnLoop { session.pollConnectionClosed(exchange.responder) }
        case (.answering, _): break
        }
    }

    // MARK: Answering

    func dispatch(_ context: ChannelHandlerContext) {
        self.stopDeadline()
        guard let exchange = self.exchange else { return }
        self.exchange?.phase = .answering
        self.exchange?.body = ByteBuffer()
        self.countUnfinished(context)
        let responder = exchange.responder
        do throws(EngineIOError) {
            switch try exchange.parsed.get() {
            case .preflight: responder.respondToPreflight()
            case .handshake:
                guard let allowRequest = self.server.configuration.allowRequest else { return try self.open(exchange, context) }
                self.runCheck(allowRequest, exchange, context) { context throws(EngineIOError) in try self.open(exchange, context) }
            case .upgrade: try self.open(exchange, context)
            case .poll(let sid):
                let session = try self.server.session(sid)
                session.eventLoop.runOnLoop { session.receivedPoll(responder) }
            case .post(let sid):
                let session = try self.server.session(sid)
                let isBinary = EngineIOPayload.isBinary(contentType: exchange.request.headerFields[.contentType])
                let payload = EngineIOPayload(bytes: exchange.body, isBinary: isBinary)
                session.eventLoop.runOnLoop { session.receivedPost(payload, responder: responder) }
            }
        } catch {
            self.refuse(exchange, error)
        }
    }

    private func refuse(_ exchange: EngineIOExchange, _ error: EngineIOError) {
        exchange.responder.refuse(error)
        self.server.report(error, to: exchange.request)
    }

    /// Runs the application's check of a handshake.
    private func runCheck(
        _ allowRequest: @escaping @Sendable (HTTPRequest) async throws -> Void, _ exchange: EngineIOExchange,
        _ context: ChannelHandlerContext, then proceed: @escaping (ChannelHandlerContext) throws(EngineIOError) -> Void
    ) {
        self.startDeadline(self.server.configuration.requestTimeout, context)
        let request = exchange.request
        let decided = NIOLoopBound(
            { (refusal: EngineIOError?) in
                // The client disconnected, or the deadline expired.
                guard let context = self.context, self.exchange?.responder === exchange.responder else { return }
                self.stopDeadline()
                self.check = nil
                self.releaseRead(context)
                if let refusal { return self.refuse(exchange, refusal) }
                do throws(EngineIOError) { try proceed(context) } catch { self.refuse(exchange, error) }
            }, eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        // Each handshake starts one task, which the deadline or the close of the connection
        // cancels.
        self.check = Task {
            var refusal: EngineIOError?
            do { try await allowRequest(request) } catch {
                refusal = error as? EngineIOError ?? EngineIOError(.forbidden, message: "Forbidden", cause: error)
            }
            eventLoop.execute { [refusal] in decided.value(refusal) }
        }
    }

    /// Opens a session over polling, or accepts a WebSocket that opens or upgrades a session.
    private func open(_ exchange: EngineIOExchange, _ context: ChannelHandlerContext) throws(EngineIOError) {
        let parsed = try exchange.parsed.get()
        switch parsed {
        case .handshake(.polling, let version):
            let session = try self.server.open(
                .polling, version: version, request: exchange.request, remoteAddress: context.remoteAddress, on: context.eventLoop)
            session.respondWithOpenPacket(exchange.responder)
        case .handshake(.webSocket, _), .upgrade:
            let accepted = try self.server.acceptWebSocket(
                of: exchange.request, parsed, from: context.remoteAddress, on: context.eventLoop)
            guard let accepted else { throw EngineIOError(.badRequest, message: "Bad request") }
            self.upgrade(accepted, context)
        case .poll, .post, .preflight: throw EngineIOError(.badRequest, message: "Bad request")
        }
    }

    private func upgrade(_ webSocket: AcceptedWebSocket, _ context: ChannelHandlerContext) {
        let response = HTTPResponse(status: .switchingProtocols, headerFields: webSocket.fields)
        context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.machine.finish()
        self.exchange = nil
        let pipeline = context.pipeline.syncOperations
        WebSocketServerUpgrade.replaceHTTPHandlers(in: pipeline, removing: self, with: webSocket.handler)
        // If requests are passed on, the pipeline belongs to a web framework.
        if self.isAlone, self.passing == nil {
            NotFoundHandler.remove(from: pipeline)
            if !self.isSecure { webSocket.handler.shareReceiveBuffer() }
        }
        webSocket.begin()
    }
}
