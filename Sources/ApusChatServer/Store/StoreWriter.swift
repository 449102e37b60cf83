import ApusChatProtocol
import Foundation
import GRDB
import Logging

/// The one thread that writes: requests queue up, and what has queued while a commit ran goes into the next transaction together.
///
/// One `fsync` then serves many requests ("group commit"): under load a batch grows by itself, and alone a request waits for nobody.
/// Each job runs in a savepoint, so that a refused one takes nothing of its neighbours with it. Completions are called on the writer's thread,
/// in the order of the jobs and only after `COMMIT` has returned: whatever they acknowledge is on the disk (rules 1 and 5).
///
/// Hazard 23: a commit that fails completes its whole batch with `storage` and is not tried again. After an I/O error the state of the
/// file's pages is unknown, so that nothing is written any more until the process is started anew; reads go on.
final class StoreWriter: @unchecked Sendable {  // every mutable property is guarded by `condition`; `database` does its own locking
    struct Configuration: Sendable {
        /// Most jobs of one transaction. Default 256: bounds how long the first of a batch waits for its ack.
        var maximumBatch = 256
        /// Most jobs that wait. Default 16,384; above it a job is refused with `storage` at once.
        var maximumPending = 16_384
    }

    /// Runs in a savepoint; answers what to call after the commit.
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
    /// What a test puts in the place of `COMMIT`, to see what happens when it fails.
    private let commit: @Sendable (Database) throws -> Void
    private let didCommit: @Sendable () -> Void

    /// - Parameter didCommit: Called after each commit that succeeded, before the completions.
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

    /// Starts the thread. Jobs submitted before wait for it.
    func start() {
        let thread = Thread { self.loop() }
        thread.name = "apus.chat.writer"
        thread.start()
    }

    /// Queues a job. Never waits. Exactly one of its two closures' ends is called.
    func submit(_ job: Job) {
        let refusal: ChatError? = self.condition.withLock {
            if self.isStopped { return ChatError(.storage, message: "the server is stopping; send again later, with the same id") }
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

    /// Takes no more jobs, commits what is queued, and returns when the thread has ended.
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

    /// One transaction. Internal, so that a test can call it without the thread.
    func perform(_ batch: [Job]) {
        if self.condition.withLock({ self.isReadOnly }) {
            for job in batch { job.failed(Self.readOnlyError) }
            return
        }
        // One entry for each job that ran: what to call when the commit has returned.
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
                    completions.append { job.failed(error) }  // refused, not broken: the savepoint is gone, the others stay
                } catch let error as DatabaseError where db.isInsideTransaction && !Self.isFatal(error) {
                    self.logger.error(
                        "A write was refused by the database", metadata: ["sqlite.code": "\(error.extendedResultCode.rawValue)"])
                    completions.append { job.failed(ChatError(.internal, message: "the server could not carry this out")) }
                }
            }
            try self.commit(db)
        } catch {
            // SQLite may have rolled back already (disk full, I/O error).
            if db.isInsideTransaction { try? db.rollback() }
            throw error
        }
        return completions
    }

    private func failed(_ batch: [Job], _ error: any Error) {
        let code = (error as? DatabaseError)?.resultCode
        if code == .SQLITE_IOERR || code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB {
            self.condition.withLock { self.isReadOnly = true }
            self.logger.critical(
                "The database failed; nothing is written until the server is started anew", metadata: ["error": "\(error)"])
        } else {
            self.logger.error("A commit failed", metadata: ["error": "\(error)", "chat.batch": "\(batch.count)"])
        }
        let answer = ChatError(.storage, message: "the server could not store this; send again later, with the same id")
        for job in batch { job.failed(answer) }
    }

    private static let readOnlyError = ChatError(.storage, message: "the server's disk failed; it only reads at the moment")

    /// Errors after which the whole transaction is in doubt.
    private static func isFatal(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_NOMEM, .SQLITE_CANTOPEN, .SQLITE_READONLY: return true
        default: return false
        }
    }
}
