import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import Crypto
import NIOConcurrencyHelpers

extension Accounts {
    /// Signs a user in.
    package func login(_ request: LoginRequest, from client: ClientOrigin) async throws -> SessionAnswer {
        let known = try await self.account(named: request.name)
        try self.chargeSignIn(request.name, known: request.known, of: known, from: client)
        guard try await self.passwords.verifies(request.password, known?.credential.password, for: client), let known else {
            throw ChatError.wrongPassword
        }
        guard known.account.state == .active else {
            throw ChatError(.forbidden, message: "The account is suspended. Ask the operators of the server.")
        }
        let now = self.clock.now()
        let device = self.device(request.device, of: known.account.key, from: client, at: now)
        let former = try await self.database.write { storage -> [DeviceRow] in
            // The password may have been changed since it was verified.
            guard var credential = try storage.credential(of: known.account.key), credential.password == known.credential.password else {
                throw ChatError.wrongPassword
            }
            let used = try self.secondFactor(request.code, &credential, storage)
            let devices = try storage.devices(of: known.account.key, limit: 1_000)
            // The most recently used devices stay signed in.
            let former = Array(devices.dropFirst(ChatLimits.devices - 1))
            try storage.commit { changes, _ in
                if credential != known.credential { changes.credentials.credentials = [credential] }
                changes.credentials.removedCodes = used.map { [$0] } ?? []
                changes.credentials.removedDevices = former.map(\.key)
                changes.credentials.devices = [device]
            }
            return former
        }
        self.ended(former)
        self.began(device)
        return self.answer(known, device)
    }

    /// Checks the code of the authenticator, or a recovery code in its place.
    ///
    /// - Returns: The row of a recovery code, which the caller removes; nil for a code of the
    ///   authenticator.
    private func secondFactor(_ code: String?, _ credential: inout CredentialRow, _ storage: any AccountStorage) throws -> CodeRow? {
        guard credential.totpState == .on else { return nil }
        guard let code else {
            throw ChatError(
                .badRequest, message: "`code` is required: send a code of the authenticator, or a recovery code.", field: "code")
        }
        if let secret = self.tokens.opened(credential.totpSecret, of: credential.user),
            let step = TOTP.accepts(code, secret, after: credential.totpStep, at: self.clock.now())
        {
            credential.totpStep = step
            return nil
        }
        let hash = Secrets.hash(ofCode: code)
        guard let recovery = try storage.code(hash, of: credential.user), recovery.purpose == .recovery else {
            throw ChatError(.unauthorized, message: "The code is wrong or was already used.", field: "code")
        }
        return recovery
    }

    /// Charges a sign-in to the device if the user has signed in on it before, otherwise to the
    /// name and the address. Attempts from other devices therefore never lock out a known device.
    func chargeSignIn(_ name: UserName, known token: String?, of account: KnownAccount?, from client: ClientOrigin) throws(ChatError) {
        if let token, let account, let device = self.tokens.known(token, of: account.account.key) {
            return try self.charge(.signIn, to: [.device(DeviceKey(device))])
        }
        // Names without an account also have a budget, so that a refusal does not reveal whether an
        // account exists.
        let number = SHA256.hash(data: Array(name.rawValue.utf8)).prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        try self.charge(.signIn, to: client.keys + [.account(UserKey(number))])
    }

    func account(named name: UserName) async throws -> KnownAccount? {
        try await self.database.read { reads in
            guard let key = try reads.userKeys(named: [name]).first ?? nil else { return nil }
            return try Self.account(key, reads)
        }
    }

    static func account(_ key: UserKey, _ reads: any AccountReads) throws -> KnownAccount? {
        guard let account = try reads.accounts([key]).first, let credential = try reads.credential(of: key) else { return nil }
        return KnownAccount(account: account, credential: credential)
    }

    func device(_ device: HelloDevice, of user: UserKey, from client: ClientOrigin, at time: Int64) -> DeviceRow {
        var row = DeviceRow(key: DeviceKey(Secrets.key()), user: user, name: device.name, platform: device.platform, at: time)
        row.capabilities = device.capabilities
        row.address = client.text
        return row
    }

    /// Returns the answer that begins or renews a session.
    func answer(_ account: KnownAccount, _ device: DeviceRow, recovery: [String] = []) -> SessionAnswer {
        let expiresAt = self.clock.now() + self.configuration.accessLifetime
        self.cache.withLockedValue { $0.insert(device) }
        return SessionAnswer(
            user: account.user, device: DeviceID(number: device.key.rawValue),
            access: self.tokens.text(
                of: .init(user: device.user, device: device.key, generation: device.generation, expiresAt: expiresAt)),
            accessExpiresAt: expiresAt, refresh: self.tokens.refresh(device.key, generation: device.generation),
            known: self.tokens.known(device.user), recovery: recovery)
    }
}
