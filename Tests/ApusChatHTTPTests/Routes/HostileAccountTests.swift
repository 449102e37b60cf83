import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusJSON
import ApusWebSocket
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// Attacks over HTTP, with the default budgets.
@Suite struct HostileAccountTests {
    @Test func aBlockOfAddressesCreatesFewAccounts() async throws {
        let test = try TestAccounts()
        var created = 0
        for index in 0..<120 {
            let client = ClientOrigin(IPAddress("198.51.100.\(index % 250 + 1)"))
            if try await test.code(of: { try await test.register("user\(index)", from: client) }) == nil { created += 1 }
        }
        #expect(created == 50)
        // Another block is not affected.
        try await test.register("other", from: ClientOrigin(IPAddress("203.0.113.1")))
    }

    @Test func namesSprayedFromOneAddressAreRefused() async throws {
        let test = try TestAccounts()
        let attacker = ClientOrigin(IPAddress("198.51.100.7"))
        var checked = 0
        for index in 0..<100 {
            let error = try await test.code { _ = try await test.login("user\(index)", password: "password1", from: attacker) }
            if error?.code == .unauthorized { checked += 1 }
        }
        #expect(checked == 20)
        try await test.register("alice")
        _ = try await test.login("alice")
    }

    @Test func clientsOfAProxyHaveBudgetsOfTheirOwn() async throws {
        let server = try TestServer()
        let routes = ChatRoutes(
            accounts: server.test.accounts, chat: server.chat, files: server.files, uploads: server.uploads,
            server: ServerAnswer(name: "Apus", version: "1", registration: .open, limits: HelloLimits()),
            proxies: try TrustedProxies(networks: ["127.0.0.1", "::1"], field: .xForwardedFor))
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        try await Application(router: routes.router()).test(.live) { (client: any TestClientProtocol) async throws in
            let requests = TestRequests(client: client)
            // A client can only forge the entries before that of the proxy.
            for index in 0..<5 {
                let answer = try await requests.register("flood\(index)", headers: [forwarded: "203.0.113.\(index), 198.51.100.7"])
                #expect(answer.status == .ok)
            }
            let refused = try await requests.register("flood9", headers: [forwarded: "203.0.113.99, 198.51.100.7"])
            #expect(refused.status == .tooManyRequests)
            let other = try await requests.register("neighbour", headers: [forwarded: "203.0.113.99"])
            #expect(other.status == .ok)
            let list = try DevicesAnswer(
                json: try await requests.send(.get, "/api/sessions", token: try other.session().access).json())
            #expect(list.devices.first?.address == "203.0.113.99")
        }
    }

    @Test func aHeaderOfAnUntrustedPeerIsIgnored() async throws {
        let server = try TestServer()
        let forwarded = try #require(HTTPField.Name("X-Forwarded-For"))
        try await server.run { (client: TestRequests) async throws in
            let answer = try await client.register("alice", headers: [forwarded: "203.0.113.99"])
            let list = try DevicesAnswer(json: try await client.send(.get, "/api/sessions", token: try answer.session().access).json())
            #expect(list.devices.first?.address == nil)
        }
    }

    /// Zero-width characters, directional controls, mixed scripts, and other forms of a taken name.
    @Test(arguments: ["al\u{200B}ice", "\u{202E}ecila", "\u{0430}lice", "alice\u{FE0F}", "a/b", "", ".", "ALICE", "\u{FF41}lice"])
    func aDeceptiveNameIsRefused(_ name: String) async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            #expect(try await client.register("alice").status == .ok)
            let status = try await client.register(name).status
            #expect(status == .badRequest || status == .conflict)
        }
    }

    @Test func aTokenInAnAddressOpensNothing() async throws {
        try await TestServer().run { (client: TestRequests) async throws in
            let token = try await client.token("alice")
            for path in ["/api/sessions?access_token=" + token, "/api/sessions?token=" + token] {
                #expect(try await client.send(.get, path).status == .unauthorized)
            }
        }
    }

    @Test func aClockThatJumpsEndsNoSession() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.login("alice")
        test.isClockTrusted.withLockedValue { $0 = false }
        test.wait(366 * 86_400_000)
        let ahead = try await test.refresh(first.refresh)
        _ = try await test.login("alice")
        test.wait(-366 * 86_400_000)
        test.isClockTrusted.withLockedValue { $0 = true }
        // The token from the wrong clock is refused, and its session continues.
        #expect(try await test.code { _ = try await test.accounts.session(access: ahead.access) }?.code == .unauthorized)
        let back = try await test.refresh(ahead.refresh)
        _ = try await test.accounts.session(access: back.access)
        _ = try await test.refresh(second.refresh)
        let session = try await test.accounts.session(access: back.access)
        #expect(try await test.accounts.devices(of: session).devices.count == 3)
    }

    @Test func oneAccountsUploadsLeaveRoomForOthers() async throws {
        let server = try TestServer()
        try await server.run { (client: TestRequests) async throws in
            let (mallory, alice) = (try await client.token("mallory"), try await client.token("alice"))
            let headers: HTTPFields = [.tusResumable: "1.0.0", .uploadLength: "1000"]
            for _ in 0..<20 { #expect(try await client.send(.post, "/api/uploads", token: mallory, headers: headers).status == .created) }
            #expect(try await client.send(.post, "/api/uploads", token: mallory, headers: headers).status == .unprocessableContent)
            let session = try await server.test.accounts.session(access: mallory)
            for _ in 0..<4 { try server.uploads.beginTransfer(session, ClientOrigin(IPAddress("198.51.100.7"))) }
            #expect(throws: ChatError.self) { try server.uploads.beginTransfer(session, ClientOrigin(IPAddress("198.51.100.8"))) }
            #expect(try await client.upload([1, 2, 3], token: alice).status == .noContent)
        }
    }
}
