import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// The refusals of HTTP requests: status, error code and body.
@Suite("Engine.IO rows: HTTP errors") struct EngineIOErrorRowsTests {
    static let rows: [(method: HTTPRequest.Method, query: String, body: String)] = [
        (.get, "EIO=4", #"{"code":0,"message":"Transport unknown"}"#),
        (.get, "EIO=4&transport=abc", #"{"code":0,"message":"Transport unknown"}"#),
        (.get, "EIO=4&transport=polling&sid=nobody", #"{"code":1,"message":"Session ID unknown"}"#),
        (.post, "EIO=4&transport=polling&sid=nobody", #"{"code":1,"message":"Session ID unknown"}"#),
        (.post, "EIO=4&transport=polling", #"{"code":2,"message":"Bad handshake method"}"#),
        (.delete, "EIO=4&transport=polling", #"{"code":2,"message":"Bad handshake method"}"#),
        (.get, "EIO=4&transport=websocket", #"{"code":3,"message":"Bad request"}"#),
        (.get, "EIO=3&transport=polling", #"{"code":5,"message":"Unsupported protocol version"}"#),
    ]

    @Test(arguments: rows) func polling(method: HTTPRequest.Method, query: String, body: String) throws {
        let answer = try #require(try EngineServer().exchange(method, "/engine.io/?\(query)"))
        #expect(answer.status == 400)
        #expect(answer.body == body)
        #expect(answer.fields[.contentType] == "application/json")
    }

    @Test(arguments: [
        ("EIO=4&transport=abc", 0), ("EIO=4", 0), ("EIO=4&transport=websocket&sid=nobody", 1), ("EIO=4&transport=polling", 3),
        ("EIO=3&transport=websocket", 5), ("transport=websocket", 5),
    ])
    func webSocketUpgradeIsRefusedInHTTP(query: String, number: Int) throws {
        let answer = try EngineServer().webSocket(query).answer
        #expect(answer.status == 400)
        #expect(answer.body.contains("\"code\":\(number),"))
    }

    @Test(arguments: [HTTPField.Name.secWebSocketKey, .secWebSocketVersion]) func aBrokenWebSocketHandshakeIsABadRequest(
        field: HTTPField.Name
    ) throws {
        let server = try EngineServer()
        #expect(try server.webSocket("EIO=4&transport=websocket", fields: [field: "x"]).answer.status == 400)
        #expect(server.engine.sessionCount == 0)
    }

    @Test func aTransportThatIsNotOfferedIsUnknown() throws {
        let server = try EngineServer { $0.transports = [.webSocket] }
        #expect(try server.exchange(.get, "/engine.io/?EIO=4&transport=polling")?.body == #"{"code":0,"message":"Transport unknown"}"#)
        #expect(try server.webSocket("EIO=4&transport=websocket").answer.status == 101)
    }

    @Test func overlappingPollsCloseTheSession() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(.get, session) == nil)
        #expect(try server.connect().exchange(.get, session)?.status == 400)
        #expect(try server.http.answer()?.body == "1")
        #expect(server.events == ["closed: transport error"])
        #expect(try server.exchange(.get, session)?.body == #"{"code":1,"message":"Session ID unknown"}"#)
    }

    @Test func overlappingPostsCloseTheSession() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(.get, session) == nil)
        let slow = try server.connect()
        try slow.sendHead(.post, session)
        #expect(try server.connect().exchange(.post, session, body: "4b")?.status == 400)
        #expect(try server.http.answer()?.body == "1")
        #expect(server.events == ["closed: transport error"])
        // The first POST is refused, because the session has closed.
        try slow.send(.body(ByteBuffer(string: "4a")))
        try slow.send(.end(nil))
        #expect(try slow.answer()?.status == 400)
        #expect(server.events.count == 1)
    }

    @Test func anAbortedPostPermitsTheNext() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        let broken = try server.connect()
        try broken.sendHead(.post, session)
        _ = try broken.channel.finish(acceptAlreadyClosed: true)
        #expect(try server.exchange(.post, session, body: "4a")?.status == 200)
        #expect(server.events == ["a"])
    }

    @Test(arguments: [HTTPRequest.Method.put, .delete, .patch, .head]) func anotherMethodOnASessionIsRefused(method: HTTPRequest.Method)
        throws
    {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(method, session)?.status == 400)
        #expect(server.engine.sessionCount == 1)
    }

    @Test func anAnswerToHeadHasNoBody() throws {
        let answer = try #require(try EngineServer().exchange(.head, "/engine.io/?EIO=4&transport=polling"))
        #expect((answer.status, answer.body) == (400, ""))
    }

    @Test func aPollEndedByTheClientsOwnCloseGetsANoop() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(.get, session) == nil)
        #expect(try server.connect().exchange(.post, session, body: "1")?.body == "ok")
        let answer = try #require(try server.http.answer())
        #expect((answer.status, answer.body) == (200, "6"))
    }

    @Test(arguments: [(1000, 200), (1001, 413)]) func aBodyOverTheBoundGets413(length: Int, status: Int) throws {
        let server = try EngineServer { $0.maximumPayloadBytes = 1000 }
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, body: "4" + String(repeating: "x", count: length - 1))?.status == status)
    }

    @Test func aWebSocketMessageOverTheBoundCloses1009() throws {
        let server = try EngineServer { $0.maximumPayloadBytes = 1000 }
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        _ = try webSocket.received()
        try webSocket.send("4" + String(repeating: "x", count: 999))
        #expect(try webSocket.received().first?.utf8.count == 1000)
        try webSocket.send("4" + String(repeating: "x", count: 1000))
        #expect(try webSocket.received() == ["close 1009"])
        #expect(server.events.last == "closed: transport error")
    }

    @Test func theApplicationIsNotifiedOfEveryRefusal() throws {
        nonisolated(unsafe) var heard: [String] = []
        let server = try EngineServer { $0.onConnectionError = { heard.append("\($0.number) \($0.error.code) \($0.request.method)") } }
        for row in Self.rows { _ = try server.exchange(row.method, "/engine.io/?\(row.query)") }
        #expect(
            heard == [
                "0 transportUnknown GET", "0 transportUnknown GET", "1 sessionUnknown GET", "1 sessionUnknown POST",
                "2 badHandshakeMethod POST",
                "2 badHandshakeMethod DELETE", "3 badRequest GET", "5 unsupportedVersion GET",
            ])
    }
}
