import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage

extension Accounts {
    /// Sets a password and ends all other sessions of the user.
    ///
    /// - Parameter session: The session of the request; nil for a request without a session, such
    ///   as with a recovery code.
    package func setPassword(_ request: PasswordRequest, session: AccountSession?, from client: ClientOrigin) async throws -> SessionAnswer
    {
        let known = try await self.account(for: request, session)
        if session == nil, let name = request.name {
            try self.chargeSignIn(name, known: nil, of: nil, from: client)
        } else if let session {
            try self.charge(.signIn, to: [.device(session.device)])
        }
        if let old = request.old {
            guard try await self.passwords.verifies(old, known?.credential.password, for: client) else {
                throw Self.refused(session, "old")
            }
        }
        // With the old password alone, the request would be a sign-in without the second factor.
        if session == nil, request.old != nil, known?.credential.totpState == .on {
            throw ChatError(
                .forbidden, message: "An account with an authenticator can change its password only with a session or a recovery code.")
        }
        let password = try await self.passwords.hash(request.password, for: client)
        guard let known, known.account.state == .active else { throw Self.refused(session) }
        let now = self.clock.now()
        let isTrusted = self.clock.isTrusted()
        let fresh = self.device(request.device, of: known.account.key, from: client, at: now)
        let outcome = try await self.database.write { storage -> (DeviceRow, [DeviceRow]) in
            guard var credential = try storage.credential(of: known.account.key) else { throw Self.refused(session) }
            var used: CodeRow?
            if let recovery = request.recovery {
                used = try storage.code(Secrets.hash(ofCode: recovery), of: known.account.key)
                guard let used, used.expiresAt > now || !isTrusted else { throw Self.refused(session, "recovery") }
                // The user may have lost the authenticator together with the password, and could
                // then not sign in while the authenticator is enabled.
                if used.purpose == .reset { credential.removeAuthenticator() }
            } else if credential.password != known.credential.password {
                throw Self.refused(session, "old")
            }
            credential.password = password
            credential.passwordChangedAt = now
            // The requesting device keeps its row, so that its push subscription remains.
            var row = (try session.flatMap { try storage.device($0.device) }) ?? fresh
            if row.key != fresh.key { (row.generation, row.isConfirmed, row.rotatedAt) = (row.generation + 1, true, now) }
            let others = try storage.devices(of: known.account.key, limit: 10_000).filter { $0.key != row.key }
            let device = row
            try storage.commit { changes, _ in
                changes.credentials.credentials = [credential]
                changes.credentials.clearedCodes = [(known.account.key, .reset)]
                changes.credentials.removedCodes = used.map { [$0] } ?? []
                changes.credentials.removedDevices = others.map(\.key)
                changes.credentials.devices = [device]
            }
            return (device, others)
        }
        self.ended(outcome.1)
        if outcome.0.key == fresh.key { self.began(outcome.0) }
        return self.answer(known, outcome.0)
    }

    /// Replaces the recovery codes.
    package func makeRecoveryCodes(_ request: ConfirmRequest, session: AccountSession, from client: ClientOrigin) async throws
        -> RecoveryAnswer
    {
        try await self.confirmPassword(request.password, session: session, from: client)
        let codes = (0..<Self.recoveryCodes).map { _ in Secrets.code() }
        try await self.database.write { storage in
            try storage.commit { changes, _ in
                changes.credentials.clearedCodes = [(session.user, .recovery)]
                changes.credentials.codes = codes.map { CodeRow(user: session.user, hash: Secrets.hash(ofCode: $0), purpose: .recovery) }
            }
        }
        return RecoveryAnswer(recovery: codes)
    }

    /// Creates the code of an operator's link, with which a user can set a new password.
    ///
    /// - Returns: The code; nil if the account does not exist.
    package func makeResetCode(for name: UserName) async throws -> String? {
        let code = Secrets.code()
        let expiresAt = self.clock.now() + self.configuration.resetLifetime
        guard let known = try await self.account(named: name) else { return nil }
        try await self.database.write { storage in
            try storage.commit { changes, _ in
                changes.credentials.clearedCodes = [(known.account.key, .reset)]
                changes.credentials.codes = [
                    CodeRow(user: known.account.key, hash: Secrets.hash(ofCode: code), purpose: .reset, expiresAt: expiresAt)
                ]
            }
        }
        return code
    }

    /// Deletes an account with its credentials, sessions and profile. Its messages are erased later
    /// (`Maintenance`). The name is never assigned again.
    package func delete(_ request: ConfirmRequest, session: AccountSession, from client: ClientOrigin) async throws {
        try await self.confirmPassword(request.password, session: session, from: client)
        try await self.deleteAccount(session.user)
    }

    func deleteAccount(_ user: UserKey) async throws {
        let ended = try await self.database.write { storage -> [DeviceKey] in
            let devices = try storage.devices(of: user, limit: 10_000).map(\.key)
            guard var account = try storage.accounts([user]).first else { return devices }
            account.state = .deleted
            (account.nickname, account.about, account.statusText, account.avatar) = ("", "", "", nil)
            let deleted = account
            try storage.commit { changes, _ in
                changes.accounts = [deleted]
                changes.credentials.removedCredentials = [user]
                changes.credentials.removedDevices = devices
                changes.credentials.clearedCodes = [(user, .recovery), (user, .reset)]
            }
            return devices
        }
        self.ended(ended)
    }

    /// Throws unless the password of a signed-in user is correct.
    @discardableResult
    func confirmPassword(_ password: String, session: AccountSession, from client: ClientOrigin) async throws -> KnownAccount {
        try self.charge(.signIn, to: [.device(session.device)])
        let known = try await self.database.read { try Self.account(session.user, $0) }
        guard try await self.passwords.verifies(password, known?.credential.password, for: client), let known else {
            throw ChatError.passwordRefused
        }
        return known
    }

    private func account(for request: PasswordRequest, _ session: AccountSession?) async throws -> KnownAccount? {
        if let session { return try await self.database.read { try Self.account(session.user, $0) } }
        guard let name = request.name else { throw ChatError(.badRequest, message: "`name` is required without a session.", field: "name") }
        return try await self.account(named: name)
    }

    /// Returns the error of a wrong password or code.
    ///
    /// - Parameter field: The field of the request with the wrong value. Without a session, the
    ///   error does not name it, because that would show whether the account exists.
    private static func refused(_ session: AccountSession?, _ field: String? = nil) -> ChatError {
        guard session != nil else { return ChatError(.unauthorized, message: "The password or the code is wrong.") }
        return ChatError(.forbidden, message: "The password or the code is wrong.", field: field)
    }
}

extension CredentialRow {
    mutating func removeAuthenticator() { (self.totpSecret, self.totpState, self.totpStep) = ([], .off, 0) }
}
