import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite struct SessionTests {
    @Test func aNewAccountIsSignedIn() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        #expect(answer.user == ChatUser(name: UserName(prepared: "alice")))
        #expect(answer.recovery.count == Accounts.recoveryCodes)
        let session = try await test.accounts.session(access: answer.access)
        #expect(session.device.rawValue == answer.device.number)
        let head = try await test.database.read { reads -> Int in
            try reads.heads(of: session.user, after: nil, limit: 9).heads.count
        }
        #expect(head == 1)
        #expect(try await test.code { _ = try await test.register("alice") }?.code == .conflict)
    }

    @Test func anUnknownUserGetsTheAnswerOfAWrongPassword() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        let wrong = try await test.code { _ = try await test.login("alice", password: "wrong horse") }
        let unknown = try await test.code { _ = try await test.login("mallory", password: "wrong horse") }
        #expect(wrong == unknown)
        #expect(wrong?.code == .unauthorized)
    }

    @Test func anAccessTokenEnds() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        test.wait(899_999)
        _ = try await test.accounts.session(access: answer.access)
        test.wait(1)
        #expect(try await test.code { _ = try await test.accounts.session(access: answer.access) }?.code == .unauthorized)
    }

    @Test(arguments: ["", "a.", "a.AAAA", "a.!", "r.x", "\u{E9}"]) func aMalformedTokenIsRefused(_ text: String) async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let foreign = text.isEmpty ? answer.refresh : text
        #expect(try await test.code { _ = try await test.accounts.session(access: foreign) }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.refresh(answer.access + text) }?.code == .unauthorized)
    }

    @Test func aChangedTokenIsRefused() async throws {
        let test = try TestAccounts()
        let token = try await test.register("alice").access
        for index in token.indices.dropFirst(2).dropLast() {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
            #expect(try await test.code { _ = try await test.accounts.session(access: changed) }?.code == .unauthorized)
        }
    }

    @Test func aLostAnswerIsRepeatedUntilTheSuccessorIsUsed() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.refresh(first.refresh)
        #expect(try await test.refresh(first.refresh).refresh == second.refresh)
        _ = try await test.accounts.session(access: second.access)
        #expect(try await test.code { _ = try await test.refresh(first.refresh) }?.code == .unauthorized)
        // The use of a refresh token after its successor shows that two clients have it, so the
        // session ends.
        #expect(try await test.code { _ = try await test.refresh(second.refresh) }?.code == .unauthorized)
        #expect(try await test.code { _ = try await test.accounts.session(access: second.access) }?.code == .unauthorized)
        #expect(test.ended.withLockedValue { $0.map(\.rawValue) } == [first.device.number])
    }

    @Test func anAnswerIsRepeatedForAMinute() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        _ = try await test.refresh(first.refresh)
        test.wait(60_001)
        #expect(try await test.code { _ = try await test.refresh(first.refresh) }?.code == .unauthorized)
    }

    @Test func aSessionWithoutRenewalEnds() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        test.wait(30 * 86_400_000 + 1)
        #expect(try await test.code { _ = try await test.refresh(first.refresh) }?.code == .unauthorized)
    }

    @Test func sessionsAreListedAndEnded() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        test.wait(1)
        let second = try await test.login("alice")
        test.wait(1)
        let third = try await test.login("alice")
        let session = try await test.accounts.session(access: third.access)
        let list = try await test.accounts.devices(of: session)
        #expect(list.devices.map(\.device) == [third.device, second.device, first.device])
        #expect(list.devices.map(\.isCurrent) == [true, false, false])
        #expect(list.devices.first?.address == "192.0.2.1")
        try await test.accounts.endDevices(second.device, of: session)
        #expect(try await test.code { _ = try await test.refresh(second.refresh) }?.code == .unauthorized)
        try await test.accounts.endDevices(nil, of: session)
        #expect(try await test.code { _ = try await test.accounts.session(access: first.access) }?.code == .unauthorized)
        _ = try await test.accounts.session(access: third.access)
        #expect(try await test.code { try await test.accounts.endDevices(first.device, of: session) }?.code == .notFound)
    }

    @Test func theLeastUsedDeviceMakesRoom() async throws {
        let test = try TestAccounts { $0.hasLimits = false }
        let first = try await test.register("alice")
        for _ in 0..<ChatLimits.devices {
            test.wait(1)
            _ = try await test.login("alice")
        }
        #expect(try await test.code { _ = try await test.refresh(first.refresh) }?.code == .unauthorized)
        #expect(test.ended.withLockedValue { $0.count } == 1)
    }

    @Test func logoutWorksWithAFullDisk() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let session = try await test.accounts.session(access: answer.access)
        test.database.isFull.withLockedValue { $0 = true }
        try await test.accounts.logout(refresh: nil, session: session, from: test.client)
        #expect(test.ended.withLockedValue { $0 } == [session.device])
        #expect(try await test.code { _ = try await test.accounts.session(access: answer.access) }?.code == .unauthorized)
        // A server that starts while the disk is full has the record of the ended session.
        let restarted = try TestAccounts.accounts(test.database, test.folder, test.time)
        defer { restarted.close() }
        #expect(try await test.code { _ = try await restarted.session(access: answer.access) }?.code == .unauthorized)
        test.database.isFull.withLockedValue { $0 = false }
        try await restarted.settleEndedSessions()
        #expect(restarted.journal.devices.isEmpty)
        #expect(try await test.database.read { try $0.device(session.device) } == nil)
    }

    @Test func tokensOfAnotherServerAreRefused() async throws {
        let (test, other) = (try TestAccounts(), try TestAccounts())
        let answer = try await test.register("alice")
        try await other.register("alice")
        #expect(try await test.code { _ = try await other.accounts.session(access: answer.access) }?.code == .unauthorized)
    }
}
