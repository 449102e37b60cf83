import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import ApusWebSocket
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// Deliberate differences from Node's engine.io.
@Suite("Engine.IO rows: better than Node") struct EngineIOBetterThanNodeTests {
    @Test func unsupportedVersionOverWebSocketIsRefusedBeforeAnyUpgrade() throws {
        let answer = try EngineServer().webSocket("EIO=3&transport=websocket").answer
        #expect(answer.status == 400)
        #expect(answer.fields[.upgrade] == nil)
    }

    @Test func aClosePacketOnWebSocketClosesAtOnce() throws {
        let server = try EngineServer()
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        try webSocket.send("1")
        #expect(server.engine.sessionCount == 0)
    }

    @Test func anInvalidBodyGets400AndTheSessionCloses() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, body: "4a\u{1e}nonsense")?.status == 400)
        #expect(server.events == ["closed: parse error"], "all or nothing: not even the good packet")
    }

    @Test func aHundredThousandPacketsInOneBodyAreRefused() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        let body = Array(repeating: "4a", count: 100_000).joined(separator: "\u{1e}")
        #expect(try server.exchange(.post, session, body: body)?.status == 400)
        #expect(server.events == ["closed: parse error"])
    }

    @Test func theWorkOfOneTurnIsBounded() throws {
        let server = try EngineServer { $0.maximumPacketsPerPayload = 10_000 }
        server.echoes = false
        let session = try server.handshake()
        let neighbour = try server.connect()
        let neighbourPath = try #require(
            try neighbour.exchange(.get, "/engine.io/?EIO=4&transport=polling")?.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        // Both requests arrive before the event loop's next turn: the second must not wait for all
        // of the first.
        let body = Array(repeating: "4a", count: 1000).joined(separator: "\u{1e}")
        try server.http.sendHead(.post, session)
        try server.http.send(.body(ByteBuffer(string: body)))
        try server.http.send(.end(nil))
        #expect(server.events.count == 100)
        try neighbour.sendHead(.post, "/engine.io/?EIO=4&transport=polling&sid=\(neighbourPath)")
        try neighbour.send(.body(ByteBuffer(string: "4mine")))
        try neighbour.send(.end(nil))
        #expect(server.events.last == "mine")
        #expect(try server.http.answer() == nil)
        server.eventLoop.run()
        #expect(server.events.count == 101, "tasks run before the loop looks at its sockets")
        server.pass(.milliseconds(10))
        #expect(try server.http.answer()?.body == "ok")
        #expect(server.events.count == 1001)
        #expect(try server.exchange(.post, session, body: "4again")?.body == "ok")
    }

    @Test func aPostThatIsBeingHandledCountsAsOne() throws {
        let server = try EngineServer()
        server.echoes = false
        let session = try server.handshake()
        let body = Array(repeating: "4a", count: 1000).joined(separator: "\u{1e}")
        try server.http.sendHead(.post, session)
        try server.http.send(.body(ByteBuffer(string: body)))
        try server.http.send(.end(nil))
        #expect(try server.connect().exchange(.post, session, body: "4b")?.status == 400)
        #expect(server.events.last == "closed: transport error")
        #expect(server.events.count < 300, "what was left of the first is not handled any more")
    }

    @Test func aSlowReaderByPollingIsBounded() throws {
        let server = try EngineServer { $0.maximumQueuedBytes = 100_000 }
        _ = try server.handshake()
        let session = try #require(server.sessions.first)
        #expect(!session.isWritable, "volatile messages are dropped first")
        for _ in 0..<200 { session.send(.text(ByteBuffer(repeating: 0x61, count: 1000))) }
        #expect(server.events == ["closed: transport error"])
    }

    @Test func aSlowReaderByWebSocketIsBounded() throws {
        let server = try EngineServer { $0.maximumQueuedBytes = 100_000 }
        let slow = try server.webSocket("EIO=4&transport=websocket")
        let healthy = try server.webSocket("EIO=4&transport=websocket")
        _ = try healthy.received()
        let session = try #require(server.sessions.first)
        let message = EngineIOMessage.text(ByteBuffer(repeating: 0x61, count: 1000))
        let frame = EngineIOSession.webSocketFrame(for: message, compressing: nil)
        // All in one turn, in which no client can read.
        for index in 0..<200 { session.send(message, frame: index % 2 == 0 ? frame : nil) }
        #expect(server.events == ["closed: transport error"])
        #expect(!slow.http.channel.isActive)
        try healthy.send("4hello")
        #expect(try healthy.received() == ["4hello"])
    }

    @Test func aReaderThatKeepsUpMayBeSentAnyAmount() throws {
        let server = try EngineServer { $0.maximumQueuedBytes = 100_000 }
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        let session = try #require(server.sessions.first)
        for _ in 0..<100 {
            for _ in 0..<50 { session.send(.text(ByteBuffer(repeating: 0x61, count: 1000))) }
            #expect(try webSocket.received().isEmpty == false)
        }
        #expect(server.events == [])
    }

    // MARK: Origin

    @Test(arguments: ["http://evil.org", "null", "http://localhost:3000.evil.org", "http://xlocalhost:3000", "https://localhost"])
    func originIsCheckedOnEveryHandshakeAndRequest(origin: String) throws {
        let server = try EngineServer()
        let fields: HTTPFields = [.origin: origin]
        #expect(try server.exchange(.get, "/engine.io/?EIO=4&transport=polling", fields: fields)?.status == 403)
        #expect(try server.webSocket("EIO=4&transport=websocket", fields: fields).answer.status == 403)
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, fields: fields, body: "4a")?.status == 403)
        #expect(try server.exchange(.get, session, fields: fields)?.status == 403)
        let sid = try #require(session.split(separator: "sid=").last)
        #expect(try server.webSocket("EIO=4&transport=websocket&sid=\(sid)", fields: fields).answer.status == 403)
        #expect(server.events == [])
        #expect(try server.exchange(.post, session, body: "4a")?.status == 200)
    }

    @Test func aCookieWithoutAnOriginOpensNoWebSocket() throws {
        let server = try EngineServer()
        let fields: HTTPFields = [.cookie: "session=secret"]
        let refused = try server.webSocket("EIO=4&transport=websocket", fields: fields).answer
        #expect((refused.status, refused.body) == (403, #"{"code":4,"message":"the server does not allow this origin (`origins`)"}"#))
        #expect(try server.exchange(.get, "/engine.io/?EIO=4&transport=polling", fields: fields)?.status == 200)
        let named: HTTPFields = [.cookie: "session=secret", .origin: "http://localhost:3000"]
        #expect(try server.webSocket("EIO=4&transport=websocket", fields: named).answer.status == 101)
    }

    // MARK: Deadlines: every state of a session ends

    @Test func aSessionThatNeverPollsEnds() throws {
        let server = try EngineServer()
        for _ in 0..<100 { _ = try server.handshake() }
        server.pass(.milliseconds(44_999))
        #expect(server.engine.sessionCount == 100)
        server.pass(.milliseconds(1))
        #expect(server.engine.sessionCount == 0)
    }

    @Test func closingPacketsThatNoPollFetchesAreDropped() throws {
        let server = try EngineServer()
        let path = try server.handshake()
        try #require(server.sessions.first).close(.forcedClose)
        server.pass(.milliseconds(19_999))
        #expect(try server.exchange(.get, path)?.body == "1")
        let second = try server.handshake()
        try #require(server.sessions.first).close(.forcedClose)
        server.pass(.seconds(20))
        #expect(try server.exchange(.get, second)?.body == #"{"code":1,"message":"Session ID unknown"}"#)
    }

    @Test func anUnansweredCloseFrameTimesOut() throws {
        let server = try EngineServer()
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        try #require(server.sessions.first).close(.forcedClose)
        #expect(webSocket.http.channel.isActive)
        server.pass(.seconds(60))
        #expect(!webSocket.http.channel.isActive)
    }

    @Test func everythingOfAnAbandonedSessionIsReleased() throws {
        let server = try EngineServer()
        weak var polling: EngineIOSession?
        weak var webSocket: EngineIOSession?
        weak var upgrading: EngineIOSession?
        do {
            _ = try server.handshake()
            polling = server.sessions.last
            let socket = try server.webSocket("EIO=4&transport=websocket")
            webSocket = server.sessions.last
            let session = try server.handshake()
            upgrading = server.sessions.last
            let probe = try server.webSocket("EIO=4&transport=websocket&sid=\(session.split(separator: "sid=").last ?? "")")
            try probe.send("2probe")
            #expect(polling != nil && webSocket != nil && upgrading != nil)
            server.pass(.seconds(120))
            socket.vanish()
            probe.vanish()
        }
        server.eventLoop.run()
        // A running timer would retain its session.
        #expect(polling == nil)
        #expect(webSocket == nil)
        #expect(upgrading == nil)
        #expect(server.engine.sessionCount == 0)
    }
}
