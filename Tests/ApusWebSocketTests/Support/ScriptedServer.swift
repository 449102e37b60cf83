import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A server on 127.0.0.1 that answers each request according to a script, and records the requests.
final class ScriptedServer: Sendable {
    enum Answer: Sendable {
        /// 101. The closure is called with the connection before its first message.
        case upgrade(subprotocol: String? = nil, @Sendable (WebSocketConnection) -> Void)
        case respond(HTTPResponse, body: String = "")
        /// No response.
        case silence
        /// The transport is closed.
        case hangUp
    }

    typealias Script = @Sendable (_ request: HTTPRequest, _ number: Int) -> Answer

    private struct State {
        var requests: [HTTPRequest] = []
        var channels: [any Channel] = []
    }

    private let state = NIOLockedValueBox(State())
    private let script: Script
    private let listener = NIOLockedValueBox<(any Channel)?>(nil)
    let port: Int

    var requests: [HTTPRequest] { self.state.withLockedValue { $0.requests } }
    var url: String { "ws://127.0.0.1:\(self.port)/" }

    private init(port: Int, script: @escaping Script) {
        self.port = port
        self.script = script
    }

    /// Runs `body` while the server runs, then stops the server.
    static func with<Result>(
        port: Int = 0, _ script: @escaping Script, _ body: (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let owner = NIOLockedValueBox<ScriptedServer?>(nil)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let server = owner.withLockedValue({ $0 }) else { throw ChannelError.alreadyClosed }
                    server.state.withLockedValue { $0.channels.append(channel) }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(server: server))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        let server = ScriptedServer(port: try #require(listener.localAddress?.port), script: script)
        owner.withLockedValue { $0 = server }
        server.listener.withLockedValue { $0 = listener }
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Closes every connection and the listener.
    func stop() async {
        let listener = self.listener.withLockedValue { listener in
            defer { listener = nil }
            return listener
        }
        try? await listener?.close()
        self.hangUp()
    }

    /// Closes every connection.
    func hangUp() {
        for channel in self.state.withLockedValue({ $0.channels }) { channel.close(promise: nil) }
    }

    private final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let server: ScriptedServer
        private var request: HTTPRequest?

        init(server: ScriptedServer) {
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): self.request = HTTPRequest(head, isSecure: false)
            case .body: break
            case .end:
                guard let request = self.request else { return }
                let number = self.server.state.withLockedValue { state in
                    state.requests.append(request)
                    return state.requests.count
                }
                self.perform(self.server.script(request, number), request, context)
            }
        }

        private func perform(_ answer: Answer, _ request: HTTPRequest, _ context: ChannelHandlerContext) {
            switch answer {
            case .silence: break
            case .hangUp: context.close(promise: nil)
            case .respond(var response, let body):
                response.headerFields[.contentLength] = String(body.utf8.count)
                context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
                context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
            case .upgrade(let subprotocol, let setUp):
                guard let fields = try? WebSocketServerUpgrade.respond(to: request, protocols: subprotocol.map { [$0] } ?? []) else {
                    return context.close(promise: nil)
                }
                let response = HTTPResponse(status: .switchingProtocols, headerFields: fields)
                context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
                let connection = WebSocketConnection(on: context.eventLoop, subprotocol: subprotocol, remoteAddress: nil)
                let handler = WebSocketHandler(role: .server, limits: .init(), delegate: connection)
                WebSocketServerUpgrade.replaceHTTPHandlers(in: context.pipeline.syncOperations, removing: self, with: handler)
                connection.attach(handler)
                setUp(connection)
            }
        }
    }
}

extension ScriptedServer.Answer {
    /// Echoes every message.
    static let echo = Self.upgrade { connection in connection.onMessage { connection, message in connection.post(message) } }

    static func redirect(to location: String, status: Int = 302) -> Self {
        .respond(HTTPResponse(status: .init(code: status), headerFields: [.location: location]))
    }
}
