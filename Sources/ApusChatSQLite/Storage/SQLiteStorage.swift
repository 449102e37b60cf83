import ApusChatProtocol
package import ApusChatStorage
import GRDBSQLite

/// The storage on disk: one SQLite database in WAL mode, to which one thread writes.
///
/// A committed batch survives a power failure. After an I/O error, and if the data is corrupt, the
/// storage refuses all batches until `recover` succeeds, because the content of the disk is
/// unknown.
package final class SQLiteStorage: SQLiteReads, MaintainedStorage {
    let environment: SQLiteEnvironment
    var hot: HotRows
    /// The number of the last committed batch.
    private(set) var lastCommit: Int64 = 0
    /// The slot of the next new conversation.
    var nextSlot: Int64 = 1
    var recentPlaces = RecentPlaces()
    /// The accounts that were deleted since the storage was opened.
    private(set) var deletedAccounts: Set<UserKey> = []
    private var isInBatch = false
    private let folder: ChatFolder
    /// The failure after which the storage refuses batches; nil if the storage accepts batches.
    package private(set) var failure: StorageError?

    /// Opens the database of a folder and migrates it to the current schema. Creates the database
    /// if it does not exist.
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

    // Records the number of the last batch for the next start. The storage is released after its
    // last commit and before its folder is unlocked. A storage that could not be opened has not
    // read the number: a lower one would hide that an older state was restored.
    deinit { if self.lastCommit > 0 { DataEpoch.note(commit: self.lastCommit, in: self.folder) } }

    private func start() throws(StorageError) {
        if self.environment.syncsCommits {
            if let file = self.connection.logFile { LogWrites.collect(in: file) }
        } else {
            try self.connection.execute("PRAGMA synchronous = OFF")
        }
        self.lastCommit = try self.connection.statement(TransactionQuery.position).first { $0.count(1) } ?? 0
        self.nextSlot = try self.connection.prepare("SELECT max(slot) FROM conversation").first { $0.count(0) + 1 } ?? 1
    }

    package func begin(_ needs: Needs) throws(StorageError) -> Facts {
        guard !self.isInBatch else {
            throw StorageError(.invalidUse, message: "`begin` was called before the previous batch was committed or abandoned")
        }
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
        guard self.isInBatch else { throw StorageError(.invalidUse, message: "`commit` was called without a batch; call `begin` first") }
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
        for account in changes.accounts where account.state == .deleted { self.deletedAccounts.insert(account.key) }
        if self.connection.logPages >= self.environment.largestLogPages { try? self.checkpointIfDue() }
        return CommitStamp(commit: number)
    }

    package func abandon() {
        guard self.isInBatch else { return }
        self.isInBatch = false
        self.connection.rollback()
    }

    /// Rolls back a batch, whose commands must not be acknowledged. Refuses further batches after
    /// an I/O error or corruption.
    private func fail(_ error: StorageError) {
        self.abandon()
        self.hot.removeAll()
        self.recentPlaces = RecentPlaces()
        if error.code == .io || error.code == .corrupt { self.failure = error }
    }

    /// Copies the write-ahead log into the database if it is long. The writer calls this after the
    /// answers of a batch are sent, so that the checkpoint does not delay them.
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
        guard !self.isInBatch else { throw StorageError(.invalidUse, message: "`probe` was called within a batch") }
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

    /// Reopens the database after a failure, and copies the whole write-ahead log into the
    /// database.
    ///
    /// After a failed sync, the kernel can cache pages that were not written but are no longer
    /// marked as dirty. The copy writes these pages to the database file, which is then synced.
    package func recover() throws(StorageError) {
        self.abandon()
        self.hot.removeAll()
        self.connection = try SQLiteConnection(
            path: self.folder.databasePath, isReader: false, cacheBytes: self.environment.writerCacheBytes)
        try self.connection.checkpoint(truncates: true)
        try self.start()
        self.failure = nil
    }

    /// Renews the data epoch, so that clients discard their caches. Called after a restore or an
    /// import.
    package func renewEpoch() throws(StorageError) {
        try DataEpoch.renew(self.connection, in: self.folder, makeToken: self.environment.makeToken)
    }

    /// Records that a user uploaded a blob and may refer to it.
    package func addUpload(_ need: BlobNeed) throws(StorageError) {
        try self.writeOutsideOfBatch("addUpload") { () throws(StorageError) in
            try self.connection.statement(TransactionQuery.beginWriting).run()
            let blob = try self.number(of: need.blob)
            try self.connection.statement(ChangeQuery.addUpload).with(blob, need.user.rawValue).run()
            try self.connection.statement(TransactionQuery.commit).run()
        }
    }

    package func forgetTextChanges(before number: Int64, limit: Int) throws(StorageError) -> Int {
        try self.writeOutsideOfBatch("forgetTextChanges") { () throws(StorageError) in
            try self.connection.statement(ChangeQuery.removeTextChanges).with(number, Int64(limit)).run()
            return Int(self.connection.changedRows)
        }
    }

    package func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int {
        try self.writeOutsideOfBatch("forgetRequests") { () throws(StorageError) in
            try self.connection.statement(ChangeQuery.removeRequests).with(time, Int64(limit)).run()
            return Int(self.connection.changedRows)
        }
    }

    /// Performs a write that belongs to no batch. Like a failed batch, a failed write is rolled
    /// back, and the storage refuses batches after an I/O error or corruption.
    ///
    /// - Parameter method: The name of the calling method.
    func writeOutsideOfBatch<Value>(_ method: String, _ body: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        guard !self.isInBatch else { throw StorageError(.invalidUse, message: "`\(method)` was called within a batch") }
        if let failure = self.failure { throw failure }
        do throws(StorageError) { return try body() } catch {
            self.connection.rollback()
            self.fail(error)
            throw error
        }
    }
}
