import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite("Registration")
struct RegistrationTests {
    private static let day: Int64 = 86_400_000

    private func invited() throws -> TestAccounts { try TestAccounts { $0.registration = .invitation } }

    private func register(_ test: TestAccounts, _ name: String, _ invitation: String?, nick: String? = nil) async throws -> SessionAnswer {
        try await test.accounts.register(
            RegisterRequest(
                name: UserName(prepared: name), password: "correct horse", nick: nick, invitation: invitation, device: TestAccounts.device),
            from: test.client)
    }

    private func refusal(_ test: TestAccounts, _ name: String, _ invitation: String?) async throws -> ChatError? {
        try await test.code { _ = try await self.register(test, name, invitation) }
    }

    private func row(_ test: TestAccounts, _ code: String) async throws -> InvitationRow? {
        try await test.database.read { try $0.invitation(Secrets.hash(ofCode: code)) }
    }

    // MARK: Invitations

    @Test func anInvitationAdmitsAsManyUsersAsItHasUses() async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(uses: 2)
        _ = try await self.register(test, "alice", code)
        _ = try await self.register(test, "bobby", code)
        let refused = try await self.refusal(test, "carol", code)
        #expect(refused?.code == .forbidden && refused?.field == "invitation")
        #expect(try await test.accounts.key(named: UserName(prepared: "carol")) == nil)
    }

    @Test(arguments: [Int64.min, -1, 0, 1]) func anInvitationHasAtLeastOneUse(uses: Int64) async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(uses: uses)
        _ = try await self.register(test, "alice", code)
        #expect(try await self.refusal(test, "bobby", code)?.code == .forbidden)
    }

    @Test(arguments: [(-1, true), (0, false), (1, false)] as [(Int64, Bool)])
    func anInvitationEndsAtItsTime(offset: Int64, isAccepted: Bool) async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(lifetime: 3 * Self.day)
        test.wait(3 * Self.day + offset)
        #expect((try await self.refusal(test, "alice", code) == nil) == isAccepted)
    }

    @Test func anInvitationIsValidForAWeekByDefault() async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation()
        let row = try #require(try await self.row(test, code))
        #expect(row.usesLeft == 1 && row.expiresAt - row.createdAt == 7 * Self.day)
    }

    @Test func theAgeOfAnInvitationIsNotEvaluatedAfterAJumpOfTheClock() async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(lifetime: Self.day)
        test.isClockTrusted.withLockedValue { $0 = false }
        test.wait(400 * Self.day)
        _ = try await self.register(test, "alice", code)
        // The number of uses does not depend on the clock.
        #expect(try await self.refusal(test, "bobby", code)?.code == .forbidden)
    }

    @Test func aRegistrationThatFailsSpendsNoUse() async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(uses: 2)
        _ = try await self.register(test, "alice", code)
        #expect(try await self.refusal(test, "alice", code)?.code == .conflict)
        test.database.isFull.withLockedValue { $0 = true }
        await #expect(throws: StorageError.self) { _ = try await self.register(test, "bobby", code) }
        test.database.isFull.withLockedValue { $0 = false }
        #expect(try await self.row(test, code)?.usesLeft == 1)
        _ = try await self.register(test, "bobby", code)
        #expect(try await self.row(test, code) == nil)
    }

    @Test func theLastUseIsSpentOnceByManyRegistrations() async throws {
        let test = try TestAccounts {
            $0.registration = .invitation
            $0.hasLimits = false
        }
        let code = try await test.accounts.makeInvitation(uses: 3)
        let results = try await withThrowingTaskGroup(of: ChatError.Code?.self) { group in
            for number in 0..<12 { group.addTask { try await self.refusal(test, "user\(number)", code)?.code } }
            return try await group.reduce(into: [ChatError.Code?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == nil } == 3 && results.count { $0 == .forbidden } == 9)
    }

    @Test(arguments: [nil, "", "-", "0000-0000-0000-0000", "é", String(repeating: "a", count: 100)] as [String?])
    func aWrongInvitationIsRefusedWithItsField(code: String?) async throws {
        let test = try self.invited()
        _ = try await test.accounts.makeInvitation()
        let refused = try await self.refusal(test, "alice", code)
        #expect(refused?.code == .forbidden && refused?.field == "invitation")
    }

    @Test func aRevokedInvitationAdmitsNoUser() async throws {
        let test = try self.invited()
        let code = try await test.accounts.makeInvitation(uses: 5)
        try await test.accounts.revoke(try #require(try await self.row(test, code)))
        #expect(try await self.refusal(test, "alice", code)?.field == "invitation")
        #expect(try await self.row(test, code) == nil)
    }

    /// An open server does not examine the invitation, which the page may still have from a link.
    @Test func anOpenServerIgnoresAnInvitation() async throws {
        let test = try TestAccounts()
        let code = try await test.accounts.makeInvitation(uses: 1)
        _ = try await self.register(test, "alice", code)
        _ = try await self.register(test, "bobby", "wrong")
        #expect(try await self.row(test, code)?.usesLeft == 1)
    }

    @Test func aClosedServerNamesNoField() async throws {
        let test = try TestAccounts { $0.registration = .closed }
        let code = try await test.accounts.makeInvitation()
        for invitation in [nil, code] {
            let refused = try await self.refusal(test, "alice", invitation)
            #expect(refused?.code == .forbidden && refused?.field == nil)
        }
    }

    // MARK: The new account

    @Test func oneOfManyRegistrationsOfAName() async throws {
        let test = try TestAccounts { $0.hasLimits = false }
        let results = try await withThrowingTaskGroup(of: ChatError.Code?.self) { group in
            for _ in 0..<8 { group.addTask { try await self.refusal(test, "alice", nil)?.code } }
            return try await group.reduce(into: [ChatError.Code?]()) { $0.append($1) }
        }
        #expect(results.count { $0 == nil } == 1 && results.count { $0 == .conflict } == 7)
    }

    @Test func theAnswerHasTheNicknameAndTheRowsHaveTheDevice() async throws {
        let test = try TestAccounts()
        let device = HelloDevice(name: "Телефон 📱", platform: "ios", capabilities: ["a", "b"])
        let answer = try await test.accounts.register(
            RegisterRequest(name: UserName(prepared: "alice"), password: "correct horse", nick: "Ålice", device: device), from: test.client)
        #expect(answer.user.nick == "Ålice" && answer.known != nil)
        #expect(answer.accessExpiresAt == test.time.withLockedValue { $0 } + 900_000)
        let row = try #require(try await test.database.read { try $0.device(DeviceKey(answer.device.number)) })
        #expect(row.name == "Телефон 📱" && row.platform == "ios" && row.capabilities == ["a", "b"] && row.address == "192.0.2.1")
        #expect(row.createdAt == test.time.withLockedValue { $0 } && row.seenAt == row.createdAt)
    }

    @Test func theRecoveryCodesAreDifferentAndEachWorks() async throws {
        let test = try TestAccounts { $0.hasLimits = false }
        let codes = try await test.register("alice").recovery
        #expect(Set(codes).count == 8)
        for (index, code) in codes.enumerated() {
            let request = PasswordRequest(
                name: UserName(prepared: "alice"), recovery: code.uppercased(), password: "password \(index)", device: TestAccounts.device)
            _ = try await test.accounts.setPassword(request, session: nil, from: test.client)
            _ = try await test.login("alice", password: "password \(index)")
        }
    }

    /// A suspended or deleted account still owns its name.
    @Test func theNameOfAClosedAccountIsTaken() async throws {
        let test = try TestAccounts()
        try await test.register("alice")
        try await test.register("bobby")
        _ = try await test.accounts.setSuspended(true, UserName(prepared: "alice"))
        _ = try await test.accounts.delete(UserName(prepared: "bobby"))
        for name in ["alice", "bobby"] {
            let refused = try await self.refusal(test, name, nil)
            #expect(refused?.code == .conflict && refused?.field == "name")
        }
    }

    /// A refusal because of the name is charged too, so that names cannot be probed without a
    /// limit.
    @Test func probesOfNamesAreCharged() async throws {
        let test = try TestAccounts()
        try await test.register("alice", from: ClientOrigin(IPAddress("198.51.100.1")))
        var codes: [ChatError.Code?] = []
        for _ in 0..<6 { codes.append(try await self.refusal(test, "alice", nil)?.code) }
        #expect(codes == Array(repeating: .conflict, count: 5) + [.tooMany])
    }
}
