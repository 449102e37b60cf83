import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite("Accounts by the operator")
struct OperatorTests {
    private let alice = UserName(prepared: "alice")
    private let ghost = UserName(prepared: "ghost")

    @Test func anAccountIsCreatedWithAndWithoutAPassword() async throws {
        let test = try TestAccounts()
        let key = try await test.accounts.create(self.alice, nickname: "Alice", password: "correct horse")
        #expect(try await test.accounts.key(named: self.alice) == key)
        #expect(try await test.login("alice").user.nick == "Alice")
        #expect(try await test.code { _ = try await test.accounts.create(self.alice) }?.code == .conflict)
        let bob = UserName(prepared: "bob")
        try await test.accounts.create(bob)
        #expect(try await test.code { _ = try await test.login("bob", password: "") }?.code == .unauthorized)
        let code = try #require(try await test.accounts.makeResetCode(for: bob))
        let request = PasswordRequest(name: bob, recovery: code, password: "first password", device: TestAccounts.device)
        #expect(try await test.accounts.setPassword(request, session: nil, from: test.client).user.name == bob)
    }

    @Test func aSuspendedAccountHasNoSessions() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        #expect(try await test.accounts.setSuspended(true, self.alice) == true)
        #expect(test.ended.withLockedValue { $0.map(\.rawValue) } == [answer.device.number])
        #expect(try await test.code { _ = try await test.accounts.session(access: answer.access) }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.refresh(answer.refresh) }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.login("alice") }?.code == .forbidden)
        // A client without the password does not learn that the account is suspended.
        #expect(try await test.code { _ = try await test.login("alice", password: "wrong horse") }?.code == .unauthorized)
        #expect(try await test.accounts.setSuspended(true, self.alice) == false)
        #expect(try await test.accounts.setSuspended(false, self.alice) == true)
        _ = try await test.login("alice")
        #expect(try await test.accounts.setSuspended(true, self.ghost) == nil)
    }

    @Test func sessionsAreListedAndEnded() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.login("alice")
        #expect(try await test.accounts.sessions(of: self.alice)?.count == 2)
        #expect(try await test.accounts.endSessions(of: self.alice, device: first.device) == 1)
        #expect(try await test.accounts.endSessions(of: self.alice, device: first.device) == 0)
        #expect(try await test.code { _ = try await test.accounts.session(access: first.access) }?.code == .unauthorized)
        _ = try await test.accounts.session(access: second.access)
        #expect(try await test.accounts.endSessions(of: self.alice, device: nil) == 1)
        #expect(try await test.code { _ = try await test.accounts.session(access: second.access) }?.code == .unauthorized)
        #expect(try await test.accounts.sessions(of: self.ghost) == nil)
        #expect(try await test.accounts.endSessions(of: self.ghost, device: nil) == nil)
    }

    @Test func aDeletedAccountCannotBeChanged() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        #expect(try await test.accounts.delete(self.alice) == true)
        #expect(try await test.accounts.delete(self.alice) == nil)
        #expect(try await test.accounts.setSuspended(false, self.alice) == nil)
        #expect(try await test.code { _ = try await test.accounts.create(self.alice) }?.code == .conflict)
        #expect(try await test.code { _ = try await test.login("alice") }?.code == .unauthorized)
    }

    @Test func aFullDiskChangesNothing() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        test.database.isFull.withLockedValue { $0 = true }
        await #expect(throws: StorageError.self) { try await test.accounts.setSuspended(true, self.alice) }
        await #expect(throws: StorageError.self) { try await test.accounts.endSessions(of: self.alice, device: nil) }
        await #expect(throws: StorageError.self) { try await test.accounts.create(self.ghost) }
        _ = try await test.accounts.session(access: answer.access)
        test.database.isFull.withLockedValue { $0 = false }
        #expect(try await test.accounts.key(named: self.ghost) == nil)
    }

    // MARK: The network of a client

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.9", false, true), ("192.0.2.1", "192.0.3.1", false, false), ("192.0.2.1", "192.0.2.1", true, true),
        ("::ffff:192.0.2.1", "192.0.2.1", true, true), ("2001:db8::1", "2001:db8::ffff", true, true),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", false, true), ("2001:db8:1::1", "2001:db8:2::1", false, false),
        ("::1", "127.0.0.1", true, true), ("192.0.2.1", "2001:db8::1", false, false),
    ])
    func addressesShareBudgets(left: String, right: String, sharesAddress: Bool, sharesBlock: Bool) {
        let (left, right) = (ClientOrigin(IPAddress(left)), ClientOrigin(IPAddress(right)))
        #expect((left.keys.first == right.keys.first) == sharesAddress)
        #expect((left.keys.last == right.keys.last) == sharesBlock)
        #expect((left.queue == right.queue) == sharesAddress)
    }

    @Test func clientsOfThisMachineShareABlock() {
        #expect(ClientOrigin(nil).keys == [.block(0)] && ClientOrigin(nil).text.isEmpty)
        #expect(ClientOrigin(IPAddress("127.0.0.1")).keys == [.block(0)])
        #expect(ClientOrigin(IPAddress("0.0.0.0")).keys.count == 2)  // not the block of this machine
        #expect(ClientOrigin(IPAddress("0.0.0.0")).keys.last != .block(0))
    }
}
