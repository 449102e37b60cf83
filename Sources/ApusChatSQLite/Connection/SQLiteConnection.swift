import ApusChatStorage
import CSQLiteConfiguration
import GRDBSQLite

/// A connection to the database file, confined to one thread.
final class SQLiteConnection {
    /// The configuration of SQLite, which is made once.
    private static let configuration: Void = apus_sqlite_disable_memory_statistics()

    /// Not private, because the tests trace its statements.
    let handle: OpaquePointer
    private var statements: [[SQLiteStatement?]]
    /// The number of pages in the write-ahead log after the last commit of this connection; 0 after
    /// a complete checkpoint.
    private(set) var logPages: Int32 = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - isReader: Whether the connection only reads. A writer creates the file.
    ///   - cacheBytes: The maximum size of the page cache, in bytes.
    init(path: String, isReader: Bool, cacheBytes: Int) throws(StorageError) {
        Self.configuration
        var handle: OpaquePointer?
        // Only one thread uses the connection, so the mutex of SQLite is not needed.
        let access = isReader ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let failure = StorageError(sqlite: code, "open \(path)")
            sqlite3_close_v2(handle)
            throw failure
        }
        self.handle = handle
        self.statements = QueryGroup.allCases.map { [SQLiteStatement?](repeating: nil, count: $0.queries.count) }
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5_000)
        try self.execute("PRAGMA cache_size = -\(cacheBytes / 1024); PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
        if isReader { try self.execute("PRAGMA query_only = 1") } else { try self.configureWriter() }
    }

    // The object owns the handle. No commit depends on the release.
    deinit {
        self.statements = []  // finalizes them
        sqlite3_close_v2(self.handle)
    }

    private func configureWriter() throws(StorageError) {
        // `FULL` syncs the log at each commit, so that a committed batch survives a power failure.
        // `FAST` overwrites deleted content only where that needs no additional write.
        try self.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = FAST; PRAGMA foreign_keys = OFF
            """)
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            self.handle,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().logPages = pages
                return SQLITE_OK
            }, context)
    }

    /// The open file of the write-ahead log; nil if the connection has none.
    var logFile: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(self.handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        return code == SQLITE_OK && file?.pointee.pMethods != nil ? file : nil
    }

    /// Executes statements without parameters and results, separated by semicolons.
    func execute(_ script: String) throws(StorageError) {
        let code = sqlite3_exec(self.handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw self.failure(code, "execute a statement") }
    }

    /// Returns the prepared statement of a query.
    func statement<Q: Query>(_ query: Q) throws(StorageError) -> SQLiteStatement {
        let group = Q.group.rawValue
        if let statement = self.statements[group][query.rawValue] { return statement }
        let statement = try self.prepare(query.sql)
        self.statements[group][query.rawValue] = statement
        return statement
    }

    /// Prepares a statement that is not in the catalog of queries because it runs once, such as a
    /// statement of the schema or of the statistics.
    func prepare(_ sql: String) throws(StorageError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(self.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw self.failure(code, "prepare `\(sql)`") }
        return SQLiteStatement(statement)
    }

    /// Whether the open snapshot has read a damaged page. SQLite cannot commit the snapshot then.
    var hasFoundDamage = false

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(self.handle) == 0 }

    /// The number of rows that the last statement changed.
    var changedRows: Int32 { sqlite3_changes(self.handle) }

    /// The row number that the last INSERT into a table with row numbers has used.
    var insertedRow: Int64 { sqlite3_last_insert_rowid(self.handle) }

    /// Rolls back the open transaction. Errors are ignored, because SQLite has already rolled back
    /// after most failures.
    func rollback() {
        if self.isInTransaction { sqlite3_exec(self.handle, "ROLLBACK", nil, nil, nil) }
    }

    /// Copies the write-ahead log into the database file, up to the part that readers still need.
    ///
    /// - Parameter truncates: Whether to wait for readers and then empty the log.
    func checkpoint(truncates: Bool = false) throws(StorageError) {
        var logPages: Int32 = 0
        var copied: Int32 = 0
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(self.handle, nil, mode, &logPages, &copied)
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else { throw self.failure(code, "write a checkpoint") }
        // If another connection writes a checkpoint, both numbers are -1.
        if logPages == copied, copied >= 0 { self.logPages = 0 }
    }

    /// Runs reads on one consistent state of the database. Nested calls use the open transaction.
    func snapshot<Value>(_ body: () throws(StorageError) -> Value) throws(StorageError) -> Value {
        guard !self.isInTransaction else { return try body() }
        try self.statement(TransactionQuery.begin).run()
        do throws(StorageError) {
            let value = try body()
            if self.hasFoundDamage { self.rollback() } else { try self.statement(TransactionQuery.commit).run() }
            self.hasFoundDamage = false
            return value
        } catch {
            self.rollback()
            self.hasFoundDamage = false
            throw error
        }
    }

    private func failure(_ code: Int32, _ action: String) -> StorageError {
        StorageError(sqlite: sqlite3_extended_errcode(self.handle), action, detail: String(cString: sqlite3_errmsg(self.handle)))
    }
}
