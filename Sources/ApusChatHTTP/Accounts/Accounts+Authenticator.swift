import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import Foundation

extension Accounts {
    /// Creates the secret of an authenticator. It takes effect after `confirmAuthenticator`.
    package func makeAuthenticator(_ request: ConfirmRequest, session: AccountSession, from client: ClientOrigin) async throws
        -> AuthenticatorAnswer
    {
        let known = try await self.confirmPassword(request.password, session: session, from: client)
        let secret = Secrets.bytes(TOTP.secretBytes)
        let sealed = try self.tokens.sealed(secret, of: session.user)
        try await self.database.write { storage in
            guard var credential = try storage.credential(of: session.user) else { throw ChatError.noSession }
            guard credential.totpState != .on else {
                throw ChatError(.conflict, message: "The account already has an authenticator. Remove it first.")
            }
            (credential.totpSecret, credential.totpState, credential.totpStep) = (sealed, .pending, 0)
            let row = credential
            try storage.commit { changes, _ in changes.credentials.credentials = [row] }
        }
        let text = TOTP.text(of: secret)
        let issuer = Self.escaped(self.configuration.serverName)
        return AuthenticatorAnswer(
            secret: text, uri: "otpauth://totp/\(issuer):\(Self.escaped(known.account.name.rawValue))?secret=\(text)&issuer=\(issuer)")
    }

    /// Enables the authenticator with its first code.
    package func confirmAuthenticator(_ request: AuthenticatorCodeRequest, session: AccountSession) async throws {
        try self.charge(.signIn, to: [.device(session.device)])
        let now = self.clock.now()
        let tokens = self.tokens
        try await self.database.write { storage in
            guard var credential = try storage.credential(of: session.user), credential.totpState == .pending,
                let secret = tokens.opened(credential.totpSecret, of: session.user)
            else { throw ChatError(.notFound, message: "The account has no authenticator to confirm. Create one first.") }
            guard let step = TOTP.accepts(request.code, secret, after: 0, at: now) else {
                throw ChatError(.forbidden, message: "The code is wrong. Check the clock of the device.", field: "code")
            }
            (credential.totpState, credential.totpStep) = (.on, step)
            let row = credential
            try storage.commit { changes, _ in changes.credentials.credentials = [row] }
        }
    }

    /// Removes the authenticator.
    package func removeAuthenticator(_ request: ConfirmRequest, session: AccountSession, from client: ClientOrigin) async throws {
        try await self.confirmPassword(request.password, session: session, from: client)
        try await self.database.write { storage in
            guard var credential = try storage.credential(of: session.user) else { throw ChatError.noSession }
            credential.removeAuthenticator()
            let row = credential
            try storage.commit { changes, _ in changes.credentials.credentials = [row] }
        }
    }

    private static func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
}
