import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketClientTests {
    private struct TokenError: Error {}

    @Test func aScopeOpensAndCloses() async throws {
        try await ScriptedServer.with { _, _ in
            .echo
        } _: { server in
            let connection = try await WebSocketClient.withConnection(to: server.url) { connection in
                try await connection.send("hello")
                var messages = connection.messages.makeAsyncIterator()
                #expect(try await messages.next() == "hello")
                #expect(try await connection.ping() > .zero)
                #expect(connection.latency != nil)
                #expect(connection.remoteAddress?.port == server.port)
                return connection
            }
            #expect(connection.closure?.wasClean == true)
            #expect(connection.closure?.code == .normalClosure)
        }
    }

    @Test func fieldsQueryCookiesAndSubprotocols() async throws {
        try await ScriptedServer.with { _, _ in
            .upgrade(subprotocol: "v2.chat") { $0.post("hi") }
        } _: { server in
            var configuration = WebSocketClientConfiguration()
            let twice = try #require(HTTPField.Name("X-Twice"))
            configuration.headers = [.userAgent: "apus", twice: "a", twice: "b"]
            configuration.requestHeaders = { url in [.authorization: "Bearer \(url.hasSuffix("%C3%A9"))"] }
            configuration.query = [("room", "a b&c"), ("é", "é")]
            configuration.cookies = ["sid": "1", "theme": "dark"]
            configuration.subprotocols = ["v1.chat", "v2.chat"]
            let connection = try await WebSocketClient.connect(to: server.url + "feed?x=1", configuration: configuration)
            #expect(connection.subprotocol == "v2.chat")
            let request = try #require(server.requests.first)
            #expect(request.path == "/feed?x=1&room=a%20b%26c&%C3%A9=%C3%A9")
            #expect(request.headerFields[.userAgent] == "apus")
            #expect(request.headerFields[.authorization] == "Bearer true")
            #expect(request.headerFields[.cookie] == "sid=1; theme=dark")
            #expect(request.headerFields[values: twice] == ["a", "b"])
            #expect(request.headerFields[.secWebSocketProtocol] == "v1.chat, v2.chat")
            var messages = connection.messages.makeAsyncIterator()
            #expect(try await messages.next() == "hi")  // sent together with the 101
            await connection.close()
        }
    }

    /// The 101, a message and the end of the transport may come in one read.
    @Test func aMessageDirectlyBeforeTheEndIsDelivered() async throws {
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in
                connection.post("last words")
                // After the write of this turn.
                connection.eventLoop.execute { connection.eventLoop.execute { connection.abort() } }
            }
        } _: { server in
            for _ in 0..<20 {
                let connection = try await WebSocketClient.connect(to: server.url)
                var messages = connection.messages.makeAsyncIterator()
                #expect(try await messages.next() == "last words")
                let error = await #expect(throws: WebSocketError.self) { try await messages.next() }
                #expect(error?.code == .connectionLost)
            }
        }
    }

    /// Interim responses (RFC 9110 15.2), the 101 and the first message, in one read or in reads of
    /// one byte.
    @Test(arguments: [true, false]) func interimResponsesPrecedeTheUpgrade(inOneRead: Bool) async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(InterimAnswers(inOneRead: inOneRead))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let connection = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/")
        var messages = connection.messages.makeAsyncIterator()
        #expect(try await messages.next() == "hi")
        connection.abort()
        try await listener.close()
    }

    private final class InterimAnswers: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let inOneRead: Bool
        private var received = ""

        init(inOneRead: Bool) { self.inOneRead = inOneRead }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.received += String(buffer: self.unwrapInboundIn(data))
            guard self.received.hasSuffix("\r\n\r\n"),
                let line = self.received.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("sec-websocket-key: ") })
            else { return }
            let accept = WebSocketHandshake.acceptValue(forKey: String(line.dropFirst(19)))
            var answer = ByteBuffer(
                string: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n"
                    + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n")
            answer.writeBytes([0x81, 2] + Array("hi".utf8))
            let size = self.inOneRead ? answer.readableBytes : 1
            while let piece = answer.readSlice(length: size) { context.writeAndFlush(self.wrapOutboundOut(piece), promise: nil) }
        }
    }

    @Test func aRefusalHoldsStatusFieldsAndBody() async throws {
        try await ScriptedServer.with { _, _ in
            .respond(HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "7"]), body: "slow down")
        } _: { server in
            let error = await #expect(throws: WebSocketError.self) { try await WebSocketClient.connect(to: server.url) }
            #expect(error?.code == .connectionRefused)
            #expect(error?.refusal?.status == 429)
            #expect(error?.refusal?.headers[.retryAfter] == "7")
            #expect(error?.refusal.map { String(decoding: $0.body, as: UTF8.self) } == "slow down")
        }
    }

    @Test func credentialsDoNotGoToAnotherHost() async throws {
        var configuration = WebSocketClientConfiguration()
        configuration.headers = [.authorization: "secret", try #require(HTTPField.Name("X-Api-Key")): "secret"]
        configuration.requestHeaders = { _ in [.proxyAuthorization: "secret"] }
        configuration.cookies = ["sid": "secret"]
        configuration.subprotocols = ["chat"]
        try await ScriptedServer.with { _, _ in
            .echo
        } _: { other in
            try await ScriptedServer.with { request, _ in
                request.path == "/" ? .redirect(to: "/there?x=1") : .redirect(to: "http://127.0.0.1:\(other.port)/away", status: 307)
            } _: { server in
                let connection = try await WebSocketClient.connect(to: server.url, configuration: configuration)
                await connection.close()
                #expect(server.requests.map(\.path) == ["/", "/there?x=1"])
                #expect(server.requests.allSatisfy { $0.headerFields[.authorization] == "secret" && $0.headerFields[.cookie] != nil })
                let request = try #require(other.requests.first)
                #expect(request.path == "/away")
                #expect(request.headerFields[.secWebSocketProtocol] == "chat")
                #expect(!request.headerFields.contains { $0.value.contains("secret") })
            }
        }
    }

    @Test func redirectsEnd() async throws {
        try await ScriptedServer.with { _, number in
            .redirect(to: "/\(number)")
        } _: { server in
            var configuration = WebSocketClientConfiguration()
            configuration.maximumRedirects = 3
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocketClient.connect(to: server.url, configuration: configuration)
            }
            #expect(error?.refusal?.status == 302)
            #expect(server.requests.count == 4)
        }
    }

    @Test func fieldsThatCannotBeComputed() async throws {
        try await ScriptedServer.with { _, _ in
            .echo
        } _: { server in
            var configuration = WebSocketClientConfiguration()
            configuration.requestHeaders = { _ in throw TokenError() }
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocketClient.connect(to: server.url, configuration: configuration)
            }
            #expect(error?.code == .requestHeaders)
            #expect(error?.cause is TokenError)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aServerThatDoesNotAnswer() async throws {
        try await ScriptedServer.with { _, _ in
            .silence
        } _: { server in
            var configuration = WebSocketClientConfiguration()
            configuration.handshakeTimeout = .milliseconds(50)
            let error = await #expect(throws: WebSocketError.self) {
                try await WebSocketClient.connect(to: server.url, configuration: configuration)
            }
            #expect(error?.code == .timeout)
        }
    }

    @Test func aCancelledConnect() async throws {
        try await ScriptedServer.with { _, _ in
            .silence
        } _: { server in
            let url = server.url
            let task = Task { try await WebSocketClient.connect(to: url) }
            while server.requests.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(
        arguments: [
            { (configuration: inout WebSocketClientConfiguration) in configuration.headers = [.secWebSocketKey: "b"] },
            { $0.headers = [.transferEncoding: "chunked"] },
            { $0.subprotocols = ["a, b"] },
            { $0.subprotocols = ["a", "a"] },
            { $0.cookies = ["a": "b; c"] },
            { $0.connectTimeout = .zero },
            { $0.requestHeaders = { _ in [.upgrade: "h2c"] } },
        ] as [@Sendable (inout WebSocketClientConfiguration) -> Void])
    func whatCannotBeSentIsRefused(change: @Sendable (inout WebSocketClientConfiguration) -> Void) async throws {
        try await ScriptedServer.with { _, _ in
            .echo
        } _: { server in
            var configuration = WebSocketClientConfiguration()
            change(&configuration)
            await #expect(throws: WebSocketError.self) { try await WebSocketClient.connect(to: server.url, configuration: configuration) }
            #expect(server.requests.isEmpty)
        }
    }

    /// A task that sends more than the peer reads suspends, and resumes when the peer reads.
    @Test func aPeerThatDoesNotReadStopsTheSender() async throws {
        let gate = Gate()
        try await ScriptedServer.with { _, _ in
            .upgrade { connection in
                Task {
                    await gate.wait()
                    for try await _ in connection.messages {}
                }
            }
        } _: { server in
            let connection = try await WebSocketClient.connect(to: server.url)
            let payload = WebSocketMessage.binary(ByteBuffer(repeating: 7, count: 256 << 10))
            let count = 200  // 50 MiB: more than the buffers of two sockets hold
            let sent = NIOLockedValueBox(0)
            let sender = Task {
                for _ in 1...count {
                    try await connection.send(payload)
                    sent.withLockedValue { $0 += 1 }
                }
            }
            while (try? await connection.ping(timeout: .milliseconds(200))) != nil {}  // until the peer has stopped reading
            #expect(sent.withLockedValue { $0 } < count)
            gate.open()
            try await sender.value
            #expect(await connection.close().wasClean)
        }
    }
}

/// Opens once.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (self.stream, self.continuation) = AsyncStream.makeStream()
    }

    func open() { self.continuation.finish() }

    func wait() async {
        for await _ in self.stream {}
    }
}
