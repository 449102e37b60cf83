import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite struct AuthenticatorTests {
    /// The last six digits of the vectors of RFC 6238, appendix B, for SHA-1.
    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"), (2_000_000_000, "279037"),
        ] as [(Int64, String)])
    func codesMatchTheSpecification(_ seconds: Int64, _ code: String) {
        let secret = Array("12345678901234567890".utf8)
        #expect(TOTP.code(secret, step: seconds / 30) == code)
        #expect(TOTP.accepts(code, secret, after: 0, at: seconds * 1_000) == seconds / 30)
        #expect(TOTP.accepts(code, secret, after: seconds / 30, at: seconds * 1_000) == nil)
        #expect(TOTP.accepts(code, secret, after: 0, at: seconds * 1_000 + 90_000) == nil)
    }

    @Test func aSecretIsBase32() {
        #expect(TOTP.text(of: Array("foobar".utf8)) == "MZXW6YTBOI")
        #expect(TOTP.text(of: Array("fo".utf8)) == "MZXQ")
    }

    @Test func aSignInNeedsACodeOnceItIsConfirmed() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let session = try await test.accounts.session(access: answer.access)
        let password = ConfirmRequest(password: "correct horse")
        let made = try await test.accounts.makeAuthenticator(password, session: session, from: test.client)
        #expect(made.uri == "otpauth://totp/Apus:alice?secret=\(made.secret)&issuer=Apus")
        _ = try await test.login("alice")
        let row = try #require(try await test.database.read { try $0.credential(of: session.user) })
        let secret = try #require(test.accounts.tokens.opened(row.totpSecret, of: session.user))
        #expect(TOTP.text(of: secret) == made.secret)
        func code() -> String { TOTP.code(secret, step: test.time.withLockedValue { $0 } / 30_000) }
        #expect(
            try await test.code {
                try await test.accounts.confirmAuthenticator(AuthenticatorCodeRequest(code: "000"), session: session)
            }?.code == .forbidden)
        try await test.accounts.confirmAuthenticator(AuthenticatorCodeRequest(code: code()), session: session)
        let missing = try await test.code { _ = try await test.login("alice") }
        #expect(missing?.code == .badRequest && missing?.field == "code")
        // The code that confirmed the authenticator is not accepted again.
        #expect(try await test.code { _ = try await test.login("alice", code: code()) }?.code == .unauthorized)
        // The current password alone does not change the password either.
        let change = PasswordRequest(
            name: UserName(prepared: "alice"), old: "correct horse", password: "battery staple", device: TestAccounts.device)
        #expect(
            try await test.code { _ = try await test.accounts.setPassword(change, session: nil, from: test.client) }?.code == .forbidden)
        test.wait(30_000)
        let used = code()
        _ = try await test.login("alice", code: used)
        #expect(try await test.code { _ = try await test.login("alice", code: used) }?.code == .unauthorized)
        // A recovery code replaces the code of a lost authenticator, once.
        _ = try await test.login("alice", code: answer.recovery[0])
        #expect(try await test.code { _ = try await test.login("alice", code: answer.recovery[0]) }?.code == .unauthorized)
        try await test.accounts.removeAuthenticator(password, session: session, from: test.client)
        test.wait(300_000)
        _ = try await test.login("alice")
    }

    @Test func aSecretIsUselessWithoutTheServersKey() throws {
        let tokens = SessionTokens(key: Array(repeating: 1, count: 32))
        let sealed = try tokens.sealed([1, 2, 3], of: UserKey(1))
        #expect(tokens.opened(sealed, of: UserKey(1)) == [1, 2, 3])
        #expect(tokens.opened(sealed, of: UserKey(2)) == nil)
        #expect(SessionTokens(key: Array(repeating: 2, count: 32)).opened(sealed, of: UserKey(1)) == nil)
    }
}
