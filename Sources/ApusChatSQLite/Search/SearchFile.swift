import ApusChatStorage

/// The file `search.sqlite` beside the database. It can be rebuilt from the log at any time. The
/// file is separate from the database, so that indexing does not hold the write lock of the log.
///
/// - `document` contains the terms of each message, keyed by its place in the log. A message
///   without a text has no terms, and is found by its scope. `posting` is the full-text index of
///   `document`.
/// - `scope` contains the conversation, the sender and the kind as terms, so that a search reads no
///   other messages.
enum SearchFile {
    /// The version of the tables, and of the terms into which `SearchText` splits a text. An index
    /// of another version is rebuilt.
    static let version: Int64 = 4

    private static let script = """
        CREATE TABLE search.position (
            id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, epoch TEXT NOT NULL,
            place INTEGER NOT NULL, change INTEGER NOT NULL, at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE search.document (
            place INTEGER PRIMARY KEY, event INTEGER NOT NULL, at INTEGER NOT NULL, terms TEXT NOT NULL, scope TEXT NOT NULL
        ) STRICT;
        CREATE VIRTUAL TABLE search.posting USING fts5 (
            terms, scope, content = 'document', content_rowid = 'place', columnsize = 0, prefix = '3',
            tokenize = 'unicode61 remove_diacritics 0'
        );
        """

    /// Opens the index of a folder for writing. Creates a new index if none exists, or if the
    /// existing index is corrupt, belongs to other data or has another version.
    static func open(_ folder: ChatFolder, cacheBytes: Int) throws(StorageError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: folder.databasePath, isReader: true, cacheBytes: cacheBytes)
        let position = try connection.statement(TransactionQuery.position).first { $0.text(0) }
        guard let epoch = position else { throw StorageError(.corrupt, message: "the database has no data epoch") }
        try connection.execute("PRAGMA query_only = 0")
        if try self.attach(folder, to: connection, isWriter: true), self.isCurrent(connection, epoch) { return connection }
        try? connection.execute("DETACH search")
        try folder.replaceSearchFile()
        _ = try self.attach(folder, to: connection, isWriter: true)
        try connection.execute(self.script)
        let begin = try connection.prepare("INSERT INTO search.position VALUES (1, ?1, ?2, 0, 0, 0)")
        begin.bind(1, self.version)
        begin.bind(2, epoch)
        try begin.run()
        return connection
    }

    /// Attaches the index to a connection. Returns false if the index does not exist or is corrupt.
    static func attach(_ folder: ChatFolder, to connection: SQLiteConnection, isWriter: Bool = false) throws(StorageError) -> Bool {
        guard folder.hasSearchFile else { return false }
        let attach = try connection.prepare("ATTACH ?1 AS search")
        attach.bind(1, folder.searchPath)
        do throws(StorageError) {
            try attach.run()
            // After a power failure, the last changes of the index can be missing. They are indexed
            // again.
            if isWriter { try connection.execute("PRAGMA search.journal_mode = WAL; PRAGMA search.synchronous = NORMAL") }
        } catch {
            if error.code == .corrupt { return false }
            throw StorageError(
                error.code, message: "\(folder.searchPath) cannot be opened as the search index: \(error.message)", cause: error.cause)
        }
        return true
    }

    private static func isCurrent(_ connection: SQLiteConnection, _ epoch: String) -> Bool {
        let found = try? connection.prepare("SELECT version, epoch FROM search.position WHERE id = 1").first { ($0.int(0), $0.text(1)) }
        return found?.0 == self.version && found?.1 == epoch
    }
}

extension SearchFile {
    /// Returns the scope of a message: terms for its conversation, its sender and its kind.
    static func scope(slot: Int64, sender: Int64, kind: String) -> String {
        "\(self.conversation(slot)) \(self.sender(sender)) \(self.kind(kind))"
    }

    static func conversation(_ slot: Int64) -> String { "c\(slot)" }
    static func sender(_ user: Int64) -> String { "s\(user)" }
    /// Returns the term of a kind. Its characters are encoded in hexadecimal, because
    /// application-defined kinds can contain characters that separate terms.
    static func kind(_ kind: String) -> String { kind.utf8.reduce(into: "k") { $0 += String($1, radix: 16) } }
}
