package import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import DequeModule
package import HTTPTypes
import Logging
package import NIOCore
package import NIOHTTPTypes

/// Answers the requests under the server's path, one after the other, and passes every other request on.
///
/// It stands between an HTTP codec and whoever serves the rest, so it works on NIO alone and inside a hummingbird server.
package final class EngineIOHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private enum State {
        /// Between requests.
        case idle
        /// Reading one of ours. Leaves to `answering` (end) or `refused` (too large).
        case reading(Incoming)
        /// The request is read, its answer is not written. Leaves to `idle`.
        case answering(EngineIOResponder, request: EngineIORequest?, keepAlive: Bool)
        /// Parts of a request that is somebody else's. Leaves to `idle` with its end.
        case forwarding
        /// Nothing more is read: the connection closes, or has become a WebSocket.
        case finished
    }

    private struct Incoming {
        let request: HTTPRequest
        var parsed: Result<EngineIORequest, EngineIOError>
        let responder: EngineIOResponder
        var body = ByteBuffer()
        var post: EngineIOSession?
    }

    private let server: EngineIOServer
    /// Whether nobody else watches the connection: then it is also closed when it is silent between requests.
    private let isAlone: Bool
    private var context: ChannelHandlerContext?
    private var state = State.idle
    /// Ends a connection whose request does not come whole in time. No byte of the peer prolongs it.
    private var deadline: Scheduled<Void>?
    /// Requests passed on whose answers have not come by yet. Ours wait for them: answers keep the order of the requests.
    private var foreignInFlight = 0
    /// Parts that arrived while an earlier request was unanswered. A client that pipelines more than this is cut off.
    private var pending = Deque<HTTPRequestPart>()
    private static let maximumPendingParts = 64

    init(server: EngineIOServer, isAlone: Bool) {
        self.server = server
        self.isAlone = isAlone
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // The handshake of TLS counts as well.
        if self.isAlone { self.startDeadline(self.server.configuration.requestTimeout, context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.stopDeadline()
        self.context = nil
    }

    // MARK: Deadlines

    private func startDeadline(_ time: Duration, _ context: ChannelHandlerContext) {
        self.deadline?.cancel()
        self.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.server.logger.debug("Closing a connection whose request did not come")
            context.close(promise: nil)
        }
    }

    private func stopDeadline() {
        self.deadline?.cancel()
        self.deadline = nil
    }

    /// The last answer is out; the next request may take its time, but not for ever.
    private func waitForNextRequest(_ context: ChannelHandlerContext) {
        if self.isAlone { self.startDeadline(self.server.configuration.keepAliveTimeout, context) }
    }

    // MARK: In

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.pending.append(self.unwrapInboundIn(data))
        self.drainPending(context)
        if self.pending.count > Self.maximumPendingParts { context.close(promise: nil) }
    }

    private func drainPending(_ context: ChannelHandlerContext) {
        while let part = self.pending.first, self.isReady(for: part) {
            self.pending.removeFirst()
            self.process(part, context)
        }
    }

    private func isReady(for part: HTTPRequestPart) -> Bool {
        switch self.state {
        case .idle:
            guard case .head(let request) = part, self.isOurs(request) else { return true }
            return self.foreignInFlight == 0
        case .reading, .forwarding, .finished: return true
        case .answering: return false
        }
    }

    private func process(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (self.state, part) {
        case (.idle, .head(let request)) where self.isOurs(request): self.begin(request, context)
        case (.idle, .head):
            if self.isAlone { self.startDeadline(self.server.configuration.requestTimeout, context) }
            self.state = .forwarding
            self.foreignInFlight += 1
            context.fireChannelRead(self.wrapInboundOut(part))
        case (.forwarding, .end):
            self.stopDeadline()
            self.state = .idle
            context.fireChannelRead(self.wrapInboundOut(part))
        case (.forwarding, _): context.fireChannelRead(self.wrapInboundOut(part))
        case (.reading(var incoming), .body(var bytes)):
            self.state = .idle
            guard incoming.body.readableBytes + bytes.readableBytes <= self.server.configuration.maximumPayloadBytes else {
                return self.refuseTooLarge(incoming)
            }
            incoming.body.writeBuffer(&bytes)
            self.state = .reading(incoming)
        case (.reading(let incoming), .end): self.dispatch(incoming, context)
        case (.idle, _), (.reading, .head), (.answering, _), (.finished, _): break  // the codec sends no such thing; the rest is discarded
        }
    }

    private func isOurs(_ request: HTTPRequest) -> Bool {
        guard let path = request.path?.prefix(while: { $0 != "?" }) else { return false }
        // The reference answers with and without the last slash.
        return path == self.server.configuration.path || path == self.server.configuration.path.dropLast()
    }

    private func begin(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        self.startDeadline(self.server.configuration.requestTimeout, context)
        let verdict = self.server.configuration.origins.judge(origin: request.headerFields[.origin], authority: request.authority)
        let responder = EngineIOResponder(handler: self, corsFields: verdict.fields(for: request), eventLoop: context.eventLoop)
        var incoming = Incoming(request: request, parsed: self.parse(request, verdict), responder: responder)
        if let length = request.headerFields[.contentLength].flatMap(Int.init), length > self.server.configuration.maximumPayloadBytes {
            return self.refuseTooLarge(incoming)
        }
        if case .success(.post(let sid)) = incoming.parsed, let session = try? self.server.session(sid) {
            if session.beginPost() {
                incoming.post = session
            } else {
                self.state = .answering(responder, request: nil, keepAlive: false)
                return session.eventLoop.runOnLoop { session.receivedOverlappingPost(responder) }
            }
        }
        self.state = .reading(incoming)
    }

    private func parse(_ request: HTTPRequest, _ verdict: OriginPolicy.Verdict) -> Result<EngineIORequest, EngineIOError> {
        guard verdict != .refused else { return .failure(EngineIOError(.forbidden, message: "Origin not allowed")) }
        let query = request.query
        do throws(EngineIOError) {
            return .success(
                try EngineIORequest(
                    method: request.method.rawValue, query: query,
                    isWebSocketUpgrade: request.headerFields[.upgrade]?.lowercased() == "websocket",
                    transports: self.server.configuration.transports, allowsV3: self.server.configuration.allowsEngineIO3))
        } catch { return .failure(error) }
    }

    private func refuseTooLarge(_ incoming: Incoming) {
        self.state = .answering(incoming.responder, request: nil, keepAlive: false)
        incoming.responder.refuse(EngineIOError(.payloadTooLarge, message: "Payload too large"), close: true)
        if let session = incoming.post {
            session.endPost()
            session.eventLoop.runOnLoop { session.close(.parseError) }
        }
    }

    private func dispatch(_ incoming: Incoming, _ context: ChannelHandlerContext) {
        self.stopDeadline()
        let responder = incoming.responder
        let keepAlive = incoming.request.headerFields[.connection]?.lowercased() != "close"
        self.state = .answering(responder, request: try? incoming.parsed.get(), keepAlive: keepAlive)
        do throws(EngineIOError) {
            switch try incoming.parsed.get() {
            case .preflight: responder.respondToPreflight()
            case .handshake(.polling, let version):
                let session = try self.server.open(
                    .polling, version: version, request: incoming.request, remoteAddress: context.remoteAddress, on: context.eventLoop)
                session.respondWithOpenPacket(responder)
            case .handshake(.webSocket, let version):
                try self.upgrade(incoming.request, context, then: { $0.opened(on: $1) }) { () throws(EngineIOError) in
                    try self.server.open(
                        .webSocket, version: version, request: incoming.request, remoteAddress: context.remoteAddress, on: context.eventLoop
                    )
                }
            case .upgrade(let sid):
                let session = try self.server.session(sid)
                try self.upgrade(incoming.request, context, then: { $0.probeOpened($1) }) { () throws(EngineIOError) in session }
            case .poll(let sid):
                let session = try self.server.session(sid)
                session.eventLoop.runOnLoop { session.receivedPoll(responder) }
            case .post(let sid):
                let session = try self.server.session(sid)
                session.eventLoop.runOnLoop {
                    session.endPost()
                    let isBinary = EngineIOPayload.isBinary(contentType: incoming.request.headerFields[.contentType])
                    session.receivedPost(EngineIOPayload(bytes: incoming.body, isBinary: isBinary), responder: responder)
                }
            }
        } catch {
            responder.refuse(error)
        }
    }

    // MARK: Upgrade

    private func upgrade(
        _ request: HTTPRequest, _ context: ChannelHandlerContext,
        then greet: @escaping @Sendable (EngineIOSession, EngineIOWebSocketTransport) -> Void,
        session findSession: () throws(EngineIOError) -> EngineIOSession
    ) throws(EngineIOError) {
        let fields: HTTPFields
        do { fields = try WebSocketServerUpgrade.respond(to: request) } catch {
            throw EngineIOError(.badRequest, message: "Bad request", cause: error)
        }
        let transport = EngineIOWebSocketTransport(eventLoop: context.eventLoop)
        let session = try findSession()
        context.write(self.wrapOutboundOut(.head(HTTPResponse(status: .switchingProtocols, headerFields: fields))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.state = .finished
        let handler = WebSocketHandler(
            role: .server, limits: .init(maximumMessageBytes: self.server.configuration.maximumPayloadBytes), delegate: transport)
        transport.attach(handler, session: session)
        WebSocketServerUpgrade.replaceHTTPHandlers(in: context.pipeline.syncOperations, removing: self, with: handler)
        session.eventLoop.runOnLoop { greet(session, transport) }
    }

    // MARK: Out

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = self.unwrapOutboundIn(data) {
            self.foreignInFlight -= 1
            if self.foreignInFlight == 0, case .idle = self.state { self.waitForNextRequest(context) }
        }
        context.write(data, promise: promise)
        if self.foreignInFlight == 0, !self.pending.isEmpty { self.drainPending(context) }
    }

    /// Writes the answer `responder` gives; an answer that comes too late is dropped.
    func write(_ response: HTTPResponse, body: ByteBuffer, for responder: EngineIOResponder) {
        guard let context = self.context, case .answering(let current, _, let keepAlive) = self.state, current === responder else { return }
        context.write(self.wrapOutboundOut(.head(response)), promise: nil)
        if body.readableBytes > 0 { context.write(self.wrapOutboundOut(.body(body)), promise: nil) }
        if keepAlive {
            self.state = .idle
            self.waitForNextRequest(context)
            context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            self.drainPending(context)
        } else {
            self.state = .finished
            let channel = context.channel
            context.writeAndFlush(self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    // MARK: End

    package func channelInactive(context: ChannelHandlerContext) {
        self.stopDeadline()
        switch exchange(&self.state, with: .finished) {
        case .answering(let responder, .poll(let sid), _):
            if let session = try? self.server.session(sid) {
                session.eventLoop.runOnLoop { session.pollConnectionClosed(responder) }
            }
        case .reading(let incoming): incoming.post?.endPost()
        case .idle, .answering, .forwarding, .finished: break
        }
        context.fireChannelInactive()
    }
}

@available(*, unavailable)
extension EngineIOHTTPHandler: Sendable {}

extension HTTPRequest {
    /// The query of the request's target.
    package var query: QueryString { QueryString(self.path?.split(separator: "?", maxSplits: 1).dropFirst().first ?? "") }
}

extension EventLoop {
    /// Runs `work` now when on this loop, else at its next turn.
    package func runOnLoop(_ work: @escaping @Sendable () -> Void) {
        if self.inEventLoop { work() } else { self.execute(work) }
    }
}

extension OriginPolicy.Verdict {
    fileprivate func fields(for request: HTTPRequest) -> HTTPFields {
        guard case .allowed(let origin?, let credentials) = self else { return [:] }
        var fields: HTTPFields = [.accessControlAllowOrigin: origin]
        if credentials { fields[.accessControlAllowCredentials] = "true" }
        if origin != "*" { fields[.vary] = "Origin" }
        if request.method == .options {
            fields[.accessControlAllowMethods] = "GET, POST, OPTIONS"
            fields[.accessControlAllowHeaders] = request.headerFields[.accessControlRequestHeaders] ?? "Content-Type"
            fields[.accessControlMaxAge] = "600"
        }
        return fields
    }
}
