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

    /// Opens (and makes, and migrates) `chat.sqlite` in `directory`.
    init(directory: String, readerThreads: Int = 4, writer configuration: StoreWriter.Configuration = .init(), logger: Logger) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = directory + "/chat.sqlite"
        var database = Configuration()
        database.label = "chat"
        database.maximumReaderCount = readerThreads
        database.busyMode = .timeout(5)
        do {
            self.pool = try DatabasePool(path: path, configuration: database)
        } catch {
            throw ChatStoreError(.cannotOpen, message: "\(path): \(error)")
        }
        // GRDB opens WAL with NORMAL, which loses acknowledged rows in a power cut (15,891 of 28,549 in the test of `chat.md`).
        try self.pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA mmap_size = 0")
        }
        try ChatSchema.migrate(self.pool)
        self.writer = StoreWriter(database: self.pool, configuration: configuration, logger: logger)
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

    /// Runs `body` on a snapshot, on a reader's thread, and calls `completion` there.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T, completion: @escaping @Sendable (Result<T, ChatError>) -> Void
    ) {
        self.readers.submit { state in
            guard state == .active else {
                completion(.failure(ChatError(.storage, message: "the server is stopping; ask again later")))
                return
            }
            do {
                completion(.success(try self.pool.read(body)))
            } catch let error as ChatError {
                completion(.failure(error))
            } catch {
                completion(.failure(ChatError(.storage, message: "the server could not read; ask again later")))
            }
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
