import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import Testing

@Suite("Engine.IO server: compression") struct EngineIOCompressionTests {
    // MARK: Answers to polls

    /// Returns the answer to a poll with a queued message of this size.
    private func answer(
        bytes: Int, accepting: String?, compression: WebSocketCompression = .automatic,
        _ configure: (inout EngineIOServerConfiguration) -> Void = { _ in }
    ) throws -> EmbeddedHTTPConnection.Answer {
        let server = try EngineServer(configure)
        let path = try server.handshake()
        try #require(server.sessions.first).send(.text(ByteBuffer(repeating: 0x61, count: bytes - 1)), compression: compression)
        var fields = HTTPFields()
        fields[.acceptEncoding] = accepting
        return try #require(try server.exchange(.get, path, fields: fields))
    }

    @Test(
        arguments: [
            ("gzip", "gzip"), ("deflate", "deflate"), ("gzip, deflate, br, zstd", "gzip"), ("deflate, gzip;q=0.5", "deflate"),
            ("*", "gzip"), ("gzip;q=0, deflate", "deflate"), ("GZIP ; Q=1", "gzip"), ("x-gzip", "gzip"),
            ("gzip;q=0, *", "deflate"), ("*;q=0.5, deflate", "deflate"), ("*;q=0", nil), ("gzip, *;q=0", "gzip"),
            ("br", nil), ("gzip;q=0", nil), ("identity", nil), ("", nil), (nil, nil), ("gzip;q=x", nil),
            ("g\u{131}zip", nil), ("gzip\u{37E}q=1", nil), ("gzip;\u{301}q=0", "gzip"), ("deflate;q=0\u{37E}x", nil),
        ] as [(String?, String?)])
    func isOfACodingTheClientAccepts(accepting: String?, coding: String?) throws {
        let answer = try self.answer(bytes: 5000, accepting: accepting)
        #expect(answer.fields[.contentEncoding] == coding)
        #expect(answer.fields[.contentLength] == String(answer.bytes.readableBytes))
        #expect(answer.fields[.vary] == (coding == nil ? nil : "Accept-Encoding"))
        if coding == nil { #expect(answer.bytes.readableBytes == 5000) } else { #expect(answer.bytes.readableBytes < 100) }
    }

    @Test func bytesMatchTheFormats() throws {
        let gzip = Array(try self.answer(bytes: 5000, accepting: "gzip").bytes.readableBytesView)
        #expect(gzip.prefix(3) == [0x1f, 0x8b, 8])
        // RFC 1952: the last four bytes are the length.
        #expect(gzip.suffix(4) == [0x88, 0x13, 0, 0])
        let deflate = Array(try self.answer(bytes: 5000, accepting: "deflate").bytes.readableBytesView)
        // RFC 1950: the method, and a header that 31 divides.
        #expect(deflate[0] == 0x78 && (Int(deflate[0]) * 256 + Int(deflate[1])) % 31 == 0)
    }

    @Test(arguments: [(1023, nil), (1024, "gzip")] as [(Int, String?)]) func beginsAtTheThreshold(bytes: Int, coding: String?) throws {
        #expect(try self.answer(bytes: bytes, accepting: "gzip").fields[.contentEncoding] == coding)
    }

    @Test func canBeSwitchedOffAndSet() throws {
        #expect(try self.answer(bytes: 5000, accepting: "gzip") { $0.httpCompression = nil }.fields[.contentEncoding] == nil)
        #expect(try self.answer(bytes: 5000, accepting: "gzip") { $0.httpCompression?.threshold = 5001 }.fields[.contentEncoding] == nil)
        #expect(try self.answer(bytes: 5000, accepting: "gzip") { $0.httpCompression?.maximumBytes = 4999 }.fields[.contentEncoding] == nil)
        #expect(
            try self.answer(bytes: 5000, accepting: "gzip") { $0.httpCompression?.maximumBytes = 5000 }.fields[.contentEncoding] == "gzip")
    }

    @Test func aMessageThatWantsToStayPlainKeepsItsAnswerPlain() throws {
        let server = try EngineServer()
        let path = try server.handshake()
        let session = try #require(server.sessions.first)
        let text = EngineIOMessage.text(ByteBuffer(repeating: 0x61, count: 5000))
        session.send(text)
        session.send(text, compression: .never)
        let accepting: HTTPFields = [.acceptEncoding: "gzip"]
        #expect(try server.exchange(.get, path, fields: accepting)?.fields[.contentEncoding] == nil)
        session.send(text)
        #expect(try server.exchange(.get, path, fields: accepting)?.fields[.contentEncoding] == "gzip")
    }

    /// Random characters shrink least: each of 93 letters needs more than 6.5 of 8 bits.
    @Test func aRandomTextIsNotEnlarged() throws {
        let server = try EngineServer()
        let path = try server.handshake()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/!#$%&'()*,-.:;<=>?@[]^_`{|}~".utf8)
        let text = (0..<2000).compactMap { _ in letters.randomElement() }
        try #require(server.sessions.first).send(.text(ByteBuffer(bytes: text)))
        let answer = try #require(try server.exchange(.get, path, fields: [.acceptEncoding: "gzip"]))
        #expect(answer.fields[.contentEncoding] == "gzip" && (1_500..<2_001).contains(answer.bytes.readableBytes))
    }

    // MARK: permessage-deflate

    private static let offer: HTTPFields = [.secWebSocketExtensions: "permessage-deflate; client_max_window_bits"]
    private static let long = String(repeating: "swift ", count: 500)

    @Test func isNotAgreedOnByDefault() throws {
        let answer = try EngineServer().webSocket("EIO=4&transport=websocket", fields: Self.offer).answer
        #expect(answer.status == 101 && answer.fields[.secWebSocketExtensions] == nil)
    }

    @Test func longMessagesAreCompressedAndShortOnesAreNot() throws {
        let server = try EngineServer { $0.perMessageDeflate = .init() }
        let webSocket = try server.webSocket("EIO=4&transport=websocket", fields: Self.offer)
        #expect(webSocket.answer.fields[.secWebSocketExtensions]?.hasPrefix("permessage-deflate") == true)
        _ = try webSocket.received()
        try webSocket.send("4short")
        try webSocket.send("4" + Self.long)
        #expect(try webSocket.received() == ["4short", "*4" + Self.long])
    }

    @Test func eachMessageMayChoose() throws {
        let server = try EngineServer { $0.perMessageDeflate = .init() }
        let webSocket = try server.webSocket("EIO=4&transport=websocket", fields: Self.offer)
        _ = try webSocket.received()
        let session = try #require(server.sessions.first)
        session.send(.text(ByteBuffer(string: Self.long)), compression: .never)
        session.send(.text(ByteBuffer(string: "short")), compression: .always)
        session.send(.binary(ByteBuffer(repeating: 0, count: 2000)))
        #expect(try webSocket.received() == ["4" + Self.long, "*4short", "*binary 2000"])
    }

    @Test func aMessageToManyIsCompressedOnceForAllThatSupportIt() throws {
        let server = try EngineServer { $0.perMessageDeflate = .init() }
        let offers: [HTTPFields] = [
            Self.offer, [.secWebSocketExtensions: "permessage-deflate; server_no_context_takeover"], [:],
            [.secWebSocketExtensions: "permessage-deflate; server_max_window_bits=10"],
        ]
        let webSockets = try offers.map { try server.webSocket("EIO=4&transport=websocket", fields: $0) }
        for webSocket in webSockets { _ = try webSocket.received() }
        let shared = EngineIOMessage.text(ByteBuffer(string: Self.long))
        let own = "all \(Self.long)"
        let frame = EngineIOSession.webSocketFrame(for: shared, compressing: server.engine.configuration.perMessageDeflate)
        // Alternates shared messages with the connection's own, which refer back to earlier ones:
        // every client must decode all.
        for session in server.sessions {
            session.send(.text(ByteBuffer(string: own)))
            session.send(shared, frame: frame)
            session.send(.text(ByteBuffer(string: own)))
            session.send(shared, frame: frame)
            session.send(.text(ByteBuffer(string: own)))
        }
        let compressed = ["*4\(own)", "*4\(Self.long)", "*4\(own)", "*4\(Self.long)", "*4\(own)"]
        #expect(try webSockets[0].received() == compressed)
        #expect(try webSockets[1].received() == compressed)
        #expect(try webSockets[2].received() == compressed.map { String($0.dropFirst()) })
        // The window of this client is too small for the shared form.
        #expect(try webSockets[3].received() == ["*4\(own)", "4\(Self.long)", "*4\(own)", "4\(Self.long)", "*4\(own)"])
    }

    @Test func aCompressedMessageOfTheClientIsBounded() throws {
        let server = try EngineServer {
            $0.perMessageDeflate = .init()
            $0.maximumPayloadBytes = 10_000
        }
        let webSocket = try server.webSocket("EIO=4&transport=websocket", fields: Self.offer)
        _ = try webSocket.received()
        var bomb = ByteBuffer()
        let agreement = WebSocketDeflateAgreement(role: .client, parameters: .init(), configuration: .init())
        try WebSocketDeflater(agreement).deflate(ByteBuffer(repeating: 0x34, count: 1_000_000), isLast: true, into: &bomb)
        try webSocket.send(WebSocketFrame(reserved: .rsv1, opcode: .text, payload: bomb))
        #expect(try webSocket.received() == ["close 1009"])
    }
}
