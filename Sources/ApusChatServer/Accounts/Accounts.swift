import ApusChatProtocol
import Foundation
import GRDB
import NIOConcurrencyHelpers
import NIOPosix

/// Signs people up, in and out.
///
/// Unknown users get the same answer in the same time as wrong passwords: the hash is computed for them too, against a password nobody has.
final class Accounts: Sendable {
    private let store: ChatStore
    private let cost: ChatServerConfiguration.PasswordCost
    private let tokenLifetime: Int64
    private let now: @Sendable () -> Int64
    private let nobody: PasswordHash
    private let throttle = NIOLockedValueBox(LoginThrottle())
    /// Hashing has its own threads, so that a storm of logins does not stop reading; and a bound, so that it does not fill the memory.
    private let hashers = NIOThreadPool(numberOfThreads: 2)
    private let waiting = Permits(128)

    init(store: ChatStore, configuration: ChatServerConfiguration, now: @escaping @Sendable () -> Int64) throws {
        self.store = store
        self.cost = configuration.passwordCost
        self.tokenLifetime = configuration.tokenLifetime.components.seconds * 1_000
        self.now = now
        self.nobody = try PasswordHash(Secrets.newToken(), cost: configuration.passwordCost)
        self.hashers.start()
    }

    func register(_ request: RegisterRequest) async throws -> SessionReply {
        guard let name = UserName(request.name) else {
            throw ChatError(.badRequest, message: "a name is 4 to 15 of a-z A-Z 0-9 and _, with no _ at either end")
        }
        try Self.judgeNew(request.password)
        let asked = request.display?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        let display = asked.isEmpty ? name.rawValue : asked
        guard display.utf8.count <= ChatLimits.displayLength * 4, display.unicodeScalars.count <= ChatLimits.displayLength else {
            throw ChatError(.tooLarge, message: "at most \(ChatLimits.displayLength) characters of display name")
        }
        guard !ChatIdentifierRule.holdsControls(display) else {
            throw ChatError(.badRequest, message: "a display name holds no control characters")
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

    /// - Parameter address: Under what the client is counted; nil for those that cannot be told apart (`ClientAddress`).
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
            self.throttle.withLockedValue { $0.takesBack(key, from: address) }  // nothing was learnt about the password
            throw error
        }
        guard let user else { throw wrong }
        self.throttle.withLockedValue { $0.takesBack(key, from: address) }
        let session = self.newSession(label: request.device)
        return try await self.store.write { db in try session.insert(for: user, db) }
    }

    /// The user whose password this is.
    private func verified(_ name: UserName?, _ password: String) async throws -> ChatUser? {
        let found: (user: ChatUser, password: PasswordHash)?
        if let name { found = try await self.store.read { db in try AccountRows.find(name, db) } } else { found = nil }
        let hash = found?.password ?? self.nobody
        return try await self.hashing { hash.verifies(password) } ? found?.user : nil
    }

    /// Who a token stands for; nil when it is unknown, revoked or its time is over.
    func identity(token: String) async throws -> AccountRows.Identity? {
        guard (1...128).contains(token.utf8.count) else { return nil }
        let now = self.now()
        return try await self.store.read { db in try AccountRows.identity(token: token, at: now, db) }
    }

    func logout(_ identity: AccountRows.Identity) async throws {
        try await self.store.write { db in try AccountRows.deleteDevice(identity.device, db) }
    }

    func close() { try? self.hashers.syncShutdownGracefully() }

    private static func judgeNew(_ password: String) throws {
        guard password.unicodeScalars.count >= ChatLimits.passwordLength else {
            throw ChatError(.badRequest, message: "a password has at least \(ChatLimits.passwordLength) characters")
        }
        guard password.utf8.count <= ChatLimits.passwordBytes else {
            throw ChatError(.tooLarge, message: "at most \(ChatLimits.passwordBytes) bytes of password")
        }
    }

    private func hashing<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        guard self.waiting.take() else { throw ChatError(.tooMany, message: "too many people sign in at the moment; try again soon") }
        defer { self.waiting.giveBack() }
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
