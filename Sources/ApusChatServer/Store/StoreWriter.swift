import ApusChatProtocol
import Foundation
import GRDB
import Logging

/// The only thread that writes. Requests that arrive during a commit are written together in the
/// next transaction.
///
/// One `fsync` thus serves many requests ("group commit"). Batches grow under load, and a single
/// request does not wait for others. Each job runs in a savepoint, so that a refused job does not
/// affect the others. Completions are called on the writer's thread, in the order of the jobs,
/// after `COMMIT` has returned. Everything that they acknowledge is durable (docs/chat-rules.md,
/// 7).
///
/// A failed commit fails its whole batch with `storage` and is not retried (docs/hazards.md, 23).
/// After an I/O error, the state of the file's pages is unknown. The writer then refuses all jobs
/// until the process restarts; reads remain possible.
final class StoreWriter: @unchecked Sendable {  // `condition` guards the mutable properties; `database` is thread-safe
    struct Configuration: Sendable {
        /// The maximum number of jobs in one transaction, which bounds the delay of the first
        /// acknowledgement. Default: 256.
        var maximumBatch = 256
        /// The maximum number of pending jobs; further jobs fail immediately with `storage`.
        /// Default: 16,384.
        var maximumPending = 16_384
    }

    /// A job: `run` is called in a savepoint and returns the completion to call after the commit;
    /// `failed` is called instead on an error.
    typealias Job = (
        run: @Sendable (Database) throws -> @Sendable () -> Void,
        failed: @Sendable (ChatError) -> Void
    )

    private let database: any DatabaseWriter
    private let configuration: Configuration
    private let logger: Logger
    private let condition = NSCondition()
    private var pending: [Job] = []
    private var isStopped = false
    private var hasEnded = false
    private var isReadOnly = false
    /// Commits a transaction. Tests replace it to make a commit fail.
    private let commit: @Sendable (Database) throws -> Void
    private let didCommit: @Sendable () -> Void

    /// - Parameter didCommit: Called after each successful commit, before the completions.
    init(
        database: any DatabaseWriter, configuration: Configuration = .init(), logger: Logger,
        commit: @escaping @Sendable (Database) throws -> Void = { try $0.commit() }, didCommit: @escaping @Sendable () -> Void = {}
    ) {
        self.database = database
        self.configuration = configuration
        self.logger = logger
        self.commit = commit
        self.didCommit = didCommit
    }

    /// Starts the thread. Jobs submitted earlier are queued.
    func start() {
        let thread = Thread { self.loop() }
        thread.name = "apus.chat.writer"
        thread.start()
    }

    /// Queues a job without blocking. Calls exactly one of its completion and its `failed` closure.
    func submit(_ job: Job) {
        let refusal: ChatError? = self.condition.withLock {
            if self.isStopped { return ChatError(.storage, message: "the server is shutting down; send again later, with the same id") }
            if self.isReadOnly { return Self.readOnlyError }
            if self.pending.count >= self.configuration.maximumPending {
                return ChatError(.storage, message: "the server is busy; send again later, with the same id")
            }
            self.pending.append(job)
            self.condition.signal()
            return nil
        }
        if let refusal { job.failed(refusal) }
    }

    /// Refuses new jobs, commits the queued ones, and returns when the thread has ended.
    func stop() {
        self.condition.lock()
        self.isStopped = true
        self.condition.broadcast()
        while !self.hasEnded { self.condition.wait() }
        self.condition.unlock()
    }

    private func loop() {
        while let batch = self.nextBatch() { self.perform(batch) }
        self.condition.withLock {
            self.hasEnded = true
            self.condition.broadcast()
        }
    }

    private func nextBatch() -> [Job]? {
        self.condition.lock()
        defer { self.condition.unlock() }
        while self.pending.isEmpty {
            if self.isStopped { return nil }
            self.condition.wait()
        }
        let count = min(self.pending.count, self.configuration.maximumBatch)
        let batch = Array(self.pending.prefix(count))
        self.pending.removeFirst(count)
        return batch
    }

    /// Runs one transaction. Internal for tests, which call it without the thread.
    func perform(_ batch: [Job]) {
        if self.condition.withLock({ self.isReadOnly }) {
            for job in batch { job.failed(Self.readOnlyError) }
            return
        }
        // One completion for each job, to call after the commit.
        var completions: [@Sendable () -> Void] = []
        completions.reserveCapacity(batch.count)
        do {
            completions = try self.database.writeWithoutTransaction { db in try self.transaction(batch, db) }
        } catch {
            self.failed(batch, error)
            return
        }
        self.didCommit()
        for completion in completions { completion() }
    }

    private func transaction(_ batch: [Job], _ db: Database) throws -> [@Sendable () -> Void] {
        try db.beginTransaction(.immediate)
        var completions: [@Sendable () -> Void] = []
        completions.reserveCapacity(batch.count)
        do {
            for job in batch {
                do {
                    var completion: (@Sendable () -> Void)?
                    try db.inSavepoint {
                        completion = try job.run(db)
                        return .commit
                    }
                    if let completion { completions.append(completion) }
                } catch let error as ChatError {
                    completions.append { job.failed(error) }  // only this savepoint is rolled back
                } catch let error as DatabaseError where db.isInsideTransaction && !Self.isFatal(error) {
                    self.logger.error(
                        "Write rejected by the database", metadata: ["sqlite.code": "\(error.extendedResultCode.rawValue)"])
                    completions.append { job.failed(ChatError(.internal, message: "the server failed to process the request")) }
                }
            }
            try self.commit(db)
        } catch {
            // SQLite may have rolled back already (full disk, I/O error).
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
        return completions
    }

    private func failed(_ batch: [Job], _ error: any Error) {
        let code = (error as? DatabaseError)?.resultCode
        if code == .SQLITE_IOERR || code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB {
            self.condition.withLock { self.isReadOnly = true }
            self.logger.critical("Database failed; read-only until restart", metadata: ["error": "\(error)"])
        } else {
            self.logger.error("Commit failed", metadata: ["error": "\(error)", "chat.batch": "\(batch.count)"])
        }
        let answer = ChatError(.storage, message: "the server could not store this; send again later, with the same id")
        for job in batch { job.failed(answer) }
    }

    private static let readOnlyError = ChatError(.storage, message: "the server's disk failed; it is read-only until a restart")

    /// Whether the state of the whole transaction is unknown after an error.
    private static func isFatal(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_READONLY: return true
        default: return false
        }
    }
}
