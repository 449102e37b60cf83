import ApusPasswords
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusSocketIOServer
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite struct SignInTests {
    @Test func aKnownDeviceIsNotLockedOutByStrangers() async throws {
        let test = try TestAccounts()
        let owner = try await test.register("alice")
        let stranger = ClientOrigin(IPAddress("198.51.100.7"))
        var refusal: ChatError?
        for _ in 0..<11 {
            refusal = try await test.code { _ = try await test.login("alice", password: "wrong horse", from: stranger) }
        }
        #expect(refusal?.code == .tooMany)
        #expect(try #require(refusal?.retryAfter) > 0)
        // A new device cannot sign in before the budget is refilled. A known device can.
        #expect(try await test.code { _ = try await test.login("alice") }?.code == .tooMany)
        _ = try await test.login("alice", known: owner.known)
    }

    @Test func theTokenOfAnotherUserIsNotAKnownDevice() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        let mallory = try await test.register("mallory")
        for _ in 0..<10 { _ = try await test.code { _ = try await test.login("alice", password: "wrong horse", known: mallory.known) } }
        #expect(try await test.code { _ = try await test.login("alice", known: mallory.known) }?.code == .tooMany)
    }

    @Test func aKnownDeviceHasABudgetToo() async throws {
        let test = try TestAccounts()
        let known = try await test.register("alice").known
        for _ in 0..<10 { _ = try await test.code { _ = try await test.login("alice", password: "wrong horse", known: known) } }
        #expect(try await test.code { _ = try await test.login("alice", known: known) }?.code == .tooMany)
    }

    @Test func unknownNamesHaveABudgetToo() async throws {
        let test = try TestAccounts()
        for _ in 0..<10 { #expect(try await test.code { _ = try await test.login("ghost") }?.code == .unauthorized) }
        #expect(try await test.code { _ = try await test.login("ghost") }?.code == .tooMany)
    }

    @Test func registrationsOfAnAddressAreLimited() async throws {
        let test = try TestAccounts()
        for index in 0..<5 { try await test.register("user\(index)") }
        #expect(try await test.code { try await test.register("user5") }?.code == .tooMany)
        try await test.register("user6", from: ClientOrigin(IPAddress("203.0.113.5")))
        // All addresses of an IPv6 network share a budget.
        for index in 10..<15 { try await test.register("user\(index)", from: ClientOrigin(IPAddress("2001:db8::\(index)"))) }
        #expect(try await test.code { try await test.register("user20", from: ClientOrigin(IPAddress("2001:db8::ff"))) }?.code == .tooMany)
    }

    @Test func registrationCanBeClosedOrByInvitation() async throws {
        let closed = try TestAccounts { $0.registration = .closed }
        #expect(try await closed.code { try await closed.register("alice") }?.code == .forbidden)
        let test = try TestAccounts { $0.registration = .invitation }
        #expect(try await test.code { try await test.register("alice") }?.field == "invitation")
        let code = try await test.accounts.makeInvitation()
        var request = RegisterRequest(name: UserName(prepared: "alice"), password: "correct horse", device: TestAccounts.device)
        request.invitation = "xxxx-xxxx"
        let wrong = request
        #expect(try await test.code { _ = try await test.accounts.register(wrong, from: test.client) }?.code == .forbidden)
        request.invitation = code.uppercased()
        _ = try await test.accounts.register(request, from: test.client)
        request.name = UserName(prepared: "bob")
        let second = request
        #expect(try await test.code { _ = try await test.accounts.register(second, from: test.client) }?.code == .forbidden)
    }

    @Test func oneAddressDoesNotFillTheQueueOfPasswords() async throws {
        let threads = try PasswordThreads(cost: .init(logRounds: 1), threads: 1)
        defer { threads.close() }
        let flood = ClientOrigin(IPAddress("198.51.100.7"))
        // One address fills its share of the queue, which leaves places for another address.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try? await threads.hash("password", for: flood) } }
            for _ in 0..<10 { _ = try await threads.hash("password", for: ClientOrigin(IPAddress("192.0.2.9"))) }
            try await group.waitForAll()
        }
    }
}
