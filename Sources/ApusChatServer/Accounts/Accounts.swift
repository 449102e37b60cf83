import ApusChatProtocol
import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOPosix

/// Registers users and manages their sessions.
///
/// The answer for an unknown user is the same as for a wrong password and takes the same time: the
/// password is compared with the hash of a random one.
final class Accounts: Sendable {
    private let store: ChatStore
    private let cost: ChatServerConfiguration.PasswordCost
    private let tokenLifetime: Int64
    private let now: @Sendable () -> Int64
    /// The hash that stands in for the password of an unknown user.
    private let dummyHash: PasswordHash
    private let throttle = NIOLockedValueBox(LoginThrottle())
    /// The threads for hashing. They are separate, so that many logins do not delay reads.
    /// ``pendingHashes`` bounds the number of pending hashes and their memory.
    private let hashers = NIOThreadPool(numberOfThreads: 2)
    private let pendingHashes = Permits(128)

    init(store: ChatStore, configuration: ChatServerConfiguration, now: @escaping @Sendable () -> Int64) throws {
        self.store = store
        self.cost = configuration.passwordCost
        self.tokenLifetime = configuration.tokenLifetime.components.seconds * 1_000
        self.now = now
        self.dummyHash = try PasswordHash(Secrets.newToken(), cost: configuration.passwordCost)
        self.hashers.start()
    }

    func register(_ request: RegisterRequest) async throws -> SessionReply {
        guard let name = UserName(request.name) else {
            throw ChatError(.badRequest, message: "the name must have 4 to 15 characters of a-z, A-Z, 0-9 and _, without _ at either end")
        }
        try Self.validate(request.password)
        let requestedDisplay = request.display?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        let display = requestedDisplay.isEmpty ? name.rawValue : requestedDisplay
        guard display.utf8.count <= ChatLimits.displayLength * 4, display.unicodeScalars.count <= ChatLimits.displayLength else {
            throw ChatError(.tooLarge, message: "the display name must have at most \(ChatLimits.displayLength) characters")
        }
        guard !ChatIdentifierRule.holdsControls(display) else {
            throw ChatError(.badRequest, message: "the display name must not contain control characters")
        }
        let cost = self.cost
        let hash = try await self.hashing { try PasswordHash(request.password, cost: cost) }
        let id = UserID(unchecked: Secrets.newID())
        let session = self.newSession(label: request.device)
        return try await self.store.write { db in
            let user = try AccountRows.insertUser(id, name: name, display: display, password: hash, at: session.now, db)
            return try session.insert(for: user, db)
        }
    }

    /// - Parameter address: The key for counting attempts; nil for clients that cannot be
    ///   distinguished (see `ClientAddress`).
    func login(_ request: LoginRequest, from address: String? = nil) async throws -> SessionReply {
        let wrong = ChatError(.badCredentials, message: "name or password is wrong")
        guard request.password.utf8.count <= ChatLimits.passwordBytes else { throw wrong }
        let name = UserName(request.name)
        let key = name?.folded ?? ""
        guard self.throttle.withLockedValue({ $0.begins(key, from: address, at: self.now()) }) else {
            throw ChatError(.tooMany, message: "too many wrong passwords; wait a minute")
        }
        let user: ChatUser?
        do {
            user = try await self.verified(name, request.password)
        } catch {
            self.throttle.withLockedValue { $0.takesBack(key, from: address) }  // the password was not checked
            throw error
        }
        guard let user else { throw wrong }
        self.throttle.withLockedValue { $0.takesBack(key, from: address) }
        let session = self.newSession(label: request.device)
        return try await self.store.write { db in try session.insert(for: user, db) }
    }

    /// Returns the user if the password is right.
    private func verified(_ name: UserName?, _ password: String) async throws -> ChatUser? {
        let found: (user: ChatUser, password: PasswordHash)?
        if let name { found = try await self.store.read { db in try AccountRows.find(name, db) } } else { found = nil }
        let hash = found?.password ?? self.dummyHash
        return try await self.hashing { hash.verifies(password) } ? found?.user : nil
    }

    /// Returns the identity of a token; nil when the token is unknown, revoked or expired.
    func identity(token: String) async throws -> AccountRows.Identity? {
        guard (1...128).contains(token.utf8.count) else { return nil }
        let now = self.now()
        return try await self.store.read { db in try AccountRows.identity(token: token, at: now, db) }
    }

    func logout(_ identity: AccountRows.Identity) async throws {
        try await self.store.write { db in try AccountRows.deleteDevice(identity.device, db) }
    }

    func close() { try? self.hashers.syncShutdownGracefully() }

    private static func validate(_ password: String) throws {
        guard password.unicodeScalars.count >= ChatLimits.passwordLength else {
            throw ChatError(.badRequest, message: "the password must have at least \(ChatLimits.passwordLength) characters")
        }
        guard password.utf8.count <= ChatLimits.passwordBytes else {
            throw ChatError(.tooLarge, message: "the password must have at most \(ChatLimits.passwordBytes) bytes")
        }
    }

    private func hashing<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        guard self.pendingHashes.take() else { throw ChatError(.tooMany, message: "too many sign-ins at the same time; try again soon") }
        defer { self.pendingHashes.giveBack() }
        return try await self.hashers.runIfActive(body)
    }

    private struct NewSession: Sendable {
        var token: String
        var device: String
        var label: String
        var now: Int64
        var expiresAt: Int64

        func insert(for user: ChatUser, _ db: Database) throws -> SessionReply {
            try AccountRows.insertDevice(
                self.device, of: user.id, label: self.label, token: self.token, at: self.now, expiresAt: self.expiresAt, db)
            return SessionReply(user: user, token: self.token, device: self.device, expires: self.expiresAt)
        }
    }

    private func newSession(label: String?) -> NewSession {
        let now = self.now()
        return NewSession(
            token: Secrets.newToken(), device: Secrets.newID(), label: String((label ?? "").prefix(100)), now: now,
            expiresAt: now + self.tokenLifetime)
    }
}
