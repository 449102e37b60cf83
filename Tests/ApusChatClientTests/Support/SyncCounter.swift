import GRDB
import GRDBSQLite
import NIOConcurrencyHelpers

@testable import ApusChatClient

/// Counts the syncs to disk of an open store. It replaces the methods of SQLite's open files.
final class SyncCounter {
    private struct Hook {
        /// The address of the file's own methods.
        let original: UInt
        /// The address of the methods that count.
        let counting: UInt
        var count = 0
    }

    /// The hooks by the address of the file, which is the only context of the C callback.
    private static let hooks = NIOLockedValueBox<[UInt: Hook]>([:])

    private let store: ChatStore
    private var files: [UInt] = []

    init(_ store: ChatStore) throws {
        self.store = store
        self.files = try store.read { database in
            try [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER].map { try Self.hook($0, database) }
        }
    }

    var count: Int {
        Self.hooks.withLockedValue { hooks in self.files.reduce(0) { $0 + (hooks[$1]?.count ?? 0) } }
    }

    /// Restores the methods of the files. Must be called before the store closes.
    func stop() throws {
        try self.store.read { _ in
            for file in self.files {
                guard let hook = Self.hooks.withLockedValue({ $0.removeValue(forKey: file) }) else { continue }
                UnsafeMutablePointer<sqlite3_file>(bitPattern: file)?.pointee.pMethods = UnsafePointer(bitPattern: hook.original)
                UnsafeMutablePointer<sqlite3_io_methods>(bitPattern: hook.counting)?.deallocate()
            }
        }
    }

    private struct NoFile: Error {}

    private static func hook(_ control: Int32, _ database: Database) throws -> UInt {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(database.sqliteConnection, "main", control, &file) == SQLITE_OK, let file,
            let original = file.pointee.pMethods
        else { throw NoFile() }
        let counting = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        counting.initialize(to: original.pointee)
        counting.pointee.xSync = { file, flags in SyncCounter.sync(file, flags) }
        let key = UInt(bitPattern: file)
        Self.hooks.withLockedValue { $0[key] = Hook(original: UInt(bitPattern: original), counting: UInt(bitPattern: counting)) }
        file.pointee.pMethods = UnsafePointer(counting)
        return key
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        let key = UInt(bitPattern: file)
        let original = Self.hooks.withLockedValue { hooks in
            hooks[key]?.count += 1
            return hooks[key]?.original
        }
        let methods = original.flatMap { UnsafePointer<sqlite3_io_methods>(bitPattern: $0) }
        return methods?.pointee.xSync?(file, flags) ?? SQLITE_IOERR
    }
}
