package import ApusChatProtocol
package import ApusChatStorage

/// Account operations of operators. Methods with an optional result return nil if the account does
/// not exist.
extension Accounts {
    /// Returns the key of an account.
    package func key(named name: UserName) async throws -> UserKey? { try await self.account(named: name)?.account.key }

    /// Creates an account, regardless of the settings for registration.
    ///
    /// - Parameter password: The password. Default: none; the user then sets one with a code of
    ///   `makeResetCode`.
    @discardableResult
    package func create(_ name: UserName, nickname: String = "", password: String? = nil) async throws -> UserKey {
        let hash = try await self.passwords.hash(password ?? Secrets.code(), for: ClientOrigin(nil))
        let now = self.clock.now()
        let account = AccountRow(
            key: UserKey(Secrets.key()), name: name, nickname: nickname, selfConversation: ConversationKey(Secrets.key()))
        try await self.database.write { storage in
            guard try storage.userKeys(named: [name]) == [nil] else { throw Self.taken }
            try storage.commit { changes, _ in
                Self.create(account, at: now, &changes)
                changes.credentials.credentials = [CredentialRow(user: account.key, password: hash, passwordChangedAt: now)]
            }
        }
        return account.key
    }

    /// Suspends an account and ends its sessions, or ends the suspension. Returns whether the state
    /// of the account changed.
    package func setSuspended(_ isSuspended: Bool, _ name: UserName) async throws -> Bool? {
        guard let known = try await self.account(named: name), known.account.state != .deleted else { return nil }
        let ended = try await self.database.write { storage -> [DeviceKey] in
            guard var account = try storage.accounts([known.account.key]).first, account.state != .deleted else { return [] }
            account.state = isSuspended ? .suspended : .active
            let changed = account
            let devices = isSuspended ? try storage.devices(of: account.key, limit: 10_000).map(\.key) : []
            try storage.commit { changes, _ in
                changes.accounts = [changed]
                changes.credentials.removedDevices = devices
            }
            return devices
        }
        self.ended(ended)
        return known.account.state != (isSuspended ? .suspended : .active)
    }

    /// Deletes an account in the same way as a deletion by the user. Also returns nil if the
    /// account is already deleted.
    package func delete(_ name: UserName) async throws -> Bool? {
        guard let known = try await self.account(named: name), known.account.state != .deleted else { return nil }
        try await self.deleteAccount(known.account.key)
        return true
    }

    /// Returns the sessions of an account, most recently used first.
    package func sessions(of name: UserName) async throws -> [DeviceRow]? {
        guard let known = try await self.account(named: name) else { return nil }
        return try await self.database.read { try $0.devices(of: known.account.key, limit: 1_000) }
    }

    /// Ends one session of an account, or all sessions. Returns the number of ended sessions.
    package func endSessions(of name: UserName, device: DeviceID?) async throws -> Int? {
        guard let known = try await self.account(named: name) else { return nil }
        let ended = try await self.database.write { storage -> [DeviceRow] in
            let all = try storage.devices(of: known.account.key, limit: 10_000)
            let ended = all.filter { row in device.map { $0.number == row.key.rawValue } ?? true }
            try storage.commit { changes, _ in changes.credentials.removedDevices = ended.map(\.key) }
            return ended
        }
        self.ended(ended)
        return ended.count
    }

    /// Invalidates an invitation to create an account.
    package func revoke(_ invitation: InvitationRow) async throws {
        var row = invitation
        row.usesLeft = 0
        let removed = row
        try await self.database.write { storage in try storage.commit { changes, _ in changes.credentials.invitations = [removed] } }
    }
}
