import ApusChatProtocol
import Testing

@testable import ApusChatServer

@Suite struct CallRelayTests {
    private let alice = UserName(prepared: "alice")
    private let time: Int64 = 1_790_000_000_123

    @Test func theCredentialsMatchCoturn() {
        // printf %s 1790003600:alice | openssl dgst -sha1 -hmac north -binary | base64
        #expect(CallRelay.password(of: "1790003600:alice", "north") == "pgAHc3R4FaJCY/vrj638BD7odJ0=")
        let relay = CallRelay(
            .init(
                urls: ["stun:a.example", "turn:b.example:3478", "turns:b.example:443?transport=tcp"], secret: "north",
                credentialLifetime: .seconds(3_600)))
        let answer = relay.servers(for: self.alice, at: self.time)
        #expect(
            answer
                == CallServersAnswer(
                    servers: [
                        CallServer(urls: ["stun:a.example"]),
                        CallServer(
                            urls: ["turn:b.example:3478", "turns:b.example:443?transport=tcp"], username: "1790003600:alice",
                            credential: "pgAHc3R4FaJCY/vrj638BD7odJ0="),
                    ], expiresAt: 1_790_003_600_000))
    }

    @Test func withoutServersThereAreNoCredentials() {
        #expect(CallRelay(.direct).servers(for: self.alice, at: self.time) == CallServersAnswer(servers: [], expiresAt: 0))
    }

    @Test func theRelayAloneIsUsedIfTheOperatorWantsIt() {
        let relay = CallRelay(.init(urls: ["turn:b.example"], secret: "north", isRelayOnly: true))
        #expect(relay.servers(for: self.alice, at: self.time).isRelayOnly)
    }

    @Test(
        arguments: [
            (["stun:a.example"], nil, false, nil), (["turn:a.example:3478"], "north", true, nil), ([], nil, false, nil),
            (["http://a.example"], nil, false, "`http://a.example`"), (["turn:"], "north", false, "`turn:`"),
            (["turn:a b"], "north", false, "`turn:a b`"), (["turn:a.example"], nil, false, "`calls.secret`"),
            (["turn:a.example"], "", false, "`calls.secret`"), (["stun:a.example"], "north", true, "`calls.isRelayOnly`"),
            (Array(repeating: "stun:a.example", count: 11), nil, false, "at most 10"),
        ] as [([String], String?, Bool, String?)])
    func anErrorNamesTheValue(urls: [String], secret: String?, isRelayOnly: Bool, part: String?) {
        var configuration = ChatServerConfiguration()
        configuration.calls = .init(urls: urls, secret: secret, isRelayOnly: isRelayOnly)
        var message: String?
        do throws(ChatServerError) { try configuration.validate() } catch { message = error.message }
        if let part { #expect(message?.contains(part) == true, "\(message ?? "valid")") } else { #expect(message == nil) }
    }

    @Test(arguments: [
        (Duration.seconds(59), false), (.seconds(60), true), (.seconds(30 * 86_400), true), (.seconds(30 * 86_400 + 1), false),
    ])
    func theLifetimeIsBounded(lifetime: Duration, isValid: Bool) {
        var configuration = ChatServerConfiguration()
        configuration.calls = .init(urls: [], credentialLifetime: lifetime)
        #expect(((try? configuration.validate()) != nil) == isValid)
    }
}
