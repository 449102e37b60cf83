import ApusChatProtocol
package import ApusChatStorage
import GRDBSQLite

/// The storage on disk: one SQLite database in WAL mode, written by one thread.
///
/// A committed batch survives a loss of power. After a failed write or sync the storage refuses all
/// batches until `recover` succeeds: what reached the disk is then unknown.
package final class SQLiteStorage: SQLiteReads, MaintainedStorage {
    let environment: SQLiteEnvironment
    var hot: HotRows
    /// The number of the last committed batch.
    private(set) var lastCommit: Int64 = 0
    /// The slot of the next new conversation.
    var nextSlot: Int64 = 1
    private var isInBatch = false
    private let folder: ChatFolder
    /// The failure after which the storage only reads, if there was one.
    package private(set) var failure: StorageError?

    /// Opens the database of a folder, creates it if there is none, and brings it to the current
    /// schema.
    package override init(_ folder: ChatFolder, environment: SQLiteEnvironment = SQLiteEnvironment()) throws(StorageError) {
        self.environment = environment
        self.folder = folder
        self.hot = HotRows(capacity: environment.hotRows)
        try folder.createDatabase()
        super.init(try SQLiteConnection(path: folder.databasePath, isReader: false, cacheBytes: environment.writerCacheBytes))
        try ChatSchema.migrate(self.connection)
        try DataEpoch.settle(self.connection, in: folder, makeToken: environment.makeToken)
        try self.start()
    }

    deinit { DataEpoch.note(commit: self.lastCommit, in: self.folder) }

    private func start() throws(StorageError) {
        if !self.environment.syncsCommits { try self.connection.execute("PRAGMA synchronous = OFF") }
        self.lastCommit = try self.connection.statement(TransactionQuery.position).first { $0.int(1) } ?? 0
        self.nextSlot = try self.connection.prepare("SELECT max(slot) FROM conversation").number() + 1
    }

    package func begin(_ needs: Needs) throws(StorageError) -> Facts {
        guard !self.isInBatch else { throw StorageError(.misuse, message: "A batch was begun before and not ended.") }
        if let failure = self.failure { throw failure }
        self.hot.age()
        self.isInBatch = true
        do throws(StorageError) {
            try self.connection.statement(TransactionQuery.beginWriting).run()
            return try self.facts(needs)
        } catch {
            self.fail(error)
            throw error
        }
    }

    package func commit(_ changes: Changes) throws(StorageError) -> CommitStamp {
        guard self.isInBatch else { throw StorageError(.misuse, message: "No batch was begun.") }
        guard !changes.isEmpty else {
            self.abandon()
            return CommitStamp(commit: self.lastCommit)
        }
        let number = self.lastCommit + 1
        do throws(StorageError) {
            try self.write(changes, commit: number)
            let setPosition = try self.connection.statement(TransactionQuery.setPosition)
            try setPosition.with(number).run()
            let fault = self.environment.commitFault()
            if fault != SQLITE_OK { throw StorageError(sqlite: fault, "commit the batch") }
            try self.connection.statement(TransactionQuery.commit).run()
        } catch {
            self.fail(error)
            throw error
        }
        self.isInBatch = false
        self.lastCommit = number
        if self.connection.logPages >= self.environment.largestLogPages { try? self.checkpointIfDue() }
        return CommitStamp(commit: number)
    }

    package func abandon() {
        guard self.isInBatch else { return }
        self.isInBatch = false
        self.connection.rollback()
    }

    /// Undoes a batch. Nothing of it may be acknowledged.
    private func fail(_ error: StorageError) {
        self.abandon()
        self.hot.removeAll()
        if error.code == .io || error.code == .corrupt { self.failure = error }
    }

    /// Copies the write-ahead log into the database if it is long. The writer calls this after the
    /// acks of a batch, so that they do not wait for it.
    package func checkpointIfDue() throws(StorageError) {
        guard !self.isInBatch, self.failure == nil, self.connection.logPages >= self.environment.checkpointPages else { return }
        do throws(StorageError) {
            try self.connection.checkpoint()
            DataEpoch.note(commit: self.lastCommit, in: self.folder)
        } catch {
            self.fail(error)
            throw error
        }
    }

    package func probe() throws(StorageError) {
        guard !self.isInBatch else { throw StorageError(.misuse, message: "The storage cannot be tested within a batch.") }
        self.isInBatch = true
        do throws(StorageError) {
            try self.connection.statement(TransactionQuery.beginWriting).run()
            try self.connection.statement(TransactionQuery.setPosition).with(self.lastCommit).run()
            let fault = self.environment.commitFault()
            if fault != SQLITE_OK { throw StorageError(sqlite: fault, "test the disk") }
            try self.connection.statement(TransactionQuery.commit).run()
        } catch {
            self.fail(error)
            throw error
        }
        self.isInBatch = false
    }

    /// Opens the database again after a failure and copies the whole log into it.
    ///
    /// After a failed sync the kernel may hold pages that it never wrote and no longer knows to be
    /// unwritten. The copy writes them anew to the database file, whose own sync then covers them.
    package func recover() throws(StorageError) {
        self.abandon()
        self.hot.removeAll()
        self.connection = try SQLiteConnection(
            path: self.folder.databasePath, isReader: false, cacheBytes: self.environment.writerCacheBytes)
        try self.connection.checkpoint(truncates: true)
        try self.start()
        self.failure = nil
    }

    /// Renews the data epoch, so that clients drop what they know. For restores and imports.
    package func renewEpoch() throws(StorageError) {
        try DataEpoch.renew(self.connection, in: self.folder, makeToken: self.environment.makeToken)
    }

    /// Notes that a user uploaded a blob and may refer to it.
    package func addUpload(_ need: BlobNeed) throws(StorageError) {
        guard !self.isInBatch else { throw StorageError(.misuse, message: "An upload cannot be added within a batch.") }
        try self.connection.statement(TransactionQuery.beginWriting).run()
        do throws(StorageError) {
            let blob = try self.number(of: need.blob)
            try self.connection.statement(ChangeQuery.addUpload).with(blob, need.user.rawValue).run()
            try self.connection.statement(TransactionQuery.commit).run()
        } catch {
            self.connection.rollback()
            throw error
        }
    }

    package func forgetTextChanges(before number: Int64, limit: Int) throws(StorageError) -> Int {
        guard !self.isInBatch else { throw StorageError(.misuse, message: "Changes cannot be removed within a batch.") }
        if let failure = self.failure { throw failure }
        try self.connection.statement(ChangeQuery.removeTextChanges).with(number, Int64(limit)).run()
        return Int(self.connection.changedRows)
    }

    package func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int {
        guard !self.isInBatch else { throw StorageError(.misuse, message: "Answers cannot be removed within a batch.") }
        if let failure = self.failure { throw failure }
        try self.connection.statement(ChangeQuery.removeRequests).with(time, Int64(limit)).run()
        return Int(self.connection.changedRows)
    }
}
