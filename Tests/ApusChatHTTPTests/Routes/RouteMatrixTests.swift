import ApusChatProtocol
import ApusChatReference
import ApusChatStorage
import ApusJSON
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Every route with every kind of wrong request.
@Suite("Routes and wrong requests")
struct RouteMatrixTests {
    /// A route, and whether it needs a session.
    struct Route: Sendable, CustomTestStringConvertible {
        var method: HTTPRequest.Method
        var path: String
        var needsSession = true
        var testDescription: String { "\(self.method) \(self.path)" }
    }

    static let routes: [Route] = [
        Route(method: .post, path: "/api/register", needsSession: false), Route(method: .post, path: "/api/login", needsSession: false),
        Route(method: .post, path: "/api/refresh", needsSession: false), Route(method: .post, path: "/api/logout", needsSession: false),
        Route(method: .post, path: "/api/password", needsSession: false), Route(method: .post, path: "/api/recovery"),
        Route(method: .post, path: "/api/account/delete"), Route(method: .post, path: "/api/totp"),
        Route(method: .post, path: "/api/totp/confirm"), Route(method: .post, path: "/api/totp/delete"),
        Route(method: .get, path: "/api/sessions"), Route(method: .delete, path: "/api/sessions/2d3e4v5c6e7a8"),
        Route(method: .post, path: "/api/uploads"), Route(method: .head, path: "/api/uploads/x"),
        Route(method: .patch, path: "/api/uploads/x"),
        Route(method: .delete, path: "/api/uploads/x"), Route(method: .get, path: "/api/blobs/" + String(repeating: "0f", count: 32)),
        Route(method: .head, path: "/api/blobs/" + String(repeating: "0f", count: 32)), Route(method: .get, path: "/api/account/export"),
        Route(method: .post, path: "/api/blobs/" + String(repeating: "0f", count: 32) + "/link"),
        Route(method: .post, path: "/api/chat/send"), Route(method: .post, path: "/api/chat/devices"),
        Route(method: .post, path: "/api/chat/device.remove"), Route(method: .post, path: "/api/chat/push.set"),
        Route(method: .get, path: "/api/server", needsSession: false), Route(method: .get, path: "/health", needsSession: false),
        Route(method: .get, path: "/ready", needsSession: false),
    ]
    private static let tus: HTTPFields = [.tusResumable: "1.0.0"]

    private static func checkFields(_ response: TestResponse, _ route: Route) {
        #expect(response.headers[.xContentTypeOptions] == "nosniff" && response.headers[.referrerPolicy] == "no-referrer", "\(route)")
        #expect(response.headers[.resourcePolicy] == "same-origin" && response.headers[.contentSecurityPolicy] != nil, "\(route)")
        #expect(response.headers[.cacheControl] == "no-store", "\(route)")
        #expect(response.headers[.setCookie] == nil && response.headers[.accessControlAllowOrigin] == nil, "\(route)")
    }

    @Test func noRouteAnswersWithoutAValidSession() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let ended = try await client.register("alice").session()
            _ = try await client.post("/api/logout", [:], token: ended.access)
            let fields: [HTTPFields] = [
                [:], [.authorization: ""], [.authorization: "Bearer"], [.authorization: "Bearer "], [.authorization: "Basic YTpi"],
                [.authorization: "Bearer a.AAAA"], [.authorization: "Bearer " + ended.access], [.authorization: "Bearer " + ended.refresh],
                [.authorization: "Bearer \(ended.access) x"], [.authorization: ended.access],
                [.authorization: "Bearer " + String(repeating: "a", count: 8_000)],
            ]
            for route in Self.routes where route.needsSession {
                for field in fields {
                    var headers = Self.tus
                    headers.append(contentsOf: field)
                    let response = try await client.send(route.method, route.path, headers: headers)
                    #expect(response.status == .unauthorized, "\(route.testDescription) with \(field)")
                    if route.method != .head { #expect(try response.error().code == .unauthorized) }
                    Self.checkFields(response, route)
                }
            }
        }
    }

    /// The table has each documented route, so that a new route without a row fails.
    @Test func everyDocumentedRouteIsTested() {
        func parts(_ path: String) -> [Substring] { path.prefix { $0 != "?" }.split(separator: "/") }
        for route in ChatReference.routes {
            let documented = parts(route.path)
            let isTested = Self.routes.contains { tested in
                let found = parts(tested.path)
                return tested.method.rawValue == route.method.rawValue.uppercased() && found.count == documented.count
                    && zip(documented, found).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
            }
            #expect(isTested, "\(route.method.rawValue) \(route.path)")
        }
    }

    /// The mirror refuses each verb of the wire without a session before it reads the body, and
    /// with a session if the body is not an object.
    @Test func everyVerbNeedsASessionAndAnObject() async throws {
        let server = try TestServer { $0.hasLimits = false }
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for verb in ChatReference.verbs.map(\.name) {
                let path = "/api/chat/" + verb
                for wrong in [nil, "", "a.AAAA", token + "x"] as [String?] {
                    for body in ["{}", "[", ""] {
                        let response = try await client.send(.post, path, token: wrong, body: ByteBuffer(string: body))
                        #expect(response.status == .unauthorized, "\(verb) with \(wrong ?? "none")")
                        #expect(try response.error().code == .unauthorized)
                    }
                }
                for body in ["[", "{\"id\":", "{}{}", "\u{0}", "nul"] {
                    let response = try await client.send(.post, path, token: token, body: ByteBuffer(string: body))
                    #expect(response.status == .badRequest, "\(verb) with \(body)")
                    #expect(try response.error().code == .badRequest)
                }
            }
        }
    }

    @Test func otherMethodsDoNothing() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for route in Self.routes {
                for method in [.get, .put, .delete, .patch, .post, .trace] as [HTTPRequest.Method] where method != route.method {
                    // Skips methods that another route of the same path handles.
                    if route.path.hasPrefix("/api/uploads/x") || (method == .get && route.method == .head) { continue }
                    let response = try await client.send(method, route.path, token: token, headers: Self.tus)
                    #expect([404, 405].contains(response.status.code), "\(method) \(route.path): \(response.status)")
                    Self.checkFields(response, route)
                }
            }
            #expect(try await client.send(.get, "/api/sessions", token: token).status == .ok)  // the session is still valid
        }
    }

    @Test(arguments: [
        "/", "/api", "/api/", "/api/chat", "/api/chat/", "/api/chat/send/more", "/api/blobs", "/api/uploads/a/b", "/API/SERVER",

        "/api/sessions/../server", "/%61pi/server", "/api/server%00", "/.git/config",
    ])
    func otherPathsDoNotExist(path: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for method in [.get, .post] as [HTTPRequest.Method] {
                let response = try await client.send(method, path, token: token, headers: Self.tus)
                #expect([404, 405, 400].contains(response.status.code), "\(method) \(path): \(response.status)")
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
            }
        }
    }

    // MARK: Bodies

    private static let bodies: [(String, Int)] = [
        ("{", 400), ("[]", 400), ("null", 400), ("7", 400), ("\"x\"", 400), ("{}x", 400), ("{\"a\":1,}", 400), ("\u{FEFF}{}", 400),
        ("{'a':1}", 400),
        (String(repeating: "[", count: 8_000), 400), ("{\"a\":" + String(repeating: "[", count: 7_000), 400), ("NaN", 400),
    ]

    @Test func damagedBodiesAreRefusedByEveryRoute() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for route in Self.routes
            where route.method == .post && !["/api/uploads", "/api/chat/devices", "/api/chat/send"].contains(route.path)
                && !route.path.hasSuffix("/link")
            {
                for (body, status) in Self.bodies {
                    let response = try await client.send(.post, route.path, token: token, body: ByteBuffer(string: body))
                    #expect(response.status.code == status, "\(route.path) \(body.prefix(20)): \(response.status)")
                    #expect(try response.error().code == .badRequest)
                }
                let bytes = try await client.send(.post, route.path, token: token, body: ByteBuffer(bytes: [0x7B, 0xFF, 0xFE, 0x7D]))
                #expect(bytes.status == .badRequest)
            }
        }
    }

    @Test func everyRequiredFieldIsRequired() async throws {
        let server = try TestServer { $0.hasLimits = false }
        try await server.run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for route in ChatReference.routes where route.method == .post && !route.request.isEmpty {
                for field in route.request where field.isRequired {
                    var body = try JSONReader.read(route.examples.request).objectValue ?? [:]
                    for wrong in [nil, JSONValue.null, ["a": []], .string(String(repeating: "x", count: 9_000))] {
                        body[field.name] = wrong
                        let response = try await client.post(route.path, .object(body), token: token)
                        #expect([400, 413].contains(response.status.code), "\(route.path) \(field.name): \(response.status)")
                        let named = try response.error().field ?? ""
                        #expect(named.hasPrefix(field.name), "\(route.path): \(named)")
                    }
                }
            }
        }
    }

    @Test(arguments: [(16_384, false), (16_385, true), (60_000, true), (70_000, true)])
    func bodiesHaveALimit(count: Int, isRefused: Bool) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            for path in ["/api/login", "/api/register", "/api/refresh", "/api/password", "/api/logout"] {
                var body = ByteBuffer(string: "{}")
                body.writeRepeatingByte(0x20, count: count - 2)
                let response = try await client.send(.post, path, body: body)
                #expect((response.status == .contentTooLarge) == isRefused, "\(path): \(response.status)")
                if isRefused { #expect(try response.error().code == .tooLarge) }
            }
        }
    }

    @Test func theMirrorTakesRequestsOfTheWiresLimit() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for (count, status) in [(ChatLimits.requestBytes, 200), (ChatLimits.requestBytes + 1, 413), (5 * ChatLimits.requestBytes, 413)]
            {
                var body = ByteBuffer(string: "{}")
                body.writeRepeatingByte(0x20, count: count - 2)
                #expect(try await client.send(.post, "/api/chat/send", token: token, body: body).status.code == status, "\(count)")
            }
        }
    }

    @Test func halfAnEmojiIsText() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            let body = ByteBuffer(string: #"{"text":"a\ud83d"}"#)
            let answer = try await client.send(.post, "/api/chat/send", token: token, body: body).json()
            #expect(answer["request"]?["text"]?.stringValue == "a\u{FFFD}")
        }
    }

    @Test func anEmptyBodyIsAnEmptyObject() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            #expect(try await client.send(.post, "/api/chat/devices", token: token).status == .ok)
            #expect(try await client.send(.post, "/api/chat/send", token: token).json()["request"] == [:])
            #expect(try await client.send(.post, "/api/logout", token: token).status == .ok)
        }
    }

    // MARK: Errors

    /// Refuses every verb with an error.
    private struct Refusing: ChatRequests {
        var error: ChatError
        var failure: String?

        func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
            -> JSONValue
        { throw self.error }

        func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
            throw self.error
        }

        func writeFailure() async -> String? { self.failure }
    }

    private func run(_ chat: Refusing, _ body: @escaping @Sendable (TestRequests) async throws -> Void) async throws {
        let server = try TestServer()
        let routes = ChatRoutes(
            accounts: server.test.accounts, chat: chat, files: server.files, uploads: server.uploads,
            server: ServerAnswer(name: "Apus", version: "1", registration: .open, limits: HelloLimits()))
        try await Application(router: routes.router()).test(.router) { client in try await body(TestRequests(client: client)) }
        withExtendedLifetime(server) {}
    }

    @Test(arguments: ChatError.Code.allCases)
    func everyCodeHasItsStatus(code: ChatError.Code) async throws {
        let error = ChatError(code, message: "M", field: "f", retryAfter: 1_001)
        try await self.run(Refusing(error: error)) { (client: TestRequests) async throws in
            let response = try await client.post("/api/chat/send", [:], token: try await client.token("alice"))
            #expect(response.status.code == code.httpStatus)
            #expect(try response.error() == error)
            #expect(response.headers[.retryAfter] == "2")  // whole seconds, never too early
            #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        }
    }

    @Test(arguments: [(Int64(0), "1"), (1, "1"), (1_000, "1"), (1_001, "2"), (60_000, "60")])
    func aRetryIsNeverTooEarly(milliseconds: Int64, seconds: String) async throws {
        try await self.run(Refusing(error: ChatError(.tooMany, message: "M", retryAfter: milliseconds))) {
            (client: TestRequests) async throws in
            let response = try await client.post("/api/chat/send", [:], token: try await client.token("alice"))
            #expect(response.headers[.retryAfter] == seconds)
        }
    }

    @Test func aReadOnlyServerReportsItsState() async throws {
        let error = ChatError(.storage, message: "M")
        try await self.run(Refusing(error: error, failure: "The disk is full.")) { (client: TestRequests) async throws in
            let health = try await client.send(.get, "/health")
            #expect(health.status == .ok)
            #expect(try health.json() == ["status": "read_only", "message": "The disk is full."])
            #expect(try await client.send(.get, "/ready").status == .serviceUnavailable)
        }
    }
}
