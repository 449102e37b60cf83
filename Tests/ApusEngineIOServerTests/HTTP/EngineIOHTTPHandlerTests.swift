import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import ApusWebSocket
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

private typealias Connection = EngineServer

@Suite struct EngineIOHTTPHandlerTests {
    @Test func handshakeAnnouncesTheConfiguration() throws {
        let connection = try Connection()
        let answer = try #require(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling"))
        #expect(answer.status == 200)
        #expect(answer.fields[.contentType] == "text/plain; charset=UTF-8")
        let pattern =
            /0\{"sid":"[A-Za-z0-9_-]{20}","upgrades":\["websocket"\],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000\}/
        #expect(answer.body.wholeMatch(of: pattern) != nil, "\(answer.body)")
        #expect(connection.engine.sessionCount == 1)
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "EIO=4&transport=abc", #"{"code":0,"message":"Transport unknown"}"#),
        (.get, "EIO=4&transport=polling&sid=nobody", #"{"code":1,"message":"Session ID unknown"}"#),
        (.post, "EIO=4&transport=polling", #"{"code":2,"message":"Bad handshake method"}"#),
        (.get, "EIO=4&transport=websocket", #"{"code":3,"message":"Bad request"}"#),
        (.get, "EIO=5&transport=polling", #"{"code":5,"message":"Unsupported protocol version"}"#),
    ])
    func refusalsHaveTheirBody(method: HTTPRequest.Method, query: String, body: String) throws {
        let answer = try Connection().exchange(method, "/engine.io/?\(query)")
        #expect(answer?.status == 400)
        #expect(answer?.body == body)
        #expect(answer?.fields[.contentType] == "application/json")
    }

    @Test func messagesGoBothWays() throws {
        let connection = try Connection()
        let session = try connection.handshake()
        #expect(try connection.exchange(.post, session, body: "4hello\u{1e}4€\u{1e}bAQID")?.body == "ok")
        #expect(connection.events == ["hello", "€", "binary 3"])
        #expect(try connection.exchange(.get, session)?.body == "4hello\u{1e}4€\u{1e}bAQID")
        #expect(try connection.exchange(.get, session) == nil)
    }

    @Test func heldPollIsAnsweredByAPing() throws {
        let connection = try Connection()
        let session = try connection.handshake()
        #expect(try connection.exchange(.get, session) == nil)
        connection.pass(.seconds(25))
        #expect(try connection.http.answer()?.body == "2")
        #expect(try connection.exchange(.post, session, body: "3")?.body == "ok")
        connection.pass(.seconds(25))
        #expect(try connection.exchange(.get, session)?.body == "2")
        connection.pass(.seconds(20))
        #expect(connection.events == ["closed: ping timeout"])
        #expect(connection.engine.sessionCount == 0)
    }

    @Test(arguments: ["abc", "", "4a\u{1e}", "\u{1e}", "9", "b!!!"])
    func badPayloadIsAnsweredAndClosesTheSession(body: String) throws {
        let connection = try Connection()
        let session = try connection.handshake()
        #expect(try connection.exchange(.post, session, body: body)?.status == 400)
        #expect(connection.events.last == "closed: parse error")
        #expect(try connection.exchange(.get, session)?.body == #"{"code":1,"message":"Session ID unknown"}"#)
    }

    @Test func packetsPerPayloadHaveABound() throws {
        let connection = try Connection { $0.maximumPacketsPerPayload = 3 }
        let session = try connection.handshake()
        #expect(try connection.exchange(.post, session, body: "4a\u{1e}4b\u{1e}4c")?.status == 200)
        #expect(try connection.exchange(.post, session, body: "4a\u{1e}4b\u{1e}4c\u{1e}4d")?.status == 400)
        #expect(connection.events == ["a", "b", "c", "closed: parse error"])
    }

    @Test func bodyOverTheBoundIsRefused() throws {
        let connection = try Connection { $0.maximumPayloadBytes = 10 }
        let session = try connection.handshake()
        #expect(try connection.exchange(.post, session, body: "4123456789")?.status == 200)
        #expect(try connection.exchange(.post, session, body: "41234567890")?.status == 413)
        #expect(connection.events.last == "closed: parse error")
    }

    @Test func announcedLengthIsCheckedBeforeTheBody() throws {
        let connection = try Connection { $0.maximumPayloadBytes = 10 }
        let session = try connection.handshake()
        try connection.http.sendHead(.post, session, fields: [.contentLength: "1073741824"])
        #expect(try connection.http.answer()?.status == 413)
    }

    @Test func clientThatClosesGetsANoop() throws {
        let connection = try Connection()
        let session = try connection.handshake()
        #expect(try connection.exchange(.post, session, body: "1")?.status == 200)
        #expect(connection.events == ["closed: transport close"])
    }

    @Test func heldPollThatGoesAwayEndsTheSession() throws {
        let connection = try Connection()
        #expect(try connection.exchange(.get, try connection.handshake()) == nil)
        _ = try connection.http.channel.finish(acceptAlreadyClosed: true)
        #expect(connection.events == ["closed: transport close"])
        #expect(connection.engine.sessionCount == 0)
    }

    @Test func sessionsHaveABound() throws {
        let connection = try Connection { $0.maximumClients = 1 }
        _ = try connection.handshake()
        #expect(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling")?.status == 503)
        #expect(connection.engine.sessionCount == 1)
    }

    @Test func originIsChecked() throws {
        let connection = try Connection()
        let refused = try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling", fields: [.origin: "http://evil.org"])
        #expect(refused?.status == 403)
        #expect(refused?.body == #"{"code":4,"message":"the server does not allow this origin (`origins`)"}"#)
        let same = try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling", fields: [.origin: "http://localhost:3000"])
        #expect(same?.status == 200)
    }

    @Test func preflightIsAnswered() throws {
        let connection = try Connection { $0.origins = .list(["http://page.org"]) }
        let fields: HTTPFields = [.origin: "http://page.org", .accessControlRequestHeaders: "x-mine"]
        let answer = try #require(try connection.exchange(.options, "/engine.io/?EIO=4&transport=polling", fields: fields))
        #expect(answer.status == 204)
        #expect(answer.fields[.accessControlAllowOrigin] == "http://page.org")
        #expect(answer.fields[.accessControlAllowHeaders] == "x-mine")
    }

    @Test func otherPathsArePassedOn() throws {
        let connection = try Connection()
        #expect(try connection.exchange(.get, "/index.html") == nil)
        guard case .head(let head) = try connection.http.channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("the request was not passed on")
            return
        }
        #expect(head.uri == "/index.html")
    }

    @Test func answersKeepTheOrderOfPipelinedRequests() throws {
        let connection = try Connection()
        #expect(try connection.exchange(.get, "/index.html") == nil)
        #expect(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling") == nil)
        try connection.http.channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .notFound)))
        try connection.http.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(try connection.http.answer()?.status == 404)
        #expect(try connection.http.answer()?.status == 200)
    }

    // MARK: Slow peers (docs/hazards.md, 14)

    @Test func aSilentConnectionIsClosed() throws {
        let connection = try Connection(isAlone: true)
        connection.pass(.seconds(9))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    @Test(arguments: [true, false]) func aBodyThatTricklesIsNotAwaited(isAlone: Bool) throws {
        let connection = try Connection(isAlone: isAlone)
        let path = try connection.handshake()
        connection.pass(.seconds(1))
        try connection.http.sendHead(.post, path)
        for _ in 0..<9 {
            connection.pass(.seconds(1))
            try connection.http.send(.body(ByteBuffer(string: "4")))
            #expect(connection.http.channel.isActive)
        }
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    @Test func aHeldPollIsNotASlowRequest() throws {
        let connection = try Connection(isAlone: true) { $0.pingInterval = .seconds(200) }
        let path = try connection.handshake()
        #expect(try connection.exchange(.get, path) == nil)
        connection.pass(.seconds(190))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(10))
        #expect(try connection.http.answer()?.body == "2")
        connection.pass(.seconds(74))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    // MARK: Slow requests that are passed on

    private static let passing = PassThroughTimeouts(
        requestTimeout: { .seconds($0.method == .POST ? 30 : 10) }, answerTimeout: .seconds(50))

    @Test(arguments: [(HTTPRequest.Method.get, 10), (.post, 30)])
    func aPassedRequestHasItsOwnTime(method: HTTPRequest.Method, seconds: Int) throws {
        let connection = try Connection(isAlone: true, passing: Self.passing)
        try connection.http.sendHead(method, "/upload")
        for _ in 1..<seconds {
            connection.pass(.seconds(1))
            try connection.http.send(.body(ByteBuffer(string: "x")))
            #expect(connection.http.channel.isActive)
        }
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    @Test func thePassedRequestsAnswerHasItsOwnTime() throws {
        let connection = try Connection(isAlone: true, passing: Self.passing)
        #expect(try connection.exchange(.get, "/download") == nil)
        connection.pass(.seconds(40))
        // A part of the answer does not extend the deadline.
        try connection.http.channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
        try connection.http.channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "x"))))
        connection.pass(.seconds(9))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    /// An answer may precede the end of the body, as with status 413.
    @Test(arguments: [true, false]) func afterAPassedRequestTheConnectionMayBeSilentForAWhile(isAnsweredEarly: Bool) throws {
        let connection = try Connection(isAlone: true, passing: Self.passing)
        try connection.http.sendHead(.post, "/upload")
        func answer() throws {
            try connection.http.channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
            try connection.http.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }
        if isAnsweredEarly { try answer() }
        connection.pass(.seconds(20))
        try connection.http.send(.end(nil))
        if !isAnsweredEarly { try answer() }
        connection.pass(.seconds(74))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }

    @Test func aLastAnswerThatIsNotReadTimesOut() throws {
        let connection = try Connection(isAlone: true)
        try connection.http.channel.pipeline.syncOperations.addHandler(FullPipe(), position: .first)
        try connection.http.send(.get, "/engine.io/?EIO=4&transport=abc", fields: [.connection: "close"])
        connection.pass(.seconds(74))
        #expect(connection.http.channel.isActive)
        connection.pass(.seconds(1))
        #expect(!connection.http.channel.isActive)
    }
}

/// The outbound side of a peer that does not read.
private final class FullPipe: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart

    private var held: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { self.held.append(promise) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        for promise in self.held { promise.fail(ChannelError.ioOnClosedChannel) }
        self.held = []
    }
}
