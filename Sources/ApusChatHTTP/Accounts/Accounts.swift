import ApusChatCore
import ApusChatProtocol
package import ApusChatStorage
import NIOConcurrencyHelpers

/// Creates accounts and manages their sessions.
///
/// The answer for an unknown user is the same as for a wrong password and takes the same time.
package final class Accounts: Sendable {
    package let database: any AccountDatabase
    let configuration: AccountsConfiguration
    let clock: AccountsClock
    let tokens: SessionTokens
    let passwords: PasswordThreads
    let journal: RevocationJournal
    let cache = NIOLockedValueBox(SessionCache())
    private let budget: NIOLockedValueBox<RateBudget>
    /// Closes the connections of ended devices.
    private let onEnd: NIOLockedValueBox<@Sendable ([DeviceKey]) -> Void>
    /// Tells the other devices of a user.
    private let onChange: NIOLockedValueBox<@Sendable ([SessionChange]) -> Void>

    /// - Parameters:
    ///   - folder: The data folder, which the caller has locked.
    ///   - key: The secret of the server. Default: that of the folder.
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

    /// Ends the password threads.
    package func close() { self.passwords.close() }

    /// Sets what closes the connections of ended devices.
    package func onEnd(_ body: @escaping @Sendable ([DeviceKey]) -> Void) { self.onEnd.withLockedValue { $0 = body } }

    /// Sets what tells the other devices of a user that a session began or ended.
    package func onChange(_ body: @escaping @Sendable ([SessionChange]) -> Void) { self.onChange.withLockedValue { $0 = body } }

    /// Notes ended devices, closes their connections, and tells the other devices of their users.
    func ended(_ devices: [DeviceRow]) {
        self.ended(devices.map(\.key))
        if !devices.isEmpty { self.onChange.withLockedValue { $0 }(devices.map { SessionChange(device: $0, isAdded: false) }) }
    }

    /// Notes ended devices and closes their connections.
    func ended(_ devices: [DeviceKey]) {
        guard !devices.isEmpty else { return }
        self.cache.withLockedValue { $0.end(devices) }
        self.onEnd.withLockedValue { $0 }(devices)
    }

    /// Tells the other devices of a user that a session began.
    func began(_ device: DeviceRow) { self.onChange.withLockedValue { $0 }([SessionChange(device: device, isAdded: true)]) }

    /// Charges an action to its owners.
    ///
    /// - Throws: `too_many` if one of them has no budget left.
    func charge(_ action: RateAction, to keys: [RateKey]) throws(ChatError) {
        let time = self.clock.elapsed()
        guard case .refused(let wait) = self.budget.withLockedValue({ $0.charge(action, to: keys, at: time) }) else { return }
        throw ChatError(.tooMany, message: "Too many attempts. Try again later.", retryAfter: wait)
    }

    /// Forgets budgets that are full again. Called from time to time.
    package func sweepBudgets() {
        let time = self.clock.elapsed()
        self.budget.withLockedValue { $0.sweep(at: time) }
    }

    /// Writes to the database the sessions that ended without it. Called from time to time.
    package func settleEndedSessions() async throws {
        let devices = self.journal.devices
        guard !devices.isEmpty else { return }
        let journal = self.journal
        try await self.database.write { storage in
            try storage.commit { changes, _ in changes.credentials.removedDevices = devices }
            // A session that ended since then keeps its note.
            if journal.devices.count == devices.count { try journal.removeAll() }
        }
    }
}

/// A session that began or ended.
package struct SessionChange: Sendable {
    package var device: DeviceRow
    package var isAdded: Bool
}

/// A user that may be signed in.
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
    static let noSession = ChatError(.unauthorized, message: "The session has ended. Sign in again.")
    static let passwordRefused = ChatError(.forbidden, message: "The password is wrong.", field: "password")
}
