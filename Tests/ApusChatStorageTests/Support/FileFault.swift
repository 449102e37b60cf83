import GRDBSQLite
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatSQLite

/// Makes calls to an open file of SQLite fail, or observes them.
///
/// The object replaces the methods of the file until the file is closed. It must be installed below
/// `LogWrites`, which replaces the methods as well.
///
/// The unchecked conformance is valid because only the table of installed objects is shared between
/// threads. Everything else is confined to the thread of the connection.
final class FileFault: @unchecked Sendable {
    enum Call: String, CaseIterable {
        case read, write, sync, truncate
    }

    private static let installed = NIOLockedValueBox<[UInt: FileFault]>([:])

    /// The calls that fail; nil for none.
    var failing: Call?
    /// The result code of the calls that fail.
    var code = SQLITE_IOERR
    /// The number of further calls that succeed before the first failure.
    var delay = 0
    /// The numbers of calls.
    private(set) var counts: [Call: Int] = [:]
    /// Called before each call to the file.
    var whenCalled: ((Call) -> Void)?

    private let original: UnsafePointer<sqlite3_io_methods>
    private let table: UnsafeMutablePointer<sqlite3_io_methods>

    init(in file: UnsafeMutablePointer<sqlite3_file>?) throws {
        let file = try #require(file)
        self.original = try #require(file.pointee.pMethods)
        self.table = .allocate(capacity: 1)
        self.table.initialize(to: self.original.pointee)
        self.table.pointee.xRead = { file, bytes, count, offset in
            FileFault.perform(.read, file) { $0.pointee.xRead($1, bytes, count, offset) }
        }
        self.table.pointee.xWrite = { file, bytes, count, offset in
            FileFault.perform(.write, file) { $0.pointee.xWrite($1, bytes, count, offset) }
        }
        self.table.pointee.xSync = { file, flags in FileFault.perform(.sync, file) { $0.pointee.xSync($1, flags) } }
        self.table.pointee.xTruncate = { file, size in FileFault.perform(.truncate, file) { $0.pointee.xTruncate($1, size) } }
        self.table.pointee.xClose = { FileFault.close($0) }
        file.pointee.pMethods = UnsafePointer(self.table)
        Self.installed.withLockedValue { $0[UInt(bitPattern: file)] = self }
    }

    deinit { self.table.deallocate() }

    private static func perform(
        _ call: Call, _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ method: (UnsafePointer<sqlite3_io_methods>, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        guard let file, let fault = self.installed.withLockedValue({ $0[UInt(bitPattern: file)] }) else { return SQLITE_MISUSE }
        fault.counts[call, default: 0] += 1
        fault.whenCalled?(call)
        if fault.failing == call {
            if fault.delay == 0 { return fault.code }
            fault.delay -= 1
        }
        return method(fault.original, file)
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file, let fault = self.installed.withLockedValue({ $0.removeValue(forKey: UInt(bitPattern: file)) }) else {
            return SQLITE_MISUSE
        }
        file.pointee.pMethods = fault.original
        return fault.original.pointee.xClose(file)
    }
}
