import ApusChatProtocol
import ApusJSON
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import ApusChatHTTP

@Suite struct SessionCookieTests {
    private static func own(_ scheme: String = "http") -> HTTPFields { [.origin: scheme + "://localhost", .chatSession: "cookie"] }

    private static func cookies(_ response: TestResponse) -> [String: String] {
        var cookies: [String: String] = [:]
        for field in response.headers[values: .setCookie] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] = String(pair[1])
        }
        return cookies
    }

    private static func header(_ cookies: [String: String]) -> String { cookies.map { $0 + "=" + $1 }.joined(separator: "; ") }

    @Test func theOwnPageGetsNoTokens() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let answer = try await client.register("alice", headers: Self.own())
            let session = try answer.session()
            #expect(session.access == "cookie" && session.refresh == "cookie" && session.known == nil)
            let cookies = Self.cookies(answer)
            #expect(Set(cookies.keys) == ["apus-access-80", "apus-refresh-80", "apus-known-80"])
            for field in answer.headers[values: .setCookie] {
                #expect(field.contains("; Path=/; ") && field.contains("; HttpOnly; SameSite=Strict"))
            }
            var headers = Self.own()
            headers[.cookie] = Self.header(cookies)
            let renewed = try await client.post("/api/refresh", .object(["refresh": "cookie"]), headers: headers)
            #expect(renewed.status == .ok)
            headers[.cookie] = Self.header(Self.cookies(renewed))
            #expect(try await client.post("/api/chat/send", .object([:]), headers: headers).status == .ok)
            // A browser loads a picture without the field `Origin`.
            let picture: HTTPFields = [.cookie: headers[.cookie] ?? "", .fetchSite: "same-origin"]
            #expect(try await client.send(.get, "/api/sessions", headers: picture).status == .ok)
            let gone = try await client.post("/api/logout", .object([:]), headers: headers)
            #expect(gone.headers[values: .setCookie].allSatisfy { $0.contains("Max-Age=0") })
            #expect(try await client.post("/api/chat/send", .object([:]), headers: headers).status == .unauthorized)
        }
    }

    @Test func cookiesOfTLSAreBoundToTheHost() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let answer = try await client.register("alice", headers: Self.own("https"))
            #expect(Set(Self.cookies(answer).keys) == ["__Host-apus-access-443", "__Host-apus-refresh-443", "__Host-apus-known-443"])
            #expect(answer.headers[values: .setCookie].allSatisfy { $0.hasSuffix("; Secure") })
        }
    }

    @Test func anotherOriginGetsTokensAndUsesNoCookies() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let foreign: HTTPFields = [.origin: "http://localhost:8080", .chatSession: "cookie"]
            let answer = try await client.register("alice", headers: foreign)
            #expect(try answer.session().access.hasPrefix("a."))
            #expect(answer.headers[values: .setCookie].isEmpty)
            let own = try await client.register("bobby", headers: Self.own())
            let cookie = Self.header(Self.cookies(own))
            for headers in [
                [.cookie: cookie, .origin: "http://evil.example"], [.cookie: cookie], [.cookie: cookie, .origin: "null"],
            ] as [HTTPFields] {
                #expect(try await client.post("/api/chat/send", .object([:]), headers: headers).status == .forbidden)
                #expect(try await client.post("/api/refresh", .object(["refresh": "cookie"]), headers: headers).status != .ok)
            }
            let crossSite: HTTPFields = [.cookie: cookie, .fetchSite: "cross-site"]
            #expect(try await client.send(.get, "/api/sessions", headers: crossSite).status == .forbidden)
        }
    }

    @Test func aBearerOutranksACookie() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let own = try await client.register("alice", headers: Self.own())
            var headers = Self.own()
            headers[.cookie] = Self.header(Self.cookies(own))
            #expect(try await client.post("/api/chat/send", .object([:]), token: "a.wrong", headers: headers).status == .unauthorized)
        }
    }
}
