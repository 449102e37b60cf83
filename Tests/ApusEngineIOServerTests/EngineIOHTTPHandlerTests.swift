import ApusEngineIOProtocol
import ApusEngineIOServer
import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

/// One HTTP connection to a server, without a socket: requests in, answers out, time passed by hand.
private final class Connection {
    private final class Recorder: EngineIOSessionDelegate {
        var events: [String] = []
        func session(_ session: EngineIOSession, received message: EngineIOMessage) {
            switch message {
            case .text(let bytes): self.events.append(String(buffer: bytes))
            case .binary(let bytes): self.events.append("binary \(bytes.readableBytes)")
            }
            session.send(message)
        }
        func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) { self.events.append("closed: \(reason)") }
    }

    let channel = EmbeddedChannel()
    let server: EngineIOServer
    private let recorder = Recorder()

    var events: [String] { self.recorder.events }

    init(_ configure: (inout EngineIOServerConfiguration) -> Void = { _ in }) throws {
        var configuration = EngineIOServerConfiguration()
        configure(&configuration)
        // The delegate is made on the embedded loop, which is this thread.
        nonisolated(unsafe) let recorder = self.recorder
        self.server = EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in recorder }
        try self.channel.pipeline.syncOperations.addHandler(self.server.makeHTTPHandler())
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    struct Answer: Equatable {
        var status: Int
        var body: String
        var fields: HTTPFields = [:]
    }

    func send(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String? = nil) throws {
        let request = HTTPRequest(method: method, scheme: "http", authority: "localhost:3000", path: path, headerFields: fields)
        try self.channel.writeInbound(HTTPRequestPart.head(request))
        if let body { try self.channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: body))) }
        try self.channel.writeInbound(HTTPRequestPart.end(nil))
        self.channel.embeddedEventLoop.run()
    }

    /// The next answer, or `nil` while the request is held.
    func answer() throws -> Answer? {
        var answer: Answer?
        while let part = try self.channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head(let head): answer = Answer(status: head.status.code, body: "", fields: head.headerFields)
            case .body(let bytes): answer?.body += String(buffer: bytes)
            case .end: return answer
            }
        }
        return answer
    }

    func exchange(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String? = nil) throws -> Answer? {
        try self.send(method, path, fields: fields, body: body)
        return try self.answer()
    }

    /// A polling session; answers the query of its further requests.
    func handshake() throws -> String {
        let answer = try #require(try self.exchange(.get, "/engine.io/?EIO=4&transport=polling"))
        #expect(answer.status == 200)
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        return "/engine.io/?EIO=4&transport=polling&sid=\(sid)"
    }

    func pass(_ time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }
}

@Suite struct EngineIOHTTPHandlerTests {
    @Test func handshakeAnnouncesTheConfiguration() throws {
        let connection = try Connection()
        let answer = try #require(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling"))
        #expect(answer.status == 200)
        #expect(answer.fields[.contentType] == "text/plain; charset=UTF-8")
        let pattern = /0\{"sid":"[A-Za-z0-9_-]{20}","upgrades":\["websocket"\],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000\}/
        #expect(answer.body.wholeMatch(of: pattern) != nil, "\(answer.body)")
        #expect(connection.server.sessionCount == 1)
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
        #expect(try connection.answer()?.body == "2")
        #expect(try connection.exchange(.post, session, body: "3")?.body == "ok")
        connection.pass(.seconds(25))
        #expect(try connection.exchange(.get, session)?.body == "2")
        connection.pass(.seconds(20))
        #expect(connection.events == ["closed: ping timeout"])
        #expect(connection.server.sessionCount == 0)
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

    @Test func announcedLengthIsJudgedBeforeTheBody() throws {
        let connection = try Connection { $0.maximumPayloadBytes = 10 }
        let session = try connection.handshake()
        let request = HTTPRequest(
            method: .post, scheme: "http", authority: "localhost", path: session, headerFields: [.contentLength: "1073741824"])
        try connection.channel.writeInbound(HTTPRequestPart.head(request))
        #expect(try connection.answer()?.status == 413)
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
        _ = try connection.channel.finish(acceptAlreadyClosed: true)
        #expect(connection.events == ["closed: transport close"])
        #expect(connection.server.sessionCount == 0)
    }

    @Test func sessionsHaveABound() throws {
        let connection = try Connection { $0.maximumSessions = 1 }
        _ = try connection.handshake()
        #expect(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling")?.status == 403)
        #expect(connection.server.sessionCount == 1)
    }

    @Test func originIsChecked() throws {
        let connection = try Connection()
        let refused = try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling", fields: [.origin: "http://evil.org"])
        #expect(refused?.status == 403)
        #expect(refused?.body == #"{"code":4,"message":"Origin not allowed"}"#)
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
        guard case .head(let request) = try connection.channel.readInbound(as: HTTPRequestPart.self) else {
            Issue.record("the request was not passed on")
            return
        }
        #expect(request.path == "/index.html")
    }

    @Test func answersKeepTheOrderOfPipelinedRequests() throws {
        let connection = try Connection()
        #expect(try connection.exchange(.get, "/index.html") == nil)
        #expect(try connection.exchange(.get, "/engine.io/?EIO=4&transport=polling") == nil)
        try connection.channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .notFound)))
        try connection.channel.writeOutbound(HTTPResponsePart.end(nil))
        #expect(try connection.answer()?.status == 404)
        #expect(try connection.answer()?.status == 200)
    }
}
