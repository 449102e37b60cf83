package import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import NIOConcurrencyHelpers

/// Creates accounts and manages their sessions.
///
/// A sign-in with an unknown name receives the same answer as a sign-in with a wrong password,
/// after the same time.
package final class Accounts: Sendable {
    package let database: any AccountDatabase
    let configuration: AccountsConfiguration
    let clock: AccountsClock
    let tokens: SessionTokens
    let passwords: PasswordThreads
    let journal: RevocationJournal
    let cache = NIOLockedValueBox(SessionCache())
    private let budget: NIOLockedValueBox<RateBudget>
    /// Closes the connections of devices whose session has ended.
    private let onEnd: NIOLockedValueBox<@Sendable ([DeviceKey]) -> Void>
    /// Notifies the other devices of a user of a sign-in or sign-out.
    private let onChange: NIOLockedValueBox<@Sendable ([SessionChange]) -> Void>

    /// - Parameters:
    ///   - folder: The data folder, which the caller has locked.
    ///   - key: The secret of the server. Default: the secret in the file `chat.key` of the folder.
    package init(
        database: any AccountDatabase, folder: String, key: [UInt8]? = nil, configuration: AccountsConfiguration, clock: AccountsClock
    ) throws {
        self.database = database
        self.configuration = configuration
        self.clock = clock
        self.tokens = SessionTokens(key: try key ?? ServerKey.load(from: folder))
        self.passwords = try PasswordThreads(cost: configuration.passwordCost)
        self.journal = try RevocationJournal(in: folder)
        self.budget = .init(RateBudget(rules: configuration.hasLimits ? .standard : .off))
        self.onEnd = .init { _ in }
        self.onChange = .init { _ in }
        self.cache.withLockedValue { $0.end(self.journal.devices) }
    }

    /// Ends the threads that hash passwords.
    package func close() { self.passwords.close() }

    /// Sets the closure that closes the connections of devices whose session has ended.
    package func onEnd(_ body: @escaping @Sendable ([DeviceKey]) -> Void) { self.onEnd.withLockedValue { $0 = body } }

    /// Sets the closure that notifies the other devices of a user when a session began or ended.
    package func onChange(_ body: @escaping @Sendable ([SessionChange]) -> Void) { self.onChange.withLockedValue { $0 = body } }

    /// Records that sessions have ended, closes their connections, and notifies the other devices
    /// of their users.
    func ended(_ devices: [DeviceRow]) {
        self.ended(devices.map(\.key))
        if !devices.isEmpty { self.onChange.withLockedValue { $0 }(devices.map { SessionChange(device: $0, isAdded: false) }) }
    }

    /// Records that sessions have ended, and closes their connections.
    func ended(_ devices: [DeviceKey]) {
        guard !devices.isEmpty else { return }
        self.cache.withLockedValue { $0.end(devices) }
        self.onEnd.withLockedValue { $0 }(devices)
    }

    /// Notifies the other devices of a user that a session has begun.
    func began(_ device: DeviceRow) { self.onChange.withLockedValue { $0 }([SessionChange(device: device, isAdded: true)]) }

    /// Charges an action to the budgets of its owners.
    ///
    /// - Throws: `too_many` if one of the budgets is exhausted.
    package func charge(_ action: RateAction, to keys: [RateKey]) throws(ChatError) {
        let time = self.clock.elapsed()
        guard case .refused(let wait) = self.budget.withLockedValue({ $0.charge(action, to: keys, at: time) }) else { return }
        throw ChatError(.tooMany, message: "Too many requests of this kind. Try again later.", retryAfter: wait)
    }

    /// Removes budgets that are full. Called periodically.
    package func sweepBudgets() {
        let time = self.clock.elapsed()
        self.budget.withLockedValue { $0.sweep(at: time) }
    }

    /// Removes from the database the sessions that ended while it could not be written. Called
    /// periodically.
    package func settleEndedSessions() async throws {
        let devices = self.journal.devices
        guard !devices.isEmpty else { return }
        let journal = self.journal
        try await self.database.write { storage in
            try storage.commit { changes, _ in changes.credentials.removedDevices = devices }
            // If further sessions were recorded since then, the journal is kept for the next call.
            if journal.devices.count == devices.count { try journal.removeAll() }
        }
    }
}

/// A session that began or ended.
package struct SessionChange: Sendable {
    package var device: DeviceRow
    package var isAdded: Bool
}

/// An account with its credentials.
struct KnownAccount: Sendable {
    var account: AccountRow
    var credential: CredentialRow

    var user: ChatUser {
        ChatUser(
            name: self.account.name, nick: self.account.nickname.isEmpty ? nil : self.account.nickname, avatar: self.account.avatar,
            status: self.account.statusText.isEmpty ? nil : self.account.statusText)
    }
}

extension ChatError {
    static let wrongPassword = ChatError(.unauthorized, message: "The name or the password is wrong.")
    static let noSession = ChatError(.unauthorized, message: "The request has no valid session, or its session has ended. Sign in again.")
    static let passwordRefused = ChatError(.forbidden, message: "The password is wrong.", field: "password")
}
