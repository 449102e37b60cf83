import GRDBSQLite

@testable import ApusChatSQLite

/// Calls a closure before each statement of a connection.
final class StatementHook {
    private let connection: SQLiteConnection
    private let body: () -> Void

    init(_ connection: SQLiteConnection, _ body: @escaping () -> Void) {
        self.connection = connection
        self.body = body
        sqlite3_trace_v2(
            connection.handle, UInt32(SQLITE_TRACE_STMT),
            { _, context, _, _ in
                if let context { Unmanaged<StatementHook>.fromOpaque(context).takeUnretainedValue().body() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { sqlite3_trace_v2(self.connection.handle, 0, nil, nil) }
}
