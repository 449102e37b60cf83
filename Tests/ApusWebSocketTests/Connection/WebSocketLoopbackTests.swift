import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A client and a server over real sockets.
@Suite struct WebSocketLoopbackTests {
    /// Upgrades `/`, refuses everything else with 403.
    private final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private var request: HTTPRequest?

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): self.request = HTTPRequest(head, isSecure: false)
            case .body: break
            case .end:
                guard let request = self.request else { return }
                guard request.path == "/", let (fields, agreement) = try? WebSocketHandshake.accept(request, deflate: .init()) else {
                    let body = ByteBuffer(repeating: UInt8(ascii: "n"), count: 5000)
                    let head = HTTPResponseHead(version: .http1_1, status: .forbidden, headers: ["Content-Length": "5000"])
                    context.write(self.wrapOutboundOut(.head(head)), promise: nil)
                    context.write(self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                    context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
                    return
                }
                let response = HTTPResponse(status: .switchingProtocols, headerFields: fields)
                context.write(self.wrapOutboundOut(.head(HTTPResponseHead(response))), promise: nil)
                context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
                let delegate = RecordingDelegate()
                delegate.echoes = true
                let handler = WebSocketHandler(role: .server, limits: .init(), deflate: agreement.deflate, delegate: delegate)
                WebSocketServerUpgrade.replaceHTTPHandlers(in: context.pipeline.syncOperations, removing: self, with: handler)
                handler.send(.text("welcome"))
            }
        }
    }

    private func withServer(_ body: (_ port: Int, _ loop: any EventLoop) async throws -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(UpgradeHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        do {
            try await body(port, loop)
        } catch {
            try? await server.close()
            throw error
        }
        try await server.close()
    }

    @Test(.timeLimit(.minutes(5))) func messagesThereAndBackAndAnOrderlyClose() async throws {
        try await self.withServer { port, loop in
            let outcome: ([String], WebSocketCloseCode?) = try await loop.flatSubmit {
                let delegate = RecordingDelegate()
                let done = loop.makePromise(of: ([String], WebSocketCloseCode?).self)
                delegate.onMessage = { handler, message in
                    if message.payload.readableBytes == 100_000 { handler.close(code: .normalClosure, reason: "") }
                }
                delegate.onClosed = { [unowned delegate] in
                    if let error = delegate.closed.first?.error { return done.fail(error) }
                    done.succeed(
                        (
                            delegate.messages.map {
                                String(
                                    buffer: $0.payload.getSlice(at: $0.payload.readerIndex, length: min(7, $0.payload.readableBytes))
                                        ?? .init())
                            }, delegate.closed.first?.code
                        ))
                }
                Self.connect("ws://127.0.0.1:\(port)/", timeout: .seconds(60), on: loop, delegate: delegate)
                    .assumeIsolated().whenComplete { result in
                        switch result {
                        case .success(let handler):
                            handler.send(.text("hello"))
                            handler.send(.binary(ByteBuffer(repeating: UInt8(ascii: "x"), count: 100_000)))
                        case .failure(let error): done.fail(error)
                        }
                    }
                return done.futureResult
            }.get()
            #expect(outcome.0 == ["welcome", "hello", "xxxxxxx"])
            #expect(outcome.1 == .normalClosure)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func compressedMessagesOverSockets(takesContextOver: Bool) async throws {
        try await self.withServer { port, _ in
            var configuration = WebSocketClientConfiguration()
            var compression = WebSocketDeflateConfiguration()
            compression.serverNoContextTakeover = !takesContextOver
            compression.clientNoContextTakeover = !takesContextOver
            configuration.compression = compression
            let messages: [WebSocketMessage] = [
                .text(String(repeating: "the swift flies. ", count: 10_000)), "short", .binary(Array(repeating: 7, count: 5000)),
                .text("small, but compressed").compressed(.always), .binary([]).compressed(.always),
                .text(String(repeating: "the swift flies. ", count: 10_000)),
            ]
            try await WebSocketClient.withConnection(to: "ws://127.0.0.1:\(port)/", configuration: configuration) { connection in
                for message in messages { try await connection.send(message) }
                var received: [WebSocketMessage] = []
                for try await message in connection.messages {
                    received.append(message)
                    if received.count == messages.count + 1 { break }
                }
                #expect(received == ["welcome"] + messages)
            }
        }
    }

    private static func connect(
        _ url: String, timeout: Duration, on loop: any EventLoop, delegate: RecordingDelegate
    ) -> EventLoopFuture<WebSocketHandler> {
        do throws(WebSocketError) {
            return WebSocketClientConnector.attempt(
                try WebSocketURL(url), headers: [:], through: Dialer(tls: .system), limits: WebSocketLimits(), timeout: timeout,
                handshakeTimeout: nil, on: loop
            ) { _ in delegate }.futureResult
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    private func failure(_ url: String, timeout: Duration = .seconds(60), on loop: any EventLoop) async throws -> WebSocketError? {
        try await loop.flatSubmit {
            let done = loop.makePromise(of: WebSocketError?.self)
            Self.connect(url, timeout: timeout, on: loop, delegate: RecordingDelegate())
                .assumeIsolated().whenComplete { result in
                    switch result {
                    case .success(let handler):
                        handler.abort()
                        done.succeed(nil)
                    case .failure(let error): done.succeed(error as? WebSocketError)
                    }
                }
            return done.futureResult
        }.get()
    }

    @Test(.timeLimit(.minutes(5))) func aRefusalStatesItsReason() async throws {
        try await self.withServer { port, loop in
            let error = try await self.failure("ws://127.0.0.1:\(port)/no", on: loop)
            #expect(error?.code == .connectionRefused)
            #expect(error?.refusal?.status == 403)
            #expect(error?.refusal?.headers[.contentLength] == "5000")
            #expect(error?.refusal?.body == Array(repeating: UInt8(ascii: "n"), count: 5000))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aServerWithoutTLS() async throws {
        try await self.withServer { port, loop in
            let error = try await self.failure("wss://127.0.0.1:\(port)/", on: loop)
            #expect(error?.code == .transport)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aServerThatSendsNothing() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let server = try await ServerBootstrap(group: loop).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let error = try await self.failure("ws://127.0.0.1:\(port)/", timeout: .milliseconds(50), on: loop)
        #expect(error?.code == .timeout)
        try await server.close()
    }
}
