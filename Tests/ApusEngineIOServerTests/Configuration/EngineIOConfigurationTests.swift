import ApusEngineIOProtocol
@testable import ApusEngineIOServer
import ApusTesting
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@Suite("Engine.IO server: settings") struct EngineIOConfigurationTests {
    private static let handshake = "/engine.io/?EIO=4&transport=polling"

    // MARK: Cookie

    @Test func noCookieByDefault() throws {
        #expect(try EngineServer().exchange(.get, Self.handshake)?.fields[.setCookie] == nil)
    }

    @Test func theCookieIsSetWhereASessionBegins() throws {
        let server = try EngineServer { $0.cookie = EngineIOCookie() }
        let answer = try #require(try server.exchange(.get, Self.handshake))
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        #expect(answer.fields[.setCookie] == "io=\(sid); Path=/; HttpOnly; SameSite=Lax")
        #expect(try server.exchange(.post, "\(Self.handshake)&sid=\(sid)", body: "4a")?.fields[.setCookie] == nil)
        #expect(try server.exchange(.get, "\(Self.handshake)&sid=\(sid)")?.fields[.setCookie] == nil)
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        #expect(webSocket.answer.status == 101)
        #expect(webSocket.answer.fields[.setCookie]?.hasPrefix("io=") == true)
        #expect(try server.webSocket("EIO=4&transport=websocket&sid=\(sid)").answer.fields[.setCookie] == nil)
    }

    @Test func everythingOfTheCookieCanBeSet() throws {
        let server = try EngineServer {
            var cookie = EngineIOCookie()
            cookie.name = "lb"
            cookie.path = "/chat"
            cookie.domain = "example.com"
            cookie.maximumAge = .seconds(3600)
            cookie.isHTTPOnly = false
            cookie.isSecure = true
            cookie.sameSite = EngineIOCookie.SameSite.none
            $0.cookie = cookie
        }
        let cookie = try #require(try server.exchange(.get, Self.handshake)?.fields[.setCookie])
        #expect(
            cookie.wholeMatch(of: /lb=[A-Za-z0-9_-]{20}; Max-Age=3600; Domain=example.com; Path=\/chat; Secure; SameSite=None/) != nil,
            "\(cookie)")
    }

    // MARK: CORS

    private let page: HTTPFields = [.origin: "http://page.org"]

    @Test func noCORSByDefault() throws {
        let fields = try #require(try EngineServer().exchange(.get, Self.handshake)?.fields)
        #expect(fields[.accessControlAllowOrigin] == nil && fields[.vary] == nil)
    }

    @Test func aListedPageMayReadAndSendCookies() throws {
        let server = try EngineServer { $0.origins = .list(["http://page.org", "http://other.org"]) }
        let answer = try #require(try server.exchange(.get, Self.handshake, fields: self.page))
        #expect(answer.status == 200)
        #expect(answer.fields[.accessControlAllowOrigin] == "http://page.org")
        #expect(answer.fields[.accessControlAllowCredentials] == "true")
        #expect(answer.fields[.vary] == "Origin")
        #expect(try server.exchange(.get, Self.handshake, fields: [.origin: "http://evil.org"])?.status == 403)
    }

    @Test func aRefusalCanBeReadByThePageToo() throws {
        let server = try EngineServer { $0.origins = .any }
        let answer = try #require(try server.exchange(.get, "/engine.io/?EIO=4&transport=abc", fields: self.page))
        #expect(answer.status == 400)
        #expect(answer.fields[.accessControlAllowOrigin] == "*")
        #expect(answer.fields[.accessControlAllowCredentials] == nil)
    }

    @Test func thePreflightListsThePermissions() throws {
        let server = try EngineServer {
            $0.origins = .list(["http://page.org"])
            $0.cors.methods = ["GET", "POST", "PUT"]
            $0.cors.allowedHeaders = ["X-Mine", "X-Yours"]
            $0.cors.exposedHeaders = ["X-Ours"]
            $0.cors.allowsCredentials = false
            $0.cors.maximumAge = .seconds(5)
        }
        let answer = try #require(try server.exchange(.options, Self.handshake, fields: self.page))
        #expect(answer.status == 204)
        #expect(answer.body == "")
        #expect(answer.fields[.accessControlAllowMethods] == "GET, POST, PUT")
        #expect(answer.fields[.accessControlAllowHeaders] == "X-Mine, X-Yours")
        #expect(answer.fields[.accessControlExposeHeaders] == "X-Ours")
        #expect(answer.fields[.accessControlAllowCredentials] == nil)
        #expect(answer.fields[.accessControlMaxAge] == "5")
        #expect(try server.exchange(.options, Self.handshake, fields: [.origin: "http://evil.org"])?.status == 403)
    }

    // MARK: Hooks

    private static let first = HTTPField.Name("X-First")!
    private static let every = HTTPField.Name("X-Every")!

    @Test func theHooksAddFields() throws {
        let server = try EngineServer {
            $0.initialHeaders = { fields, request in fields[Self.first] = request.path }
            $0.headers = { fields, request in fields[Self.every] = "yes" }
        }
        let answer = try #require(try server.exchange(.get, Self.handshake))
        #expect(answer.fields[Self.first] == Self.handshake)
        #expect(answer.fields[Self.every] == "yes")
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        let second = try #require(try server.exchange(.post, "\(Self.handshake)&sid=\(sid)", body: "4a"))
        #expect(second.fields[Self.first] == nil)
        #expect(second.fields[Self.every] == "yes")
        let webSocket = try server.webSocket("EIO=4&transport=websocket").answer
        #expect(webSocket.fields[Self.first] != nil && webSocket.fields[Self.every] == "yes")
        let probe = try server.webSocket("EIO=4&transport=websocket&sid=\(sid)").answer
        #expect(probe.fields[Self.first] == nil && probe.fields[Self.every] == "yes")
    }

    @Test func theHooksCannotBreakTheFraming() throws {
        let server = try EngineServer {
            $0.headers = { fields, _ in
                fields[.contentLength] = "3"
                fields[.transferEncoding] = "chunked"
                fields[.upgrade] = "else"
                fields[.contentType] = "text/evil"
            }
        }
        let answer = try #require(try server.exchange(.get, Self.handshake))
        #expect(answer.fields[.contentLength] == String(answer.body.utf8.count))
        #expect(answer.fields[.transferEncoding] == nil)
        #expect(answer.fields[.contentType] == "text/plain; charset=UTF-8")
        let webSocket = try server.webSocket("EIO=4&transport=websocket").answer
        #expect(webSocket.fields[.upgrade] == "websocket")
        #expect(webSocket.fields[.contentLength] == nil && webSocket.fields[.transferEncoding] == nil)
    }

    // MARK: Caps

    private static let client = HTTPField.Name("X-Forwarded-For")!

    @Test func anAddressHasItsShare() throws {
        let server = try EngineServer {
            $0.maximumClientsPerAddress = 2
            $0.clientAddress = { request, _ in request.headerFields[Self.client] }
        }
        for _ in 0..<2 { #expect(try server.exchange(.get, Self.handshake, fields: [Self.client: "1.2.3.4"])?.status == 200) }
        let refused = try #require(try server.exchange(.get, Self.handshake, fields: [Self.client: "1.2.3.4"]))
        #expect(
            (refused.status, refused.body) == (
                429, #"{"code":4,"message":"this address already has 2 clients (`maximumClientsPerAddress`)"}"#
            ))
        #expect(try server.exchange(.get, Self.handshake, fields: [Self.client: "1.2.3.5"])?.status == 200)
        #expect(try server.webSocket("EIO=4&transport=websocket", fields: [Self.client: "1.2.3.4"]).answer.status == 429)
        #expect(server.engine.sessionCount == 3)
        // A closed session releases its place.
        server.pass(.seconds(45))
        #expect(try server.exchange(.get, Self.handshake, fields: [Self.client: "1.2.3.4"])?.status == 200)
    }

    @Test func connectionsHaveABoundToo() throws {
        let server = try EngineServer { $0.maximumClientsPerAddress = 10 }
        let channels = try (0..<85).map { _ in
            let channel = EmbeddedChannel(loop: server.eventLoop)
            try channel.connect(to: SocketAddress(ipAddress: "1.2.3.4", port: 1)).wait()
            return channel
        }
        // The limit is two connections for each client, and a reserve for refused connections.
        #expect(channels.map { server.engine.admit($0) } == Array(repeating: true, count: 84) + [false])
        try channels[0].close().wait()
        server.eventLoop.run()
        #expect(server.engine.admit(channels[84]))
    }

    @Test func theLoopbackIsNotCounted() throws {
        let server = try EngineServer { $0.maximumClientsPerAddress = 1 }
        for _ in 0..<3 { #expect(try server.exchange(.get, Self.handshake)?.status == 200) }
    }

    // MARK: Validation

    @Test(
        arguments: [
            { $0.path = "engine.io/" }, { $0.path = "/engine.io" }, { $0.path = "/a?b/" }, { $0.transports = [] },
            { $0.pingInterval = .zero },
            { $0.requestTimeout = .seconds(-1) }, { $0.maximumPayloadBytes = 0 }, { $0.maximumClientsPerAddress = 0 },
            { $0.drainBatchSize = 0 },
            {
                $0.cookie = EngineIOCookie(); $0.cookie?.name = "a b"
            },
            {
                $0.cookie = EngineIOCookie(); $0.cookie?.path = "/;x"
            },
            { $0.httpCompression?.level = 10 },
            {
                $0.perMessageDeflate = .init(); $0.perMessageDeflate?.compressionLevel = 11
            },
        ] as [@Sendable (inout EngineIOServerConfiguration) -> Void])
    func isRefused(change: @Sendable (inout EngineIOServerConfiguration) -> Void) throws {
        var configuration = EngineIOServerConfiguration()
        try configuration.validate()
        change(&configuration)
        #expect { try configuration.validate() } throws: { ($0 as? EngineIOError)?.code == .invalidConfiguration }
    }
}
