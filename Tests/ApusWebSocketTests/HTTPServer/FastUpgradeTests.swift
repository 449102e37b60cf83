import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// The first bytes of a connection. The fast path and the HTTP handlers must give the same result.
@Suite struct FastUpgradeTests {
    private static let deflate = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"

    /// Requests of all kinds, as additional lines of a valid handshake.
    private static let requests: [[String]] = [
        [], ["Sec-WebSocket-Protocol: b, a"], ["Sec-WebSocket-Protocol: c"], [Self.deflate], [Self.deflate + "; server_max_window_bits=7"],
        ["Cookie: a=1; b=2"], ["Origin: http://a.example"], ["Origin: http://a.example", "Cookie: a=1"], ["Origin: http://b.example"],
        ["Origin: null"], ["Origin:"], ["X: y "], ["X:  y"], ["X: a\tb"], ["X: ä"], ["Host: b.example"], ["Content-Length: 0"],
        ["Content-Length: 2"], ["Transfer-Encoding: chunked"], ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
        ["Sec-WebSocket-Version: 8"], ["Upgrade: h2c"], ["Connection: close"], ["Expect: 100-continue"], ["X : y"], [" folded"],
        ["X: a\0b"],
        ["X: a\rb"], ["X: " + String(repeating: "y", count: 40_000)], Array(repeating: "X: y", count: 100),
    ]

    private func configuration() -> WebSocketServerConfiguration {
        var configuration = WebSocketServerConfiguration()
        configuration.subprotocols = .preferred("a", "b")
        configuration.compression = .init()
        return configuration
    }

    @Test(arguments: Self.requests)
    func oneReadOrTwo(lines: [String]) throws {
        let request = EmbeddedWebSocketServer.request("/a?b=c").dropLast(2) + lines.map { $0 + "\r\n" }.joined() + "\r\n"
        func outcome(_ reads: [Substring]) throws -> [String] {
            let server = try EmbeddedWebSocketServer(self.configuration())
            for read in reads { try server.send(read) }
            let (status, text) = try server.answer()
            let connection = server.server.connections.first
            let seen = connection?.request.map { ["\($0)", "\($0.headerFields)", $0.authority ?? "", $0.scheme ?? ""] } ?? []
            server.pass(.seconds(1))
            return [
                "\(status ?? 0)", text, "\(server.isOpen)", "\(server.server.connectionCount)", connection?.subprotocol ?? "",
                "\(connection?.isCompressed ?? false)",
            ] + seen
        }
        let whole = try outcome([request[...]])
        // A read that ends within the head goes to the HTTP parser.
        #expect(try whole == outcome([request.prefix(30), request.dropFirst(30)]))
    }

    /// NIO's parser gives the same result as `WebSocketRequestHead`.
    @Test(arguments: Self.requests)
    func theParserReadsTheSame(lines: [String]) throws {
        let text = EmbeddedWebSocketServer.request("/a?b=c").dropLast(2) + lines.map { $0 + "\r\n" }.joined() + "\r\n"
        let taken = WebSocketRequestHead.request(in: ByteBuffer(string: String(text)), isSecure: false, limits: .init())
        guard let taken else { return }
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes)))
        try channel.writeInbound(ByteBuffer(string: String(text)))
        guard case .head(let head) = try #require(try channel.readInbound(as: HTTPServerRequestPart.self)) else {
            Issue.record("no head")
            return
        }
        #expect(HTTPRequest(head, isSecure: false) == taken)
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == .end(nil))
    }

    @Test func theResponseAndTheFirstMessagesLeaveTogether() throws {
        let server = try EmbeddedWebSocketServer { $0.post("hi") }
        try server.send(EmbeddedWebSocketServer.request())
        let bytes = try #require(try server.channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: bytes).hasPrefix("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"))
        #expect(bytes.readableBytesView.suffix(8) == [0x0D, 0x0A, 0x0D, 0x0A, 0x81, 2, 0x68, 0x69])
        #expect(try server.channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func aHeadOfSeveralReadsInOneTurnIsParsed() throws {
        let server = try EmbeddedWebSocketServer()
        let request = EmbeddedWebSocketServer.request()
        server.channel.pipeline.fireChannelRead(ByteBuffer(string: String(request.prefix(100))))
        server.channel.pipeline.fireChannelRead(ByteBuffer(string: String(request.dropFirst(100))))
        server.channel.pipeline.fireChannelReadComplete()
        #expect(throws: ChannelPipelineError.self) {
            _ = try server.channel.pipeline.syncOperations.handler(type: HTTPResponseEncoder.self)
        }
        server.pass(.zero)
        #expect(try server.answer().status == 101)
    }

    /// docs/hazards.md, 14: one deadline, which received bytes do not extend.
    @Test func silentAndSlowPeersAreDisconnected() throws {
        for part in ["", "G", "GET / HTTP/1.1\r\nHost: a\r\n"] {
            let server = try EmbeddedWebSocketServer()
            let timeout = server.server.configuration.handshakeTimeout
            server.pass(timeout / 2)
            if !part.isEmpty { try server.send(part) }
            server.pass(timeout / 2 - .milliseconds(1))
            #expect(server.isOpen)
            server.pass(.milliseconds(2))
            #expect(!server.isOpen, "\(part)")
        }
    }

    @Test func aRequestWithACheckGoesToTheHTTPHandlers() async throws {
        var configuration = self.configuration()
        configuration.shouldUpgrade = { _ in try await Task.sleep(for: .seconds(3600)) }  // cancelled at the end
        let server = WebSocketServer(configuration: configuration) { _ in }
        let channel = NIOAsyncTestingChannel()  // the task of the check ends on another thread
        try await channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1))
        try await channel.testingEventLoop.executeInContext { try server.configure(channel, tls: nil) }
        try await channel.writeInbound(ByteBuffer(string: EmbeddedWebSocketServer.request()))
        try await channel.testingEventLoop.executeInContext {
            _ = try channel.pipeline.syncOperations.handler(type: HTTPResponseEncoder.self)
        }
        #expect(server.connections.isEmpty)
        try await channel.close()
    }
}
