import ApusChatStorage
import GRDBSQLite

/// A prepared statement. Like every class of this target, it is confined to the thread of its
/// connection.
///
/// GRDB boxes each value and checks the thread at each step. A batch of messages binds about ten
/// thousand values, so this target calls SQLite directly.
final class SQLiteStatement {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(self.handle) }

    // MARK: Parameters, counted from 1

    // If a bind fails (out of memory, or a text of 1 GB), the parameter remains NULL, which a NOT
    // NULL column refuses.

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(self.handle, index, value) }

    func bind(_ index: Int32, _ value: Bool) { sqlite3_bind_int64(self.handle, index, value ? 1 : 0) }

    func bindNull(_ index: Int32) { sqlite3_bind_null(self.handle, index) }

    /// Binds a number, or NULL for 0.
    func bind(_ index: Int32, nonZero value: Int64) {
        if value == 0 { self.bindNull(index) } else { self.bind(index, value) }
    }

    func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            // The address of an empty buffer can be nil, which would bind NULL.
            let start = bytes.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
            if let start, !bytes.isEmpty {
                sqlite3_bind_text(self.handle, index, start, Int32(clamping: bytes.count), Self.transient)
            } else {
                sqlite3_bind_text(self.handle, index, "", 0, Self.transient)
            }
        }
    }

    /// Binds a text, or NULL for an empty one.
    func bind(_ index: Int32, nonEmpty text: String) {
        if text.isEmpty { self.bindNull(index) } else { self.bind(index, text) }
    }

    func bind(_ index: Int32, bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(self.handle, index, bytes.baseAddress, Int32(clamping: bytes.count), Self.transient)
    }

    /// Binds numbers to the parameters, beginning with the first.
    @discardableResult
    func with(_ values: Int64...) -> Self {
        for (index, value) in values.enumerated() { self.bind(Int32(index) + 1, value) }
        return self
    }

    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Execution

    /// Moves to the next row. Returns false after the last row. The caller must then reset the
    /// statement.
    func step() throws(StorageError) -> Bool {
        let code = sqlite3_step(self.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw self.failure(code)
    }

    func reset() { sqlite3_reset(self.handle) }

    /// Executes a statement that returns no rows.
    func run() throws(StorageError) {
        let code = sqlite3_step(self.handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            let failure = self.failure(code)
            self.reset()
            throw failure
        }
        self.reset()
    }

    /// Calls `body` for each row. `body` must not execute the same statement.
    func each(_ body: (SQLiteStatement) -> Void) throws(StorageError) {
        defer { self.reset() }
        while try self.step() { body(self) }
    }

    /// Returns the values of all rows.
    func all<Value>(_ body: (SQLiteStatement) -> Value) throws(StorageError) -> [Value] {
        var values: [Value] = []
        try self.each { values.append(body($0)) }
        return values
    }

    /// Returns the value of the first row.
    func first<Value>(_ body: (SQLiteStatement) -> Value) throws(StorageError) -> Value? {
        defer { self.reset() }
        return try self.step() ? body(self) : nil
    }

    /// Returns the number in the first column of the first row, or 0.
    func number() throws(StorageError) -> Int64 { try self.first { $0.int(0) } ?? 0 }

    private func failure(_ code: Int32) -> StorageError {
        guard let database = sqlite3_db_handle(self.handle) else { return StorageError(sqlite: code, "execute a statement") }
        return StorageError(
            sqlite: sqlite3_extended_errcode(database), "execute a statement", detail: String(cString: sqlite3_errmsg(database)))
    }

    // MARK: Columns, counted from 0

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(self.handle, column) }

    /// Returns a count, the `seq` of an event, or a time in the past. A value that no
    /// version writes is clamped, so that calculations do not overflow.
    func count(_ column: Int32) -> Int64 { Self.clamped(self.int(column)) }

    /// Returns the nearest value that a count can have.
    static func clamped(_ count: Int64) -> Int64 { max(0, min(count, 1 << 53)) }

    func bool(_ column: Int32) -> Bool { self.int(column) != 0 }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.handle, column) == SQLITE_NULL }

    /// Returns the text of a column; empty for NULL.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(self.handle, column) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.handle, column))), as: UTF8.self)
    }

    /// Returns the bytes of a column, which are valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: sqlite3_column_blob(self.handle, column), count: Int(sqlite3_column_bytes(self.handle, column)))
    }
}
