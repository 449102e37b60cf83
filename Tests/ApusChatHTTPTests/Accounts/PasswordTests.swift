import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite struct PasswordTests {
    private func request(name: String? = nil, old: String? = nil, recovery: String? = nil) -> PasswordRequest {
        PasswordRequest(
            name: name.map { UserName(prepared: $0) }, old: old, recovery: recovery, password: "battery staple", device: TestAccounts.device
        )
    }

    @Test func aNewPasswordEndsOtherSessions() async throws {
        let test = try TestAccounts()
        let other = try await test.register("alice")
        let own = try await test.login("alice")
        let session = try await test.accounts.session(access: own.access)
        let wrong = try await test.code {
            _ = try await test.accounts.setPassword(self.request(old: "wrong horse"), session: session, from: test.client)
        }
        #expect(wrong?.code == .forbidden && wrong?.field == "old")
        let answer = try await test.accounts.setPassword(self.request(old: "correct horse"), session: session, from: test.client)
        #expect(answer.device == own.device)
        #expect(test.ended.withLockedValue { $0.map(\.rawValue) } == [other.device.number])
        #expect(try await test.code { _ = try await test.accounts.session(access: other.access) }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.refresh(other.refresh) }?.code == .unauthorized)
        _ = try await test.refresh(answer.refresh)
        #expect(try await test.code { _ = try await test.login("alice") }?.code == .unauthorized)
        _ = try await test.login("alice", password: "battery staple")
    }

    @Test func aRecoveryCodeWorksOnce() async throws {
        let test = try TestAccounts()
        let code = try #require(try await test.register("alice").recovery.first)
        _ = try await test.accounts.setPassword(self.request(name: "alice", recovery: code), session: nil, from: test.client)
        _ = try await test.login("alice", password: "battery staple")
        let again = try await test.code {
            _ = try await test.accounts.setPassword(self.request(name: "alice", recovery: code), session: nil, from: test.client)
        }
        #expect(again?.code == .unauthorized)
    }

    @Test func newRecoveryCodesReplaceTheOldOnes() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let session = try await test.accounts.session(access: answer.access)
        let wrong = try await test.code {
            _ = try await test.accounts.makeRecoveryCodes(ConfirmRequest(password: "wrong horse"), session: session, from: test.client)
        }
        #expect(wrong?.code == .forbidden && wrong?.field == "password")
        let codes = try await test.accounts.makeRecoveryCodes(
            ConfirmRequest(password: "correct horse"), session: session, from: test.client)
        let old = try await test.code {
            _ = try await test.accounts.setPassword(
                self.request(name: "alice", recovery: answer.recovery.first), session: nil, from: test.client)
        }
        #expect(old?.code == .unauthorized)
        _ = try await test.accounts.setPassword(
            self.request(name: "alice", recovery: codes.recovery.last), session: nil, from: test.client)
    }

    @Test func anOperatorsCodeEndsAfterADay() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        #expect(try await test.accounts.makeResetCode(for: UserName(prepared: "ghost")) == nil)
        let code = try #require(try await test.accounts.makeResetCode(for: UserName(prepared: "alice")))
        test.wait(86_400_000)
        let late = try await test.code {
            _ = try await test.accounts.setPassword(self.request(name: "alice", recovery: code), session: nil, from: test.client)
        }
        #expect(late?.code == .unauthorized)
        let fresh = try #require(try await test.accounts.makeResetCode(for: UserName(prepared: "alice")))
        _ = try await test.accounts.setPassword(self.request(name: "alice", recovery: fresh), session: nil, from: test.client)
    }

    @Test func recoveryAttemptsAreLimited() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        var refusal: ChatError?
        for _ in 0..<11 {
            refusal = try await test.code {
                _ = try await test.accounts.setPassword(
                    self.request(name: "alice", recovery: "aaaa-aaaa-aaaa-aaaa"), session: nil, from: test.client)
            }
        }
        #expect(refusal?.code == .tooMany)
    }

    @Test func aDeletedAccountKeepsItsName() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let session = try await test.accounts.session(access: answer.access)
        try await test.accounts.delete(ConfirmRequest(password: "correct horse"), session: session, from: test.client)
        #expect(try await test.code { _ = try await test.login("alice") }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.accounts.session(access: answer.access) }?.code == .unauthorized)
        #expect(try await test.code { try await test.register("alice") }?.code == .conflict)
    }
}
