import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import Testing

/// Handshakes that are too large or too slow (docs/hazards.md, 7 and 14).
@Suite struct WebSocketHandshakeLimitTests {
    private func request(with lines: String) -> String {
        EmbeddedWebSocketServer.request().dropLast() + lines + "\r\n"
    }

    @Test func tooManyFields() throws {
        let server = try EmbeddedWebSocketServer()
        try server.send(self.request(with: (0..<96).map { "X-\($0): y\r\n" }.joined()))
        #expect(try server.answer().status == 431)
        let exact = try EmbeddedWebSocketServer()
        try exact.send(self.request(with: (0..<95).map { "X-\($0): y\r\n" }.joined()))
        #expect(try exact.answer().status == 101)
    }

    @Test func twoHundredThousandTinyFieldsAreRefusedAtTheHundredAndFirst() throws {
        let server = try EmbeddedWebSocketServer()
        try server.send("GET / HTTP/1.1\r\nHost: a.example\r\n")
        let many = ByteBuffer(string: (0..<200).map { "X-\($0): y\r\n" }.joined())
        for _ in 0..<1000 where server.isOpen { try server.send(many) }
        #expect(try server.answer().status == 431)
        server.pass(.seconds(1))
        #expect(!server.isOpen)
    }

    @Test(arguments: ["X: " + String(repeating: " ", count: 32_000) + "y", "X: " + String(repeating: "y", count: 32 << 10)])
    func aHugeField(line: String) throws {
        let server = try EmbeddedWebSocketServer()
        try server.send(EmbeddedWebSocketServer.request("/", line))
        let status = try server.answer().status
        // Spaces before a value are not a part of it. 32,000 of them are refused, or skipped in
        // linear time.
        #expect(status == 431 || status == 400 || line.hasPrefix("X:  ") && status == 101)
    }

    @Test func aHugePath() throws {
        let server = try EmbeddedWebSocketServer()
        try server.send(EmbeddedWebSocketServer.request("/" + String(repeating: "a", count: 100_000)))
        #expect(try [400, 414, 431].contains(server.answer().status))
    }

    @Test func fieldsBelowTheBoundOneByOneAreAboveItTogether() throws {
        let server = try EmbeddedWebSocketServer()
        try server.send(self.request(with: (0..<40).map { "X-\($0): \(String(repeating: "y", count: 1000))\r\n" }.joined()))
        #expect(try server.answer().status == 431)
    }

    @Test func oneByteASecondIsCutByOneDeadline() throws {
        let server = try EmbeddedWebSocketServer()
        for byte in EmbeddedWebSocketServer.request().utf8.prefix(9) {
            try server.send(ByteBuffer(bytes: [byte]))
            server.pass(.seconds(1))
            #expect(server.isOpen)
        }
        server.pass(.seconds(1))
        #expect(!server.isOpen)
        #expect(server.server.connectionCount == 0)
    }

    @Test func silenceIsCut() throws {
        let server = try EmbeddedWebSocketServer()
        server.pass(.seconds(10))
        #expect(!server.isOpen)
    }

    @Test func theDeadlineEndsWithTheHandshake() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.pingInterval = nil
        let server = try EmbeddedWebSocketServer.opened(configuration)
        server.pass(.seconds(3600))
        #expect(server.isOpen)
    }

    @Test func theHeaderOfAFrameHasADeadlineToo() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.pingInterval = nil
        let server = try EmbeddedWebSocketServer.opened(configuration)
        for byte: UInt8 in [0x81, 0xFE, 0x01, 0x00, 0x01] {
            try server.send(ByteBuffer(bytes: [byte]))
            server.pass(.milliseconds(1900))
            #expect(server.isOpen)
        }
        server.pass(.milliseconds(500))
        #expect(!server.isOpen)
    }

    @Test func theHeaderThatCameInTimeHasNone() throws {
        var configuration = WebSocketServerConfiguration()
        configuration.pingInterval = nil
        let server = try EmbeddedWebSocketServer.opened(configuration)
        try server.send(ByteBuffer(bytes: [0x81]))
        try server.send(ByteBuffer(bytes: [0x85, 1, 2, 3, 4]))  // the header is complete, the payload is slow
        server.pass(.seconds(60))
        #expect(server.isOpen)
        let rest: [UInt8] = [0x60, 0x63, 0x62, 0x65, 0x60, 0x81]
        try server.send(ByteBuffer(bytes: rest))  // and the next frame begins
        server.pass(.seconds(9))
        #expect(server.isOpen)
        server.pass(.seconds(11))
        #expect(!server.isOpen)
    }
}
