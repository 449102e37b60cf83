import ApusChatStorage
import Foundation

@testable import ApusChatSQLite

/// The databases of earlier versions. Each has a group with the key 7, of the users 1 (ann, the
/// owner) and 2 (bob).
enum Fixture {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// Opens the database of a version, which migrates it.
    ///
    /// - Parameter prepare: Adds rows before the migration.
    static func open(_ version: Int64, in folder: TemporaryFolder, prepare: (SQLiteConnection) throws -> Void = { _ in }) throws
        -> SQLiteStorage
    {
        let script = try String(contentsOf: Self.folder.appendingPathComponent("schema-\(version).sql"), encoding: .utf8)
        do {
            let lock = try ChatFolder(folder.path)
            try lock.createDatabase()
            let connection = try SQLiteConnection(path: lock.databasePath, isReader: false, cacheBytes: 1 << 20)
            try connection.execute(script)
            try prepare(connection)
        }
        return try folder.open()
    }
}
