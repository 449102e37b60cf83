import ApusChatStorage

/// The versions of the database schema.
///
/// Each step runs in one transaction. A released step is never changed; a later step changes its
/// result. `Tests/ApusChatStorageTests/Fixtures` contains a database of each version.
enum ChatSchema {
    /// The steps. Step `i` migrates from version `i` to version `i + 1`.
    static let steps = [
        SchemaStep1.script, SchemaStep2.script, SchemaStep3.script, SchemaStep4.script, SchemaStep5.script, SchemaStep6.script,
        SchemaStep7.script, SchemaStep8.script, SchemaStep9.script, SchemaStep10.script, SchemaStep11.script,
    ]

    /// The version of the schema that this program writes.
    static var version: Int64 { Int64(self.steps.count) }

    /// Migrates a database to the current version.
    ///
    /// - Throws: `newerSchema` if a later version of the program wrote the database.
    static func migrate(_ connection: SQLiteConnection) throws(StorageError) {
        try connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY) STRICT")
        let found = try self.foundVersion(connection)
        guard found <= self.version else {
            throw StorageError(
                .newerSchema,
                message:
                    "the database has schema \(found); this program supports at most \(self.version); use the version of the program that wrote it, or a later one"
            )
        }
        for (index, step) in self.steps.enumerated().dropFirst(Int(found)) {
            do throws(StorageError) {
                try connection.execute("BEGIN IMMEDIATE")
                try connection.execute(step)
                try connection.execute("INSERT INTO schema_version (version) VALUES (\(index + 1))")
                try connection.execute("COMMIT")
            } catch {
                connection.rollback()
                throw error
            }
        }
    }

    static func foundVersion(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.prepare("SELECT max(version) FROM schema_version").number()
    }
}
