import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The query plans of all statements of the storage. No statement reads a whole table or sorts an
/// unbounded set.
@Suite struct QueryPlanTests {
    /// The statements that sort, with the bounds of their sets.
    private static let sorting: [String: String] = [
        ListQuery.places.sql: "the conversations of one account, at most 10,000",
        ListQuery.pinnedPlaces.sql: "the pinned conversations of one account",
    ]

    /// The statements that read a whole table, with the bounds of the table.
    private static let scanning: [String: String] = [
        ChangeQuery.recentPlaces.sql: "about 600 recent events, once after the start"
    ]

    @Test(arguments: QueryGroup.allCases) func noStatementScansOrSorts(_ group: QueryGroup) throws {
        let folder = try TemporaryFolder()
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock)
        let connection = group == .search ? try SearchFile.open(lock, cacheBytes: 1 << 20) : storage.connection
        for query in group.queries {
            for step in try self.plan(of: query.sql, connection) {
                #expect(!step.hasPrefix("SCAN") || Self.isAllowedScan(step) || Self.scanning[query.sql] != nil, "\(query): \(step)")
                #expect(!step.contains("TEMP B-TREE") || Self.sorting[query.sql] != nil, "\(query): \(step)")
                #expect(!step.contains("AUTOMATIC"), "\(query): \(step)")
            }
        }
    }

    @Test func aScanIsFound() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        let steps = try self.plan(of: "SELECT * FROM event WHERE body = 'x' ORDER BY at", storage.connection)
        #expect(steps == ["SCAN event", "USE TEMP B-TREE FOR ORDER BY"])
    }

    private func plan(of sql: String, _ connection: SQLiteConnection) throws -> [String] {
        guard !["BEGIN", "COMMIT"].contains(where: sql.hasPrefix) else { return [] }
        return try connection.prepare("EXPLAIN QUERY PLAN " + sql).all { $0.text(3) }
    }

    /// SQLite reports a full-text match as a scan of the virtual table. M0 is its MATCH constraint.
    private static func isAllowedScan(_ step: String) -> Bool {
        step.contains("VIRTUAL TABLE INDEX") && step.contains(":M") || step == "SCAN CONSTANT ROW"
    }
}
