import ApusChatProtocol
import ApusJSON
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The rules by which the session cookie of the server's own page is read.
@Suite("Rules of the session cookie")
struct CookieRuleTests {
    private static func request(
        _ method: HTTPRequest.Method, authority: String? = "chat.example:3000", _ headers: HTTPFields = [:]
    ) -> Request {
        Request(
            head: HTTPRequest(method: method, scheme: nil, authority: authority, path: "/", headerFields: headers),
            body: .init(buffer: ByteBuffer()))
    }

    /// Returns the access token of a request, or `forbidden` if it is refused.
    private static func access(_ request: Request) -> String? {
        do throws(ChatError) { return try SessionCookies.access(of: request) } catch { return "\(error.code)" }
    }

    // MARK: Requests that change data

    @Test(
        arguments: [
            ("chat.example:3000", "http://chat.example:3000", true), ("chat.example:3000", "http://CHAT.example:3000", true),
            ("CHAT.EXAMPLE", "https://chat.example", true), ("[::1]:3000", "http://[::1]:3000", true), ("[::1]", "https://[::1]", true),
            ("chat.example:3000", "http://chat.example:3001", false), ("chat.example:3000", "http://chat.example", false),
            ("chat.example", "http://chat.example.evil.test", false), ("chat.example", "http://evil.test/chat.example", false),
            ("chat.example", "http://evilchat.example", false), ("chat.example", "http://sub.chat.example", false),
            ("chat.example", "null", false), ("chat.example", "", false), ("chat.example", "chat.example", false),
            ("chat.example", "://chat.example", false), ("chat.example", "ftp://chat.example", false),
            ("chat.example", "HTTP://chat.example", false), ("chat.example", "http://user@chat.example", false),
            ("chat.example", "http://chat.example/", false), ("chat.example", "http://chat.example http://evil.test", false),
            ("chat.example", "https://http://chat.example", false), ("chat.example", "file://", false), ("", "http://", true),
        ])
    func theOriginMustBeThatOfTheServer(authority: String, origin: String, isOwn: Bool) {
        let request = Self.request(.post, authority: authority, [.origin: origin])
        #expect((SessionCookies(changing: request) != nil) == isOwn)
    }

    @Test func withoutAnOriginOrAHostThereAreNoCookies() {
        #expect(SessionCookies(changing: Self.request(.post)) == nil)
        #expect(SessionCookies(changing: Self.request(.post, authority: nil, [.origin: "http://chat.example"])) == nil)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete, .options, .trace])
    func aMethodThatMayChangeDataNeedsTheOrigin(method: HTTPRequest.Method) {
        let cookie = "apus-access-3000=t"
        #expect(Self.access(Self.request(method, [.cookie: cookie])) == "forbidden")
        #expect(Self.access(Self.request(method, [.cookie: cookie, .origin: "http://evil.test"])) == "forbidden")
        // The field of fetch metadata does not replace the origin.
        #expect(Self.access(Self.request(method, [.cookie: cookie, .fetchSite: "same-origin"])) == "forbidden")
        #expect(Self.access(Self.request(method, [.cookie: cookie, .origin: "http://chat.example:3000"])) == "t")
    }

    // MARK: Reading requests

    @Test(
        arguments: [
            (nil, "t"), ("same-origin", "t"), ("none", "t"), ("same-site", "forbidden"), ("cross-site", "forbidden"), ("", "forbidden"),
            ("Same-Origin", "forbidden"), ("other", "forbidden"),
        ] as [(String?, String)])
    func aReadingRequestIsJudgedByItsSite(site: String?, expected: String) {
        var headers: HTTPFields = [.cookie: "apus-access-3000=t"]
        if let site { headers[.fetchSite] = site }
        for method in [HTTPRequest.Method.get, .head] { #expect(Self.access(Self.request(method, headers)) == expected) }
    }

    /// A request from another site without the cookie is an ordinary request without a session.
    @Test func withoutTheCookieNothingIsRefused() {
        for cookie in [nil, "", "other=1", "apus-known-3000=k", "apus-refresh-3000=r"] as [String?] {
            var headers: HTTPFields = [.fetchSite: "cross-site", .origin: "http://evil.test"]
            if let cookie { headers[.cookie] = cookie }
            #expect(Self.access(Self.request(.get, headers)) == nil)
            #expect(Self.access(Self.request(.post, headers)) == nil)
        }
    }

    // MARK: Names

    /// Cookies do not distinguish ports, so the name contains the port.
    @Test(
        arguments: [
            ("chat.example:3000", "apus-access-3000=t", "t"), ("chat.example:3000", "apus-access-3001=t", nil),
            ("chat.example", "apus-access-80=t", "t"), ("chat.example", "__Host-apus-access-443=t", "t"),
            ("chat.example", "apus-access-443=t", nil), ("chat.example", "__Host-apus-access-80=t", nil),
            ("chat.example:3443", "__Host-apus-access-3443=t", "t"), ("[::1]:3000", "apus-access-3000=t", "t"),
            ("[::1]", "apus-access-80=t", "t"), ("[2001:db8::1]", "apus-access-1]=t", nil),
        ] as [(String, String, String?)])
    func theNameContainsThePort(authority: String, cookie: String, token: String?) {
        #expect(Self.access(Self.request(.get, authority: authority, [.cookie: cookie])) == token)
    }

    /// Over TLS only this host can have set the cookie, so it precedes the one without the prefix.
    @Test func theCookieOfTLSIsPreferred() {
        let cookies = "apus-access-3000=plain; __Host-apus-access-3000=secure"
        #expect(Self.access(Self.request(.get, [.cookie: cookies])) == "secure")
        #expect(Self.access(Self.request(.post, [.cookie: cookies, .origin: "https://chat.example:3000"])) == "secure")
        #expect(Self.access(Self.request(.post, [.cookie: cookies, .origin: "http://chat.example:3000"])) == "plain")
    }

    @Test(
        arguments: [
            ("apus-access-3000=a.b_c-d", "a.b_c-d"), ("x=1; apus-access-3000=t; y=2", "t"), ("x=1;apus-access-3000=t", "t"),
            ("apus-access-3000=", ""), ("apus-access-3000=a=b", "a=b"), ("apus-access-3000", nil), ("xapus-access-3000=t", nil),
            ("apus-access-30000=t", nil), ("apus-access-3000 =t", nil), ("APUS-ACCESS-3000=t; apus-access-3000x=u", nil),
            ("apus-access-3000=first; apus-access-3000=second", "first"), ("\"apus-access-3000=t\"", nil),
            (";;;apus-access-3000=t;;;", "t"),
        ] as [(String, String?)])
    func aCookieIsFoundByItsWholeName(field: String, token: String?) {
        #expect(Self.access(Self.request(.get, [.cookie: field])) == token)
    }

    /// HTTP/2 and some proxies split the cookies into several fields.
    @Test func cookiesMayBeInSeveralFields() {
        var headers: HTTPFields = [:]
        for value in ["x=1", "apus-access-3000=t", "y=2"] { headers.append(HTTPField(name: .cookie, value: value)) }
        #expect(Self.access(Self.request(.get, headers)) == "t")
    }

    // MARK: Answers

    @Test(arguments: [true, false]) func theCookiesHaveTheirAttributes(isSecure: Bool) throws {
        let origin = (isSecure ? "https" : "http") + "://chat.example:3000"
        let cookies = try #require(SessionCookies(changing: Self.request(.post, [.origin: origin])))
        let answer = SessionAnswer(
            user: ChatUser(name: UserName(prepared: "alice")), device: DeviceID(number: 7), access: "a.1", accessExpiresAt: 9,
            refresh: "r.1", known: "k.1", recovery: ["code"])
        var response = try cookies.take(answer, lifetime: 86_400_999)
        let prefix = isSecure ? "__Host-" : ""
        let end = "; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
        #expect(
            response.headers[values: .setCookie] == [
                "\(prefix)apus-access-3000=a.1; Path=/; Max-Age=86400\(end)", "\(prefix)apus-refresh-3000=r.1; Path=/; Max-Age=86400\(end)",
                "\(prefix)apus-known-3000=k.1; Path=/; Max-Age=31536000\(end)",
            ])
        response.headers[.setCookie] = nil
        cookies.remove(from: &response)
        #expect(
            response.headers[values: .setCookie] == [
                "\(prefix)apus-access-3000=; Path=/; Max-Age=0\(end)", "\(prefix)apus-refresh-3000=; Path=/; Max-Age=0\(end)",
            ], "the cookie of the known device remains")
    }

    /// The successor of a token in a cookie is in a cookie too, so that no script of the page can
    /// exchange the cookie for a token that it can read.
    @Test func aRenewalByTheCookieReturnsNoToken() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let registered = try await client.register("alice", headers: [.origin: "http://localhost", .chatSession: "cookie"])
            let jar = registered.headers[values: .setCookie].map { String($0.prefix { $0 != ";" }) }.joined(separator: "; ")
            let renewed = try await client.post(
                "/api/refresh", ["refresh": "cookie"], headers: [.origin: "http://localhost", .cookie: jar])
            #expect(renewed.status == .ok && renewed.headers[values: .setCookie].count == 3)
            let session = try renewed.session()
            #expect(session.access == "cookie" && session.refresh == "cookie" && session.known == nil)
            // Another origin, or no origin, renews nothing.
            for origin in [nil, "http://evil.test", "null"] as [String?] {
                var headers: HTTPFields = [.chatSession: "cookie", .cookie: jar]
                headers[.origin] = origin
                #expect(try await client.post("/api/refresh", ["refresh": "cookie"], headers: headers).status == .unauthorized)
            }
        }
    }
}
