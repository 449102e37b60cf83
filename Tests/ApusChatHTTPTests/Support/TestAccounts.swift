import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusPasswords
import Foundation
import NIOConcurrencyHelpers

@testable import ApusChatHTTP

/// Accounts in memory, with a clock that only the test advances, and cheap password hashes.
final class TestAccounts: Sendable {
    let folder: String
    let accounts: Accounts
    let database: FaultyDatabase
    let time = NIOLockedValueBox<Int64>(1_700_000_000_000)
    let isClockTrusted = NIOLockedValueBox(true)
    let ended = NIOLockedValueBox<[DeviceKey]>([])
    static let device = HelloDevice(name: "Test", platform: "linux")
    let client = ClientOrigin(IPAddress("192.0.2.1"))

    init(_ configure: (inout AccountsConfiguration) -> Void = { _ in }) throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-http-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        self.database = FaultyDatabase(DatabaseThread { MemoryStorage() })
        self.accounts = try Self.accounts(self.database, self.folder, self.time, self.isClockTrusted, configure)
        let ended = self.ended
        self.accounts.onEnd { devices in ended.withLockedValue { $0 += devices } }
    }

    deinit {
        self.accounts.close()
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    static func accounts(
        _ database: any AccountDatabase, _ folder: String, _ time: NIOLockedValueBox<Int64>,
        _ isTrusted: NIOLockedValueBox<Bool> = NIOLockedValueBox(true), _ configure: (inout AccountsConfiguration) -> Void = { _ in }
    ) throws -> Accounts {
        var configuration = AccountsConfiguration()
        configuration.passwordCost = ScryptHash.Cost(logRounds: 1)
        configure(&configuration)
        let now: @Sendable () -> Int64 = { time.withLockedValue { $0 } }
        return try Accounts(
            database: database, folder: folder, configuration: configuration,
            clock: AccountsClock(now: now, elapsed: now, isTrusted: { isTrusted.withLockedValue { $0 } }))
    }

    func wait(_ milliseconds: Int64) { self.time.withLockedValue { $0 += milliseconds } }

    @discardableResult
    func register(_ name: String, password: String = "correct horse", from client: ClientOrigin? = nil) async throws -> SessionAnswer {
        try await self.accounts.register(
            RegisterRequest(name: UserName(prepared: name), password: password, device: Self.device), from: client ?? self.client)
    }

    func login(
        _ name: String, password: String = "correct horse", code: String? = nil, known: String? = nil, from client: ClientOrigin? = nil
    ) async throws -> SessionAnswer {
        try await self.accounts.login(
            LoginRequest(name: UserName(prepared: name), password: password, code: code, known: known, device: Self.device),
            from: client ?? self.client)
    }

    func refresh(_ token: String) async throws -> SessionAnswer {
        try await self.accounts.refresh(RefreshRequest(refresh: token), from: self.client)
    }

    func code(of body: () async throws -> Void) async throws -> ChatError? {
        do {
            try await body()
            return nil
        } catch let error as ChatError {
            return error
        }
    }
}

/// A database whose writes fail as on a full disk while `isFull` is set.
final class FaultyDatabase: AccountDatabase {
    private let base: DatabaseThread
    let isFull = NIOLockedValueBox(false)

    init(_ base: DatabaseThread) { self.base = base }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await self.base.read(body)
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        if self.isFull.withLockedValue({ $0 }) { throw StorageError(.full, message: "the disk is full") }
        return try await self.base.write(body)
    }
}
