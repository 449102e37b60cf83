import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import Testing

/// Connections to a server with its own listener, from their first byte.
@Suite struct EngineIOFastUpgradeTests {
    private struct Connection {
        let channel = EmbeddedChannel()
        let engine: EngineIOServer

        init(_ configure: (inout EngineIOServerConfiguration) -> Void = { _ in }) throws {
            var configuration = EngineIOServerConfiguration()
            configure(&configuration)
            self.engine = EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in SilentDelegate() }
            try self.channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
            try self.engine.configure(self.channel, tls: nil)
        }

        func send(_ text: some StringProtocol) throws {
            try self.channel.writeInbound(ByteBuffer(string: String(text)))
            self.channel.embeddedEventLoop.run()
        }

        /// Returns the written text with the session ids replaced.
        func answer() throws -> String {
            var text = ""
            while let bytes = try self.channel.readOutbound(as: ByteBuffer.self) {
                text += String(decoding: bytes.readableBytesView.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
            }
            return text.replacing(/"sid":"[^"]+"|io=[^;\r]+/, with: "SID")
        }

        func pass(_ time: Duration) { self.channel.embeddedEventLoop.advanceTime(by: TimeAmount(time)) }
    }

    private static func request(_ query: String, _ lines: [String] = [], method: String = "GET") -> String {
        ([
            "\(method) /engine.io/?\(query) HTTP/1.1", "Host: a.example", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        ] + lines).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    @Test(arguments: [
        ("EIO=4&transport=websocket", []), ("EIO=3&transport=websocket", []), ("EIO=5&transport=websocket", []),
        ("transport=websocket", []),
        ("EIO=4&transport=polling", []), ("EIO=4&transport=carrier-pigeon", []), ("EIO=4", []), ("EIO=4&transport=websocket&sid=none", []),
        ("EIO=4&transport=websocket", ["Origin: http://b.example"]), ("EIO=4&transport=websocket", ["Origin: http://a.example"]),
        ("EIO=4&transport=websocket", ["Cookie: a=1"]), ("EIO=4&transport=websocket", ["Sec-WebSocket-Version: 8"]),
        ("EIO=4&transport=websocket", ["Content-Length: 3"]), ("EIO=4&transport=websocket", ["Host: b.example"]),
        ("EIO=4&transport=websocket", ["Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=16"]),
        ("EIO=4&transport=websocket", ["Sec-WebSocket-Protocol: a"]), ("EIO=4&transport=websocket", ["X: a\0b"]),
        ("EIO=4&transport=websocket", ["X: " + String(repeating: "y", count: 100_000)]),
    ])
    func oneReadOrTwo(query: String, lines: [String]) throws {
        let request = Self.request(query, lines)
        func outcome(_ reads: [Substring]) throws -> [String] {
            let connection = try Connection {
                $0.cookie = .init()
                $0.headers = { fields, _ in fields[.server] = "test" }
            }
            for read in reads { try connection.send(read) }
            return try [connection.answer(), "\(connection.channel.isActive)", "\(connection.engine.sessionCount)"]
        }
        // A head that arrives in parts is left to the HTTP parser.
        #expect(try outcome([request[...]]) == outcome([request.prefix(30), request.dropFirst(30)]))
    }

    @Test func theAnswerAndTheOpenPacketLeaveTogether() throws {
        let connection = try Connection()
        try connection.send(Self.request("EIO=4&transport=websocket"))
        let bytes = try #require(try connection.channel.readOutbound(as: ByteBuffer.self))
        let text = String(decoding: bytes.readableBytesView, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n") && text.contains("0{\"sid\":"))
        #expect(connection.engine.sessionCount == 1)
    }

    @Test func pollingAndAnUpgradeFromIt() throws {
        let polling = try Connection()
        try polling.send("GET /engine.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: a.example\r\n\r\n")
        let bytes = try #require(try polling.channel.readOutbound(as: ByteBuffer.self)).readableBytesView
        var text = String(decoding: bytes, as: UTF8.self)
        while let more = try polling.channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: more) }
        let sid = try #require(text.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        let upgrade = EmbeddedChannel(loop: polling.channel.embeddedEventLoop)
        try upgrade.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 2)).wait()
        try polling.engine.configure(upgrade, tls: nil)
        try upgrade.writeInbound(ByteBuffer(string: Self.request("EIO=4&transport=websocket&sid=\(sid)")))
        // "2probe", masked with a key of zeros, is answered with "3probe".
        try upgrade.writeInbound(ByteBuffer(bytes: [0x81, 0x86, 0, 0, 0, 0] + Array("2probe".utf8)))
        upgrade.embeddedEventLoop.run()
        var answer = ""
        while let more = try upgrade.readOutbound(as: ByteBuffer.self) { answer += String(decoding: more.readableBytesView, as: UTF8.self) }
        #expect(answer.hasPrefix("HTTP/1.1 101 ") && answer.hasSuffix("3probe"))
        #expect(polling.engine.sessionCount == 1)
    }

    @Test func aRequestWithACheckIsLeftToTheHTTPHandlers() async throws {
        var configuration = EngineIOServerConfiguration()
        configuration.allowRequest = { _ in try await Task.sleep(for: .seconds(3600)) }  // cancelled at the end
        let engine = EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in SilentDelegate() }
        let channel = NIOAsyncTestingChannel()  // the task of the check ends on another thread
        try await channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1))
        try await channel.testingEventLoop.executeInContext { try engine.configure(channel, tls: nil) }
        try await channel.writeInbound(ByteBuffer(string: Self.request("EIO=4&transport=websocket")))
        #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
        #expect(engine.sessionCount == 0)
        try await channel.close()
    }

    /// One deadline, which received bytes do not extend (docs/hazards.md, 14).
    @Test func aSilentOrSlowConnectionIsClosed() throws {
        for part in ["", "G", "GET /engine.io/ HTTP/1.1\r\nHost: a\r\n"] {
            let connection = try Connection()
            let timeout = connection.engine.configuration.requestTimeout
            connection.pass(timeout / 2)
            if !part.isEmpty { try connection.send(part) }
            connection.pass(timeout / 2 - .milliseconds(1))
            #expect(connection.channel.isActive)
            connection.pass(.milliseconds(2))
            #expect(!connection.channel.isActive, "\(part)")
        }
    }
}
