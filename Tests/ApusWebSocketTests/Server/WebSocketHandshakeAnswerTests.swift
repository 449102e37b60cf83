import ApusWebSocket
import ApusWebSocketProtocol
import Foundation
import HTTPTypes
import NIOCore
import Testing

/// The handshake responses of a server without a web framework, byte by byte.
@Suite struct WebSocketHandshakeAnswerTests {
    private func answer(_ request: String, _ configure: (inout WebSocketServerConfiguration) -> Void = { _ in }) throws -> (
        status: Int?, text: String
    ) {
        var configuration = WebSocketServerConfiguration()
        configure(&configuration)
        let server = try EmbeddedWebSocketServer(configuration)
        try server.send(request)
        let answer = try server.answer()
        server.pass(.seconds(1))  // invalid bytes are discarded for a second before the connection closes
        #expect(server.isOpen == (answer.status == 101))
        #expect(server.server.connectionCount == (answer.status == 101 ? 1 : 0))
        return answer
    }

    @Test func theExampleOfTheRFC() throws {
        let answer = try self.answer(EmbeddedWebSocketServer.request())
        #expect(answer.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(answer.text.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(!answer.text.contains("Sec-WebSocket-Protocol"))
    }

    @Test func messagesFlowAfterIt() throws {
        let server = try EmbeddedWebSocketServer.opened { connection in
            connection.onMessage { connection, message in connection.post(message) }
        }
        try server.send(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "hi")))
        #expect(try server.frames() == [WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "hi"))])
        #expect(server.server.connections.count == 1)
        #expect(server.server.connections.first?.request?.path == "/")
        #expect(server.server.connections.first?.remoteAddress?.ipAddress == "203.0.113.7")
    }

    @Test func aFrameInTheSameReadAsTheRequestIsNotLost() throws {
        let server = try EmbeddedWebSocketServer { connection in
            connection.onMessage { connection, message in connection.post(message) }
        }
        var bytes = ByteBuffer(string: EmbeddedWebSocketServer.request())
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "hi")), maskingKey: WebSocketMaskingKey(word: 7), into: &bytes)
        try server.send(bytes)
        #expect(try Array(server.written().readableBytesView.suffix(4)) == [0x81, 2, 0x68, 0x69])
    }

    @Test func theEndOfThatReadIsReportedToo() throws {
        let server = try EmbeddedWebSocketServer { connection in
            connection.onMessage { _, _ in }
            connection.onReadComplete { $0.post("end") }
        }
        var bytes = ByteBuffer(string: EmbeddedWebSocketServer.request())
        WebSocketFrameEncoder.write(
            WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "hi")), maskingKey: WebSocketMaskingKey(word: 7), into: &bytes)
        try server.send(bytes)
        #expect(try Array(server.written().readableBytesView.suffix(5)) == [0x81, 3, 0x65, 0x6E, 0x64])
    }

    @Test func pathsAreComparedWhole() throws {
        #expect(try self.answer(EmbeddedWebSocketServer.request("/feed?a=1")) { $0.path = "/feed" }.status == 101)
        #expect(try self.answer(EmbeddedWebSocketServer.request("/feed/more")) { $0.path = "/feed" }.status == 404)
        #expect(try self.answer(EmbeddedWebSocketServer.request("/x")) { $0.path = nil }.status == 101)
        #expect(try self.answer(EmbeddedWebSocketServer.request("/K")) { $0.path = "/\u{212A}" }.status == 404)
        #expect(try self.answer("GET /K HTTP/1.1\r\nHost: a\r\n\r\n") { $0.path = "/\u{212A}" }.status == 404)
    }

    @Test func aPlainRequestGetsAnExplanation() throws {
        let answer = try self.answer("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
        #expect(answer.status == 426)
        #expect(answer.text.contains("Upgrade: websocket\r\n"))
        #expect(try self.answer("POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9999\r\n\r\n").status == 404)
    }

    @Test(arguments: [
        ("no key", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X: y", 400),
        ("a key of 15 bytes", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j", 400),
        ("version 8", "Version: 13", "Version: 8", 426),
        ("no connection field", "Connection: Upgrade", "Connection: keep-alive", 400),
        ("POST", "GET / HTTP", "POST / HTTP", 400),
        ("no host", "Host: a.example\r\n", "", 400),
        ("an invalid host", "a.example", "a.example/b", 400),
        // The Kelvin sign is not ASCII, although its lower case is `k`: an unknown protocol.
        ("another protocol", "Upgrade: websocket", "Upgrade: websoc\u{212A}et", 426),
        ("another option", "Connection: Upgrade", "Connection: \u{FF35}pgrade", 400),
        ("a key with a Kelvin sign", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25\u{212A}ZQ==", 400),
        ("two hosts", "Host: a.example\r\n", "Host: a.example\r\nHost: b.example\r\n", 400),
        ("HTTP/1.0", "HTTP/1.1", "HTTP/1.0", 505),
        ("a body", "Host: a.example\r\n", "Host: a.example\r\nContent-Length: 2\r\n", 400),
        // docs/hazards.md, 8: the end of the body would be ambiguous.
        ("both lengths", "Host: a.example\r\n", "Host: a.example\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n", 400),
        ("a bare CR in a value", "Host: a.example\r\n", "Host: a.example\r\nX: a\rb\r\n", 400),
        ("a NUL in a value", "Host: a.example\r\n", "Host: a.example\r\nX: a\0b\r\n", 400),
        ("a space before the colon", "Host: a.example\r\n", "Host: a.example\r\nX : a\r\n", 400),
    ])
    func malformed(what: String, old: String, new: String, status: Int) throws {
        let request = EmbeddedWebSocketServer.request()
        let range = try #require(request.range(of: old))
        let answer = try self.answer(request.replacingCharacters(in: range, with: new) + "xx")
        #expect(answer.status == status, "\(what)")
    }

    /// docs/hazards.md, 18.
    @Test(arguments: [
        (["Origin: http://a.example"], 101), (["Origin: https://a.example"], 101), ([], 101),
        (["Origin: http://a.example.evil.org"], 403), (["Origin: http://evil.org/a.example"], 403), (["Origin: null"], 403),
        (["Origin: http://a.example", "Origin: http://evil.org"], 403), (["Origin:"], 403),
        (["Cookie: session=1"], 403), (["Origin: http://a.example", "Cookie: session=1"], 101),
        (["Origin: https://app.example"], 403),
    ])
    func origins(lines: [String], status: Int) throws {
        let request = EmbeddedWebSocketServer.request().dropLast() + lines.map { $0 + "\r\n" }.joined() + "\r\n"
        #expect(try self.answer(String(request)).status == status)
    }

    @Test func aListedOriginIsAccepted() throws {
        #expect(
            try self.answer(EmbeddedWebSocketServer.request("/", "Origin: https://app.example")) {
                $0.origins = .list(["https://app.example"])
            }.status == 101)
        #expect(try self.answer(EmbeddedWebSocketServer.request("/", "Origin: null")) { $0.origins = .list(["null"]) }.status == 403)
    }

    @Test func subprotocols() throws {
        func chosen(_ offer: String..., selection: WebSocketSubprotocolSelection) throws -> String {
            let request = EmbeddedWebSocketServer.request().dropLast() + offer.map { "Sec-WebSocket-Protocol: \($0)\r\n" }.joined() + "\r\n"
            let answer = try self.answer(String(request)) { $0.subprotocols = selection }
            guard answer.status == 101 else { return "\(answer.status ?? 0)" }
            let line = answer.text.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Protocol: ") }
            return line.map { String($0.dropFirst(24)) } ?? "none"
        }
        #expect(try chosen("a, b", selection: .preferred("b", "a")) == "b")  // the server's order
        #expect(try chosen("a", "b", selection: .preferred("b")) == "b")
        #expect(try chosen("a,\tb ", selection: .preferred("b")) == "b")
        #expect(try chosen("c", selection: .preferred("b", "a")) == "none")
        #expect(try chosen("c", selection: .required("b")) == "400")
        #expect(try chosen("a", selection: .none) == "none")
        #expect(try chosen("a, b", selection: .custom { offered, _ in offered.last }) == "b")
        #expect(try chosen("a", selection: .custom { _, _ in "z" }) == "none")  // not offered
        #expect(try chosen("a", selection: .custom { _, _ in throw WebSocketUpgradeRefusal.unauthorized() }) == "401")
        #expect(try chosen("a b", selection: .preferred("a b")) == "none")  // not a token
        // Canonically equivalent, but different bytes.
        #expect(try chosen("K", selection: .preferred("\u{212A}")) == "none")
        #expect(try chosen("K", selection: .custom { _, _ in "\u{212A}" }) == "none")
        #expect(try chosen(selection: .required("b")) == "400")
    }

    @Test func compressionIsGrantedOnlyWhenItIsConfigured() throws {
        let request = EmbeddedWebSocketServer.request("/", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
        #expect(try !self.answer(request).text.contains("Sec-WebSocket-Extensions"))
        let granted = try self.answer(request) { $0.compression = .init() }
        #expect(granted.text.contains("Sec-WebSocket-Extensions: permessage-deflate"))
    }
}
