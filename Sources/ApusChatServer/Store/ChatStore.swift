import ApusChatProtocol
import Foundation
import GRDB
import Logging
import NIOPosix

/// The database file: one writer with group commit, and readers on threads of their own.
///
/// Nothing here runs on an event loop. The functions that know SQL are in `ChatLog`, `Conversations`, `Accounts`, `Blobs`: they take a `Database`
/// and the time, and are tested without a thread.
final class ChatStore: Sendable {
    private let pool: DatabasePool
    private let writer: StoreWriter
    private let readers: NIOThreadPool
    private let pendingReads: Permits
    /// What changes are stamped with.
    let clock: StoreClock

    /// Opens (and makes, and migrates) `chat.sqlite` in `directory`.
    ///
    /// - Parameters:
    ///   - readerThreads: Reads at the same time. Default 4.
    ///   - maximumPendingReads: Most reads that wait or run. Default 4,096; above it a read is refused with `storage` at once.
    ///   - now: The machine's clock, in milliseconds since 1970.
    init(
        directory: String, readerThreads: Int = 4, maximumPendingReads: Int = 4_096,
        writer configuration: StoreWriter.Configuration = .init(),
        logger: Logger, now: @escaping @Sendable () -> Int64
    ) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = directory + "/chat.sqlite"
        var database = Configuration()
        database.label = "chat"
        database.maximumReaderCount = readerThreads
        database.busyMode = .timeout(5)
        do {
            // SQLite would make it readable for everybody; its WAL takes after it.
            try DurableFile.createPrivately(path)
            self.pool = try DatabasePool(path: path, configuration: database)
        } catch {
            throw ChatStoreError(.cannotOpen, message: "\(path): \(error)")
        }
        // GRDB opens WAL with NORMAL, which loses acknowledged rows in a power cut (15,891 of 28,549 in the test of `chat.md`).
        try self.pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA mmap_size = 0")
        }
        try ChatSchema.migrate(self.pool)
        let last = try self.pool.read { db in try Int64.fetchOne(db, sql: "SELECT max(touched_at) FROM conversation") }
        let clock = StoreClock(last: last ?? 0, now: now)
        self.clock = clock
        self.writer = StoreWriter(database: self.pool, configuration: configuration, logger: logger, didCommit: clock.didCommit)
        self.pendingReads = Permits(maximumPendingReads)
        self.readers = NIOThreadPool(numberOfThreads: readerThreads)
        self.readers.start()
        self.writer.start()
    }

    /// Runs `body` in the next transaction and calls `completion` after the commit, on the writer's thread, in the order of the submissions.
    func write<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, completion: @escaping @Sendable (Result<T, ChatError>) -> Void
    ) {
        self.writer.submit(
            (
                run: { db in
                    let value = try body(db)
                    return { completion(.success(value)) }
                },
                failed: { completion(.failure($0)) }
            ))
    }

    /// The same for callers that can wait.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            self.write(body) { continuation.resume(with: $0) }
        }
    }

    /// Runs `body` on a snapshot, on a reader's thread, and calls `completion` there; at once when too many wait.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, completion: @escaping @Sendable (Result<T, ChatError>) -> Void
    ) {
        guard self.pendingReads.take() else {
            return completion(.failure(ChatError(.storage, message: "the server is busy; ask again later")))
        }
        self.readers.submit { state in
            let result: Result<T, ChatError> =
                state == .active
                ? self.result(of: body) : .failure(ChatError(.storage, message: "the server is stopping; ask again later"))
            self.pendingReads.giveBack()
            completion(result)
        }
    }

    private func result<T: Sendable>(of body: @Sendable (Database) throws -> T) -> Result<T, ChatError> {
        do {
            return .success(try self.pool.read(body))
        } catch let error as ChatError {
            return .failure(error)
        } catch {
            return .failure(ChatError(.storage, message: "the server could not read; ask again later"))
        }
    }

    /// The same for callers that can wait.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            self.read(body) { continuation.resume(with: $0) }
        }
    }

    /// Commits what is queued and closes. Blocks.
    func close() {
        self.writer.stop()
        try? self.readers.syncShutdownGracefully()
        try? self.pool.close()
    }
}
