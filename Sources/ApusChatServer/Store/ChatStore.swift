import ApusChatProtocol
import Foundation
import GRDB
import Logging
import NIOPosix

/// The database file, with one writer that commits in groups and separate threads for readers.
///
/// No operation runs on an event loop. `ChatLog`, `Conversations`, `AccountRows` and `Blobs`
/// contain the SQL. They take a `Database` and the time as arguments, so that tests need no
/// threads.
final class ChatStore: Sendable {
    private let pool: DatabasePool
    private let writer: StoreWriter
    private let readers: NIOThreadPool
    private let pendingReads: Permits
    /// The source of the times of changes.
    let clock: StoreClock

    /// Opens `chat.sqlite` in `directory`. Creates and migrates it if necessary.
    ///
    /// - Parameters:
    ///   - readerThreads: The number of threads for reads. Default: 4.
    ///   - maximumPendingReads: The maximum number of pending reads; further reads fail immediately
    ///     with `storage`. Default: 4,096.
    ///   - now: The system clock, in milliseconds since 1970.
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
            // SQLite would create a file readable by all users. The WAL inherits the permissions of
            // this one.
            try DurableFile.createPrivately(path)
            self.pool = try DatabasePool(path: path, configuration: database)
        } catch {
            throw ChatStoreError(.cannotOpen, message: "\(path): \(error)")
        }
        // GRDB opens a WAL database with NORMAL, which loses acknowledged rows at a power failure
        // (docs/chat-rules.md, 7).
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

    /// Runs `body` in the next transaction. Calls `completion` after the commit, on the writer's
    /// thread and in the order of submission.
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

    /// Runs `body` in the next transaction and returns its result after the commit.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            self.write(body) { continuation.resume(with: $0) }
        }
    }

    /// Runs `body` on a snapshot and calls `completion`, both on a reader's thread; immediately
    /// with an error if too many reads are pending.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, completion: @escaping @Sendable (Result<T, ChatError>) -> Void
    ) {
        guard self.pendingReads.take() else {
            return completion(.failure(ChatError(.storage, message: "the server is busy; try again later")))
        }
        self.readers.submit { state in
            let result: Result<T, ChatError> =
                state == .active
                ? self.result(of: body) : .failure(ChatError(.storage, message: "the server is shutting down; try again later"))
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
            return .failure(ChatError(.storage, message: "the server could not read the database; try again later"))
        }
    }

    /// Runs `body` on a snapshot and returns its result.
    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            self.read(body) { continuation.resume(with: $0) }
        }
    }

    /// Commits queued writes and closes the file. Blocks.
    func close() {
        self.writer.stop()
        try? self.readers.syncShutdownGracefully()
        try? self.pool.close()
    }
}
