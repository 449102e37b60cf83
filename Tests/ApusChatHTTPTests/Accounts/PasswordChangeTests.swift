import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// Changes of the password with the old one, a recovery code or the code of an operator.
@Suite("Password changes")
struct PasswordChangeTests {
    private static let name = UserName(prepared: "alice")

    private struct Owner {
        let test: TestAccounts
        let answer: SessionAnswer
        let session: AccountSession

        init() async throws {
            self.test = try TestAccounts { $0.hasLimits = false }
            self.answer = try await self.test.register("alice")
            self.session = try await self.test.accounts.session(access: self.answer.access)
        }

        @discardableResult
        func change(_ request: PasswordRequest, hasSession: Bool) async throws -> SessionAnswer {
            try await self.test.accounts.setPassword(request, session: hasSession ? self.session : nil, from: self.test.client)
        }

        func refusal(_ request: PasswordRequest, hasSession: Bool) async throws -> ChatError? {
            try await self.test.code { try await self.change(request, hasSession: hasSession) }
        }

        func credential() async throws -> CredentialRow? {
            let user = self.session.user
            return try await self.test.database.read { try $0.credential(of: user) }
        }

        func enableAuthenticator() async throws {
            _ = try await self.test.accounts.makeAuthenticator(
                ConfirmRequest(password: "correct horse"), session: self.session, from: self.test.client)
            let row = try #require(try await self.credential())
            let secret = try #require(self.test.accounts.tokens.opened(row.totpSecret, of: self.session.user))
            let code = TOTP.code(secret, step: self.test.time.withLockedValue { $0 } / 30_000)
            try await self.test.accounts.confirmAuthenticator(AuthenticatorCodeRequest(code: code), session: self.session)
        }
    }

    private static func request(old: String? = nil, recovery: String? = nil, name: UserName? = Self.name, new: String = "battery staple")
        -> PasswordRequest
    {
        PasswordRequest(name: name, old: old, recovery: recovery, password: new, device: TestAccounts.device)
    }

    // MARK: Refusals

    @Test func withoutASessionTheNameIsRequired() async throws {
        let owner = try await Owner()
        let refused = try await owner.refusal(Self.request(old: "correct horse", name: nil), hasSession: false)
        #expect(refused?.code == .badRequest && refused?.field == "name")
    }

    /// An unknown name and a wrong proof have the same refusal, which names no field.
    @Test func withoutASessionARefusalRevealsNothing() async throws {
        let owner = try await Owner()
        var refusals: [ChatError?] = []
        for name in ["alice", "ghost"] {
            let name = UserName(prepared: name)
            refusals.append(try await owner.refusal(Self.request(old: "wrong horse", name: name), hasSession: false))
            refusals.append(try await owner.refusal(Self.request(recovery: "aaaa-aaaa-aaaa-aaaa", name: name), hasSession: false))
        }
        for refused in refusals { #expect(refused == refusals[0] && refused?.code == .unauthorized && refused?.field == nil) }
    }

    @Test func withASessionTheWrongFieldIsNamed() async throws {
        let owner = try await Owner()
        let old = try await owner.refusal(Self.request(old: "wrong horse"), hasSession: true)
        #expect(old?.code == .forbidden && old?.field == "old")
        let recovery = try await owner.refusal(Self.request(recovery: "aaaa-aaaa-aaaa-aaaa"), hasSession: true)
        #expect(recovery?.code == .forbidden && recovery?.field == "recovery")
        #expect(owner.test.ended.withLockedValue { $0.isEmpty })
    }

    @Test func theRecoveryCodeOfAnotherUserIsRefused() async throws {
        let owner = try await Owner()
        let other = try await owner.test.register("bobby")
        #expect(try await owner.refusal(Self.request(recovery: other.recovery[0]), hasSession: false)?.code == .unauthorized)
        #expect(try await owner.refusal(Self.request(recovery: other.recovery[0]), hasSession: true)?.field == "recovery")
    }

    @Test(arguments: [true, false]) func aClosedAccountChangesNoPassword(isDeleted: Bool) async throws {
        let owner = try await Owner()
        if isDeleted {
            _ = try await owner.test.accounts.delete(Self.name)
        } else {
            _ = try await owner.test.accounts.setSuspended(true, Self.name)
        }
        for request in [Self.request(old: "correct horse"), Self.request(recovery: owner.answer.recovery[0])] {
            #expect(try await owner.refusal(request, hasSession: false)?.code == .unauthorized)
        }
        if !isDeleted {
            _ = try await owner.test.accounts.setSuspended(false, Self.name)
            // The recovery code was not used up.
            try await owner.change(Self.request(recovery: owner.answer.recovery[0]), hasSession: false)
        }
    }

    @Test func aFullDiskKeepsThePasswordTheCodesAndTheSessions() async throws {
        let owner = try await Owner()
        let second = try await owner.test.login("alice")
        owner.test.database.isFull.withLockedValue { $0 = true }
        await #expect(throws: StorageError.self) {
            try await owner.change(Self.request(recovery: owner.answer.recovery[0]), hasSession: true)
        }
        owner.test.database.isFull.withLockedValue { $0 = false }
        _ = try await owner.test.login("alice")
        _ = try await owner.test.accounts.session(access: second.access)
        #expect(owner.test.ended.withLockedValue { $0.isEmpty })
        try await owner.change(Self.request(recovery: owner.answer.recovery[0]), hasSession: true)
    }

    // MARK: Sessions

    @Test func theDeviceOfTheRequestStaysAndItsOldTokensEnd() async throws {
        let owner = try await Owner()
        let keys = try await owner.test.login("alice")
        let answer = try await owner.change(Self.request(old: "correct horse"), hasSession: true)
        #expect(answer.device == owner.answer.device && answer.refresh != owner.answer.refresh)
        #expect(owner.test.ended.withLockedValue { $0.map(\.rawValue) } == [keys.device.number])
        _ = try await owner.test.accounts.session(access: answer.access)
        // The use of the refresh token from before the change shows that two clients have the
        // session.
        #expect(try await owner.test.code { _ = try await owner.test.refresh(owner.answer.refresh) }?.code == .unauthorized)
        #expect(try await owner.test.code { _ = try await owner.test.accounts.session(access: answer.access) }?.code == .unauthorized)
    }

    @Test func withoutASessionANewDeviceBeginsAndAllOthersEnd() async throws {
        let owner = try await Owner()
        let changes = NIOLockedValueBox<[(Int64, Bool)]>([])
        owner.test.accounts.onChange { list in
            changes.withLockedValue { $0 += list.map { ($0.device.key.rawValue, $0.isAdded) } }
        }
        let answer = try await owner.change(Self.request(recovery: owner.answer.recovery[3]), hasSession: false)
        #expect(answer.device != owner.answer.device && answer.recovery.isEmpty)
        let told = changes.withLockedValue { $0 }
        #expect(told.map(\.0) == [owner.answer.device.number, answer.device.number] && told.map(\.1) == [false, true])
        #expect(try await owner.test.accounts.devices(of: owner.test.accounts.session(access: answer.access)).devices.count == 1)
    }

    /// A session that an operator ended during the request is not restored by it.
    @Test func aSessionThatEndedGetsANewDevice() async throws {
        let owner = try await Owner()
        _ = try await owner.test.accounts.endSessions(of: Self.name, device: nil)
        let answer = try await owner.change(Self.request(old: "correct horse"), hasSession: true)
        #expect(answer.device != owner.answer.device)
        #expect(try await owner.test.code { _ = try await owner.test.accounts.session(access: owner.answer.access) }?.code == .unauthorized)
        _ = try await owner.test.accounts.session(access: answer.access)
    }

    // MARK: Codes

    @Test func onlyAnOperatorsCodeDisablesTheAuthenticator() async throws {
        let owner = try await Owner()
        try await owner.enableAuthenticator()
        try await owner.change(Self.request(recovery: owner.answer.recovery[0]), hasSession: false)
        #expect(try await owner.credential()?.totpState == .on)
        let reset = try #require(try await owner.test.accounts.makeResetCode(for: Self.name))
        try await owner.change(Self.request(recovery: reset, new: "third password"), hasSession: false)
        let row = try #require(try await owner.credential())
        #expect(row.totpState == .off && row.totpSecret.isEmpty)
        _ = try await owner.test.login("alice", password: "third password")
    }

    @Test func aSessionChangesThePasswordOfAnAccountWithAnAuthenticator() async throws {
        let owner = try await Owner()
        try await owner.enableAuthenticator()
        #expect(try await owner.refusal(Self.request(old: "correct horse"), hasSession: false)?.code == .forbidden)
        try await owner.change(Self.request(old: "correct horse"), hasSession: true)
        #expect(try await owner.credential()?.totpState == .on)
    }

    @Test(arguments: [(-1, true), (0, false)] as [(Int64, Bool)])
    func anOperatorsCodeEndsAtItsTime(offset: Int64, isAccepted: Bool) async throws {
        let owner = try await Owner()
        let code = try #require(try await owner.test.accounts.makeResetCode(for: Self.name))
        owner.test.wait(86_400_000 + offset)
        #expect((try await owner.refusal(Self.request(recovery: code), hasSession: false) == nil) == isAccepted)
    }

    @Test func theAgeOfAnOperatorsCodeIsNotEvaluatedAfterAJumpOfTheClock() async throws {
        let owner = try await Owner()
        let code = try #require(try await owner.test.accounts.makeResetCode(for: Self.name))
        owner.test.isClockTrusted.withLockedValue { $0 = false }
        owner.test.wait(400 * 86_400_000)
        try await owner.change(Self.request(recovery: code), hasSession: false)
    }

    @Test func aNewOperatorsCodeReplacesTheOldOneAndAnyChangeEndsIt() async throws {
        let owner = try await Owner()
        let first = try #require(try await owner.test.accounts.makeResetCode(for: Self.name))
        let second = try #require(try await owner.test.accounts.makeResetCode(for: Self.name))
        #expect(try await owner.refusal(Self.request(recovery: first), hasSession: false)?.code == .unauthorized)
        try await owner.change(Self.request(old: "correct horse"), hasSession: true)
        // The user has changed the password, so the link of the operator is no longer needed.
        #expect(try await owner.refusal(Self.request(recovery: second), hasSession: false)?.code == .unauthorized)
    }

    @Test func recoveryCodesThatWereNotUsedRemain() async throws {
        let owner = try await Owner()
        for (index, code) in owner.answer.recovery.prefix(3).enumerated() {
            try await owner.change(Self.request(recovery: code, new: "password \(index)"), hasSession: false)
        }
        #expect(try await owner.refusal(Self.request(recovery: owner.answer.recovery[0]), hasSession: false)?.code == .unauthorized)
        try await owner.change(Self.request(recovery: owner.answer.recovery[7]), hasSession: false)
    }

    @Test func oneOfManyChangesWithTheSameCode() async throws {
        let owner = try await Owner()
        let code = owner.answer.recovery[0]
        let results = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let password = "password \(number)"
                    return try await owner.refusal(Self.request(recovery: code, new: password), hasSession: false) == nil ? password : nil
                }
            }
            return try await group.reduce(into: [String]()) { if let password = $1 { $0.append(password) } }
        }
        #expect(results.count == 1)
        _ = try await owner.test.login("alice", password: try #require(results.first))
    }

    /// Two changes with the old password: the later one finds that the password is no longer the
    /// one that it verified.
    @Test func oneOfManyChangesWithTheSameOldPassword() async throws {
        let owner = try await Owner()
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await owner.refusal(Self.request(old: "correct horse", new: "password \(number)"), hasSession: false) == nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(count == 1)
    }

    // MARK: Text

    /// A password is compared by the bytes that the client sent.
    @Test func passwordsAreComparedByTheirBytes() async throws {
        let owner = try await Owner()
        let password = "пароль 👩‍👩‍👧 caf\u{E9}"
        try await owner.change(Self.request(old: "correct horse", new: password), hasSession: true)
        _ = try await owner.test.login("alice", password: password)
        for other in [password + " ", password.uppercased(), "\u{202E}" + password, password + "\u{FE0F}"] {
            #expect(try await owner.test.code { _ = try await owner.test.login("alice", password: other) }?.code == .unauthorized)
        }
    }
}
