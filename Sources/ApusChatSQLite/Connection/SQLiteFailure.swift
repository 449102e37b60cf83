import ApusChatStorage
import GRDBSQLite

/// An error of SQLite, which is the cause of a `StorageError`.
package struct SQLiteFailure: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32
    package let message: String

    package var description: String { "SQLite error \(self.code): \(self.message)" }
}

extension StorageError {
    /// Translates a result code of SQLite.
    ///
    /// - Parameter action: The failed operation, such as "commit the batch".
    init(sqlite code: Int32, _ action: String, detail: String? = nil) {
        let message = detail ?? String(cString: sqlite3_errstr(code))
        let kind: Code =
            switch code & 0xFF {
            case SQLITE_FULL: .full
            // Another program, such as a backup, held the lock for longer than the busy timeout.
            case SQLITE_BUSY, SQLITE_LOCKED: .contention
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
            case SQLITE_CONSTRAINT, SQLITE_MISUSE, SQLITE_RANGE, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_ERROR: .invalidUse
            default: .io  // also SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_NOMEM: the transaction cannot be trusted
            }
        self.init(
            kind, message: "SQLite cannot \(action): \(message) (\(code))", cause: SQLiteFailure(code: code, message: message))
    }
}
