import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers

// Sessions of clients that never renew their token. A legacy session expires when its device was
// not used for the `sessionLifetime` of the configuration.
extension Accounts {
    /// The minimum time between two updates of the time at which a device was last used, in
    /// milliseconds.
    private static let noteInterval: Int64 = 3_600_000

    /// Returns the legacy token of the device of a session; nil if the access token of the answer
    /// is not valid. The routes and events of `LegacyServer` accept the token.
    package func legacyToken(of answer: SessionAnswer) -> String? {
        self.tokens.access(answer.access).map { self.tokens.legacy($0.user, $0.device) }
    }

    /// Returns the session of a legacy token, and updates the time of its last use.
    ///
    /// - Throws: `unauthorized` if the token is not valid, was not used for the lifetime of a
    ///   session, or belongs to a session that has ended.
    package func session(legacy token: String) async throws -> AccountSession {
        guard let (user, device) = self.tokens.legacy(token) else { throw ChatError.noSession }
        if case .ended = self.cache.withLockedValue({ $0.find(device) }) { throw ChatError.noSession }
        let known = try await self.database.read { reads in
            try (device: reads.device(device), isActive: reads.accounts([user]).first?.state == .active)
        }
        guard let row = known.device, row.user == user, known.isActive else { throw ChatError.noSession }
        let now = self.clock.now()
        // After a jump of the clock, ages are not evaluated.
        guard !self.clock.isTrusted() || row.seenAt > now - self.configuration.sessionLifetime else {
            try await self.database.write { storage in try storage.commit { changes, _ in changes.credentials.removedDevices = [device] } }
            self.ended([row])
            throw ChatError.noSession
        }
        if row.seenAt <= now - Self.noteInterval {
            try await self.database.write { storage in
                guard var row = try storage.device(device) else { return }
                row.seenAt = now
                let changed = row
                try storage.commit { changes, _ in changes.credentials.devices = [changed] }
            }
        }
        if case .ended = self.cache.withLockedValue({ $0.find(device) }) { throw ChatError.noSession }
        return AccountSession(user: user, device: device, expiresAt: now + self.configuration.sessionLifetime)
    }

    /// Returns the secret part of the permanent path of a file.
    package func tag(of blob: BlobID) -> String { self.tokens.tag(of: blob) }
}
