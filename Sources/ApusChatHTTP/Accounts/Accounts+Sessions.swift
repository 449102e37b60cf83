import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import NIOConcurrencyHelpers

/// The user and the device to which a token belongs.
package struct AccountSession: Sendable, Hashable {
    package var user: UserKey
    package var device: DeviceKey
    /// The time at which the token expires, in milliseconds since 1970.
    package var expiresAt: Int64

    package init(user: UserKey, device: DeviceKey, expiresAt: Int64) {
        self.user = user
        self.device = device
        self.expiresAt = expiresAt
    }
}

extension Accounts {
    /// The time by which the clock may be set back without ending access tokens, in milliseconds.
    private static let clockTolerance: Int64 = 60_000

    /// Returns the session of an access token.
    ///
    /// - Throws: `unauthorized` if the token is not valid or has expired, or its session was ended.
    package func session(access token: String) async throws -> AccountSession {
        let now = self.clock.now()
        // A token that was created while the clock was ahead would be valid for too long. Its
        // client renews it.
        guard let access = self.tokens.access(token), access.expiresAt > now,
            access.expiresAt <= now + self.configuration.accessLifetime + Self.clockTolerance
        else { throw ChatError.noSession }
        let device: DeviceRow
        switch self.cache.withLockedValue({ $0.find(access.device) }) {
        case .device(let found): device = found
        case .ended: throw ChatError.noSession
        case .unknown:
            guard let found = try await self.database.read({ try $0.device(access.device) }) else { throw ChatError.noSession }
            device = found
            self.cache.withLockedValue { $0.insert(found) }
            guard case .device = self.cache.withLockedValue({ $0.find(access.device) }) else { throw ChatError.noSession }
        }
        guard device.user == access.user else { throw ChatError.noSession }
        if access.generation == device.generation, !device.isConfirmed { try await self.confirm(access) }
        return AccountSession(user: access.user, device: access.device, expiresAt: access.expiresAt)
    }

    /// Records the first use of a new token. From then on, its predecessor is refused.
    private func confirm(_ access: SessionTokens.Access) async throws {
        let lifetime = self.configuration.sessionLifetime
        let row = try await self.database.write { storage -> DeviceRow? in
            guard var row = try storage.device(access.device) else { return nil }
            var family = TokenFamily(row, lifetime: lifetime)
            guard family.accessTokenUsed(generation: access.generation) else { return row }
            row.take(family)
            try storage.commit { changes, _ in changes.credentials.devices = [row] }
            return row
        }
        if let row { self.cache.withLockedValue { $0.insert(row) } }
    }

    /// Renews a session and returns its new tokens.
    package func refresh(_ request: RefreshRequest, from client: ClientOrigin) async throws -> SessionAnswer {
        guard let token = self.tokens.refresh(request.refresh) else { throw ChatError.noSession }
        try self.charge(.session, to: [.device(token.device)] + client.keys)
        let clock = self.clock
        let lifetime = self.configuration.sessionLifetime
        let outcome = try await self.database.write { storage -> (TokenFamily.RefreshAction, DeviceRow, KnownAccount)? in
            guard var row = try storage.device(token.device), let account = try Self.account(row.user, storage),
                account.account.state == .active
            else { return nil }
            var family = TokenFamily(row, lifetime: lifetime)
            let action = family.refresh(generation: token.generation, at: clock.now(), isClockTrusted: clock.isTrusted())
            switch action {
            case .rotate:
                row.take(family)
                row.seenAt = clock.now()
                row.address = client.text
                try storage.commit { changes, _ in changes.credentials.devices = [row] }
            case .revoke: try storage.commit { changes, _ in changes.credentials.removedDevices = [row.key] }
            case .repeatAnswer, .refuse: break
            }
            return (action, row, account)
        }
        guard let (action, row, account) = outcome else { throw ChatError.noSession }
        switch action {
        case .rotate, .repeatAnswer: break
        case .revoke:
            self.ended([row])
            throw ChatError.noSession
        case .refuse: throw ChatError.noSession
        }
        guard case .ended = self.cache.withLockedValue({ $0.find(row.key) }) else { return self.answer(account, row) }
        throw ChatError.noSession
    }

    /// Ends the session of a refresh or access token, even while the database cannot be written.
    package func logout(refresh: String?, session: AccountSession?, from client: ClientOrigin) async throws {
        guard let device = session?.device ?? refresh.flatMap({ self.tokens.refresh($0)?.device }) else { return }
        // Nothing is written for a device whose session was already ended.
        guard self.cache.withLockedValue({ $0.find(device) }) != .ended else { return }
        try self.charge(.session, to: [.device(device)] + client.keys)
        do {
            let row = try await self.database.write { storage -> DeviceRow? in
                let row = try storage.device(device)
                try storage.commit { changes, _ in changes.credentials.removedDevices = [device] }
                return row
            }
            self.ended(row.map { [$0] } ?? [])
        } catch {
            try self.journal.add(device)
        }
        self.ended([device])
    }

    /// Returns the sessions of a user, most recently used first, and whether the user has an
    /// authenticator.
    package func devices(of session: AccountSession) async throws -> DevicesAnswer {
        let (rows, credential) = try await self.database.read {
            (try $0.devices(of: session.user, limit: ChatLimits.devices), try $0.credential(of: session.user))
        }
        return DevicesAnswer(
            devices: rows.map {
                ChatDevice(
                    device: DeviceID(number: $0.key.rawValue), name: $0.name, platform: $0.platform, at: $0.createdAt,
                    lastSeen: $0.seenAt, address: $0.address.isEmpty ? nil : $0.address, isCurrent: $0.key == session.device)
            }, hasAuthenticator: credential?.totpState == .on)
    }

    /// Answers the verb `device.remove`.
    package func endDevices(_ request: DeviceRemoveRequest, of session: AccountSession) async throws -> ChangeAnswer {
        let own = try await self.database.read { try $0.accounts([session.user]).first?.selfConversation }
        guard let own else { throw ChatError.noSession }
        try await self.endDevices(request.device, of: session)
        return ChangeAnswer(
            conversation: ConversationID(number: own.rawValue), id: request.id, seq: nil, at: self.clock.now())
    }

    /// Ends the session of `device`, which may be the requesting device. If `device` is nil, ends
    /// the sessions of all devices except the requesting one.
    package func endDevices(_ device: DeviceID?, of session: AccountSession) async throws {
        let ended = try await self.database.write { storage -> [DeviceRow] in
            let all = try storage.devices(of: session.user, limit: 1_000)
            let ended = all.filter { row in device.map { $0.number == row.key.rawValue } ?? (row.key != session.device) }
            guard device == nil || !ended.isEmpty else {
                throw ChatError(.notFound, message: "The account has no device \(device.map(\.rawValue) ?? "").", field: "device")
            }
            try storage.commit { changes, _ in changes.credentials.removedDevices = ended.map(\.key) }
            return ended
        }
        self.ended(ended)
    }
}

extension TokenFamily {
    init(_ row: DeviceRow, lifetime: Int64) {
        self.init(
            generation: row.generation, isConfirmed: row.isConfirmed, rotatedAt: row.rotatedAt, isRevoked: false, lifetime: lifetime)
    }
}

extension DeviceRow {
    mutating func take(_ family: TokenFamily) {
        self.generation = family.generation
        self.isConfirmed = family.isConfirmed
        self.rotatedAt = family.rotatedAt
    }
}
