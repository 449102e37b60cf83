import GRDBSQLite

/// Collects what SQLite writes to a write-ahead log, so that a batch is one write of the operating
/// system instead of two for each page.
///
/// The object replaces the methods of the open file of the log. It writes the collected bytes
/// before the file is synced, read, measured or truncated. If `synchronous` is `FULL`, SQLite syncs
/// the file at each commit, before other connections see the batch. The sync reports a failed
/// write, and the batch fails.
final class LogWrites {
    /// The methods of the file, followed by the object.
    private struct Methods {
        var methods: sqlite3_io_methods
        let writes: Unmanaged<LogWrites>
    }

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The maximum number of collected bytes. SQLite for Unix cannot write 128 KiB or more at once.
    private static let capacity = 124 << 10

    private let original: UnsafePointer<sqlite3_io_methods>
    private let bytes = UnsafeMutableRawPointer.allocate(byteCount: LogWrites.capacity, alignment: 16)
    /// The position of the collected bytes in the file.
    private var start: Int64 = 0
    private var count = 0

    private init(_ original: UnsafePointer<sqlite3_io_methods>) { self.original = original }

    deinit { self.bytes.deallocate() }

    /// Begins to collect the writes to the log of a connection with `synchronous = FULL`.
    static func collect(in file: UnsafeMutablePointer<sqlite3_file>) {
        guard let original = file.pointee.pMethods else { return }
        let table = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
        table.initialize(to: Methods(methods: original.pointee, writes: .passRetained(LogWrites(original))))
        table.pointee.methods.xClose = { LogWrites.close($0) }
        table.pointee.methods.xWrite = { file, bytes, count, offset in
            guard let file, let bytes else { return SQLITE_IOERR }
            return LogWrites.of(file).write(bytes, Int(count), at: offset, to: file)
        }
        table.pointee.methods.xRead = { file, bytes, count, offset in
            LogWrites.flushed(file) { $0.pointee.xRead($1, bytes, count, offset) }
        }
        table.pointee.methods.xSync = { file, flags in LogWrites.flushed(file) { $0.pointee.xSync($1, flags) } }
        table.pointee.methods.xTruncate = { file, size in LogWrites.flushed(file) { $0.pointee.xTruncate($1, size) } }
        table.pointee.methods.xFileSize = { file, size in LogWrites.flushed(file) { $0.pointee.xFileSize($1, size) } }
        file.pointee.pMethods = UnsafeRawPointer(table).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    private static func of(_ file: File) -> LogWrites {
        UnsafeRawPointer(file.pointee.pMethods).assumingMemoryBound(to: Methods.self).pointee.writes.takeUnretainedValue()
    }

    /// Writes the collected bytes, and then calls a method of the file.
    private static func flushed(_ file: File?, _ method: (UnsafePointer<sqlite3_io_methods>, File) -> Int32) -> Int32 {
        guard let file else { return SQLITE_IOERR }
        let writes = self.of(file)
        let code = writes.flush(to: file)
        return code == SQLITE_OK ? method(writes.original, file) : code
    }

    /// Closes the file. The bytes that are still collected belong to no commit.
    private static func close(_ file: File?) -> Int32 {
        guard let file else { return SQLITE_OK }
        let table = UnsafeMutableRawPointer(mutating: file.pointee.pMethods).assumingMemoryBound(to: Methods.self)
        let writes = table.pointee.writes.takeRetainedValue()
        file.pointee.pMethods = writes.original
        table.deallocate()
        return writes.original.pointee.xClose(file)
    }

    private func write(_ source: UnsafeRawPointer, _ length: Int, at offset: Int64, to file: File) -> Int32 {
        if offset != self.start + Int64(self.count) || self.count + length > Self.capacity {
            let code = self.flush(to: file)
            guard code == SQLITE_OK else { return code }
        }
        guard length <= Self.capacity else { return self.original.pointee.xWrite(file, source, Int32(length), offset) }
        if self.count == 0 { self.start = offset }
        (self.bytes + self.count).copyMemory(from: source, byteCount: length)
        self.count += length
        return SQLITE_OK
    }

    private func flush(to file: File) -> Int32 {
        guard self.count > 0 else { return SQLITE_OK }
        let length = Int32(self.count)
        self.count = 0
        return self.original.pointee.xWrite(file, self.bytes, length, self.start)
    }
}
