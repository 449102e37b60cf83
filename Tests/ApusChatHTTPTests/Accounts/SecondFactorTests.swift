import ApusChatProtocol
import ApusChatStorage
import ApusPasswords
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// The states of an authenticator: off, created, confirmed.
@Suite("Second factor")
struct SecondFactorTests {
    private static let password = ConfirmRequest(password: "correct horse")

    /// An account with a session, whose budgets of sign-ins are off.
    private struct Owner {
        let test: TestAccounts
        let answer: SessionAnswer
        let session: AccountSession

        init(_ configure: (inout AccountsConfiguration) -> Void = { $0.hasLimits = false }) async throws {
            self.test = try TestAccounts(configure)
            self.answer = try await self.test.register("alice")
            self.session = try await self.test.accounts.session(access: self.answer.access)
        }

        func make() async throws -> AuthenticatorAnswer {
            try await self.test.accounts.makeAuthenticator(SecondFactorTests.password, session: self.session, from: self.test.client)
        }

        func row() async throws -> CredentialRow? {
            let user = self.session.user
            return try await self.test.database.read { try $0.credential(of: user) }
        }

        /// Returns the code of the current step, or of one that is `steps` later.
        func code(_ steps: Int64 = 0) async throws -> String {
            let row = try #require(try await self.row())
            let secret = try #require(self.test.accounts.tokens.opened(row.totpSecret, of: self.session.user))
            return TOTP.code(secret, step: self.test.time.withLockedValue { $0 } / 30_000 + steps)
        }

        func confirm(_ code: String) async throws -> ChatError? {
            try await self.test.code {
                try await self.test.accounts.confirmAuthenticator(AuthenticatorCodeRequest(code: code), session: self.session)
            }
        }

        /// Creates and confirms an authenticator, and lets the step of its code pass.
        func enable() async throws {
            _ = try await self.make()
            #expect(try await self.confirm(try await self.code()) == nil)
            self.test.wait(60_000)
        }

        func refusal(code: String?) async throws -> ChatError? {
            try await self.test.code { _ = try await self.test.login("alice", code: code) }
        }
    }

    // MARK: Creation and confirmation

    @Test func anotherSecretReplacesAnUnconfirmedOne() async throws {
        let owner = try await Owner()
        let first = try await owner.make()
        let old = try await owner.code()
        let second = try await owner.make()
        #expect(first.secret != second.secret)
        #expect(try await owner.confirm(old)?.field == "code")
        #expect(try await owner.confirm(try await owner.code()) == nil)
    }

    @Test func aConfirmedAuthenticatorIsNotReplaced() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let before = try await owner.row()
        #expect(try await owner.test.code { _ = try await owner.make() }?.code == .conflict)
        #expect(try await owner.row() == before)
        // A second confirmation finds no secret that waits for it.
        #expect(try await owner.confirm(try await owner.code())?.code == .notFound)
    }

    @Test(arguments: [(-2, false), (-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)])
    func aCodeOfAnAdjacentStepConfirms(steps: Int64, isAccepted: Bool) async throws {
        let owner = try await Owner()
        _ = try await owner.make()
        #expect((try await owner.confirm(try await owner.code(steps)) == nil) == isAccepted)
        #expect(try await owner.row()?.totpState == (isAccepted ? .on : .pending))
    }

    @Test func aWrongPasswordCreatesAndRemovesNothing() async throws {
        let owner = try await Owner()
        let wrong = ConfirmRequest(password: "wrong horse")
        let made = try await owner.test.code {
            _ = try await owner.test.accounts.makeAuthenticator(wrong, session: owner.session, from: owner.test.client)
        }
        #expect(made?.code == .forbidden && made?.field == "password")
        #expect(try await owner.row()?.totpState == .off)
        try await owner.enable()
        let removed = try await owner.test.code {
            try await owner.test.accounts.removeAuthenticator(wrong, session: owner.session, from: owner.test.client)
        }
        #expect(removed?.code == .forbidden)
        #expect(try await owner.row()?.totpState == .on)
    }

    @Test func theRemovedSecretIsForgotten() async throws {
        let owner = try await Owner()
        try await owner.enable()
        try await owner.test.accounts.removeAuthenticator(Self.password, session: owner.session, from: owner.test.client)
        let row = try #require(try await owner.row())
        #expect(row.totpState == .off && row.totpSecret.isEmpty && row.totpStep == 0)
        #expect(try await owner.refusal(code: nil) == nil)
        // A code that a client still sends is ignored.
        #expect(try await owner.refusal(code: "000000") == nil)
    }

    @Test func confirmationsOfADeviceAreLimited() async throws {
        let owner = try await Owner { _ in }
        _ = try await owner.make()
        var codes: [ChatError.Code?] = []
        for _ in 0..<10 { codes.append(try await owner.confirm("000000")?.code) }
        // The creation was the first of ten attempts.
        #expect(codes == Array(repeating: .forbidden, count: 9) + [.tooMany])
    }

    @Test func aFullDiskDoesNotConfirm() async throws {
        let owner = try await Owner()
        _ = try await owner.make()
        let code = try await owner.code()
        owner.test.database.isFull.withLockedValue { $0 = true }
        await #expect(throws: StorageError.self) { _ = try await owner.confirm(code) }
        owner.test.database.isFull.withLockedValue { $0 = false }
        #expect(try await owner.row()?.totpState == .pending)
        #expect(try await owner.confirm(code) == nil)
    }

    /// Names of servers can contain any character; the address of the authenticator contains it
    /// escaped.
    @Test(arguments: [("Apus", "Apus"), ("a:b&c=d", "a%3Ab%26c%3Dd"), ("客厅 1", "%E5%AE%A2%E5%8E%85%201"), ("100%", "100%25")])
    func theNameOfTheServerIsEscaped(name: String, escaped: String) async throws {
        let owner = try await Owner { $0.serverName = name }
        let made = try await owner.make()
        #expect(made.uri == "otpauth://totp/\(escaped):alice?secret=\(made.secret)&issuer=\(escaped)")
    }

    // MARK: Sign-ins

    @Test(arguments: [" 123456", "123 456", "123456\n", "\t1 2 3 4 5 6 "])
    func spacesInACodeAreIgnored(form: String) async throws {
        let owner = try await Owner()
        try await owner.enable()
        var digits = Array(try await owner.code())[...]
        let typed = String(form.map { $0.isNumber ? digits.removeFirst() : $0 })
        #expect(try await owner.refusal(code: typed) == nil)
    }

    @Test(arguments: ["", "12345", "1234567", "12345a", "１２３４５６", "-12345", "0x1234"])
    func anotherTextIsNoCode(text: String) async throws {
        let owner = try await Owner()
        try await owner.enable()
        let refused = try await owner.refusal(code: text)
        #expect(refused?.code == .unauthorized && refused?.field == "code")
    }

    /// RFC 6238 section 5.2: a code is accepted once, and no earlier one after it.
    @Test func anEarlierCodeIsNotAcceptedAfterALaterOne() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let (earlier, current, later) = (try await owner.code(-1), try await owner.code(0), try await owner.code(1))
        #expect(try await owner.refusal(code: current) == nil)
        #expect(try await owner.refusal(code: earlier)?.code == .unauthorized)
        #expect(try await owner.refusal(code: current)?.code == .unauthorized)
        #expect(try await owner.refusal(code: later) == nil)
        #expect(try await owner.refusal(code: current)?.code == .unauthorized)
    }

    @Test func theSameCodeSignsInOnceAtTheSameTime() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let code = try await owner.code()
        let signIns = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { try await owner.refusal(code: code) == nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(signIns == 1)
    }

    @Test func aWrongPasswordUsesNoCode() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let code = try await owner.code()
        let recovery = owner.answer.recovery[0]
        for text in [code, recovery] {
            let refused = try await owner.test.code { _ = try await owner.test.login("alice", password: "wrong horse", code: text) }
            #expect(refused?.code == .unauthorized && refused?.field == nil)
        }
        #expect(try await owner.refusal(code: code) == nil)
        #expect(try await owner.refusal(code: recovery) == nil)
    }

    @Test func theCodeOfAnOperatorIsNotASecondFactor() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let reset = try #require(try await owner.test.accounts.makeResetCode(for: UserName(prepared: "alice")))
        #expect(try await owner.refusal(code: reset)?.code == .unauthorized)
    }

    @Test func theRecoveryCodeOfAnotherUserIsRefused() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let other = try await owner.test.register("bobby")
        #expect(try await owner.refusal(code: other.recovery[0])?.code == .unauthorized)
    }

    /// After the loss of `chat.key`, the secret cannot be read, and a recovery code still works.
    @Test func withAnotherKeyOfTheServerARecoveryCodeSignsIn() async throws {
        let owner = try await Owner()
        try await owner.enable()
        let code = try await owner.code()
        var configuration = AccountsConfiguration()
        configuration.passwordCost = .init(logRounds: 1)
        let (time, database) = (owner.test.time, owner.test.database)
        let other = try Accounts(
            database: database, folder: owner.test.folder, key: Array(repeating: 9, count: 32), configuration: configuration,
            clock: AccountsClock(now: { time.withLockedValue { $0 } }, elapsed: { time.withLockedValue { $0 } }))
        defer { other.close() }
        func login(_ code: String) async throws -> ChatError? {
            try await owner.test.code {
                _ = try await other.login(
                    LoginRequest(name: UserName(prepared: "alice"), password: "correct horse", code: code, device: TestAccounts.device),
                    from: owner.test.client)
            }
        }
        #expect(try await login(code)?.code == .unauthorized)
        #expect(try await login(owner.answer.recovery[1]) == nil)
    }

    @Test func theListOfDevicesReportsAConfirmedAuthenticatorOnly() async throws {
        let owner = try await Owner()
        func reported() async throws -> Bool { try await owner.test.accounts.devices(of: owner.session).hasAuthenticator }
        #expect(try await !reported())
        _ = try await owner.make()
        #expect(try await !reported())
        #expect(try await owner.confirm(try await owner.code()) == nil)
        #expect(try await reported())
    }
}
