import ApusWebSocket
import Testing

@Suite struct OriginPolicyTests {
    @Test func aRequestWithoutAnOriginIsNotFromAPage() {
        #expect(OriginPolicy.sameOrigin.judge(origin: nil, authority: "a.com") == .allowed(cors: nil, credentials: false))
    }

    @Test(arguments: ["http://localhost:3000", "https://localhost:3000"])
    func sameOriginIsAccepted(origin: String) {
        #expect(
            OriginPolicy.sameOrigin.judge(origin: origin, authority: "localhost:3000") == .allowed(cors: nil, credentials: false))
    }

    @Test(arguments: ["http://localhost", "http://localhost:3000.evil.org", "http://evil.org/localhost:3000", "null", ""])
    func otherOriginsAreRefused(origin: String) {
        #expect(OriginPolicy.sameOrigin.judge(origin: origin, authority: "localhost:3000") == .refused)
        #expect(OriginPolicy.list(["https://a.com"]).judge(origin: origin, authority: "localhost:3000") == .refused)
    }

    @Test func originsAreComparedByBytesAndASCIICase() {
        let same = OriginPolicy.Verdict.allowed(cors: nil, credentials: false)
        #expect(OriginPolicy.sameOrigin.judge(origin: "HTTP://A.com", authority: "a.COM") == same)
        #expect(OriginPolicy.sameOrigin.judge(origin: "http://\u{212A}.com", authority: "K.com") == .refused)
        #expect(OriginPolicy.sameOrigin.judge(origin: "http://\u{212A}.com", authority: "k.com") == .refused)
        #expect(OriginPolicy.list(["http://K.com"]).judge(origin: "http://\u{212A}.com", authority: "a.com") == .refused)
    }

    @Test func listedOriginGetsItsFields() {
        let policy = OriginPolicy.list(["https://a.com", "null"])
        #expect(policy.judge(origin: "https://a.com", authority: "b.com") == .allowed(cors: "https://a.com", credentials: true))
        #expect(policy.judge(origin: "https://a.com.evil.org", authority: "b.com") == .refused)
        #expect(policy.judge(origin: "null", authority: "b.com") == .refused)
    }

    @Test func anyAnswersAStarWithoutCredentials() {
        #expect(OriginPolicy.any.judge(origin: "https://x.org", authority: "b.com") == .allowed(cors: "*", credentials: false))
    }

    @Test func aCookieWithoutAnOriginWasSentByNoBrowser() {
        #expect(OriginPolicy.sameOrigin.judge(origin: nil, authority: "a.com", carriesCookie: true) == .refused)
        #expect(OriginPolicy.list(["https://a.com"]).judge(origin: nil, authority: "a.com", carriesCookie: true) == .refused)
        #expect(OriginPolicy.any.judge(origin: nil, authority: "a.com", carriesCookie: true) == .allowed(cors: "*", credentials: false))
        #expect(
            OriginPolicy.sameOrigin.judge(origin: "https://a.com", authority: "a.com", carriesCookie: true)
                == .allowed(cors: nil, credentials: false))
    }
}
