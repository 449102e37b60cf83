@testable import ApusChatSQLite

/// The rows of the tables of a database as text, so that a test can compare two states.
///
/// The data epoch, which differs between databases, and the tables in which SQLite stores the index
/// of names are omitted.
struct DatabaseDump: Equatable {
    /// The sorted rows of each table.
    let tables: [String: [String]]

    init(_ connection: SQLiteConnection) throws {
        var tables: [String: [String]] = [:]
        for table in try Self.names(connection) {
            let columns = try connection.prepare("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid").all { $0.text(0) }
            let shown = columns.filter { table != "meta" || !["epoch", "place", "inode"].contains($0) }
            let text = shown.map { "'\($0)=' || quote(\($0))" }.joined(separator: " || ' ' || ")
            tables[table] = try connection.prepare("SELECT \(text) FROM \(table) ORDER BY 1").all { $0.text(0) }
        }
        self.tables = tables
    }

    /// The names of the tables, without those of SQLite.
    static func names(_ connection: SQLiteConnection) throws -> [String] {
        let sql =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'name_search%' ORDER BY 1"
        return try connection.prepare(sql).all { $0.text(0) }
    }

    subscript(table: String) -> [String] { self.tables[table] ?? [] }

    /// The rows that only one of the dumps has, for the message of a failed test.
    func difference(from other: Self) -> [String] {
        Set(self.tables.keys).union(other.tables.keys).sorted().flatMap { table in
            Set(self[table]).symmetricDifference(other[table]).sorted().map { "\(table): \($0)" }
        }
    }
}
