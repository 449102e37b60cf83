import ApusChatProtocol
package import ApusChatStorage

/// Writes the search index of a folder. At most one object may exist for each folder.
package final class SearchIndex: SearchIndexing {
    /// The maximum number of new events, and of changed ones, that one transaction indexes.
    /// Searches do not wait for the transaction.
    private static let batch: Int64 = 1_000
    /// The minimum time between two rebuilds, in milliseconds.
    package static let rebuildInterval: Int64 = 60_000

    private let folder: ChatFolder
    /// The new paths of the directories and other entries that were renamed because they had the
    /// names of the index files.
    package let moved: [String]
    private let cacheBytes: Int
    private var connection: SQLiteConnection
    /// Whether no update of the current file has succeeded.
    private var isNew = false
    /// The time of the last rebuild; nil if there was none.
    private var rebuiltAt: Int64?
    package private(set) var lastChange: Int64 = 0

    /// An event of the log in its current form, as the index reads it.
    private struct Message {
        var place: Int64
        var id: Int64
        var sender: Int64
        var at: Int64
        var kind: String
        /// Whether the event is a message with content.
        var hasContent: Bool
        /// The text of the message; nil if it has none.
        var text: String?
        /// The number of the last change of the message, in the order of all text changes.
        var change: Int64

        init(_ row: SQLiteStatement) {
            self.place = row.int(0)
            self.id = row.int(1)
            self.sender = row.int(2)
            self.at = row.int(3)
            self.kind = row.text(4)
            self.change = row.int(8)
            self.hasContent = row.bool(6) && !EventState(code: row.int(7)).isBlank
            self.text = self.hasContent ? ChatBody.searchText(kind: EventKind(rawValue: self.kind), body: row.text(5)) : nil
        }
    }

    /// Opens the index, or creates a new one if it does not match the data. Open the storage before
    /// the index, and the readers after it.
    package init(_ folder: ChatFolder, environment: SQLiteEnvironment = SQLiteEnvironment()) throws(StorageError) {
        self.folder = folder
        self.moved = try folder.clearSearchNames()
        self.cacheBytes = environment.readerCacheBytes
        self.connection = try SearchFile.open(folder, cacheBytes: environment.readerCacheBytes)
    }

    package func whenDamaged(_ report: @escaping @Sendable () -> Void) { self.folder.search.whenDamaged(report) }

    package func update(at time: Int64) throws(StorageError) -> Bool {
        if self.folder.search.isDamaged { try self.rebuild(at: time) }
        do throws(StorageError) {
            let hasMore = try self.advance()
            self.isNew = false
            return hasMore
        } catch {
            // If a new file is also damaged, the log is corrupt or the disk fails.
            guard error.code == .corrupt, !self.isNew else { throw error }
            self.folder.search.damaged(self.folder.search.generation)
            try self.rebuild(at: time)
            return true
        }
    }

    /// Replaces the file with an empty index. Readers use the old file until their next read.
    ///
    /// Throws an error if the last rebuild was less than a minute ago. Until the next rebuild, a
    /// search returns the result of an empty index.
    private func rebuild(at time: Int64) throws(StorageError) {
        if let last = self.rebuiltAt, time - last < Self.rebuildInterval {
            throw StorageError(
                .corrupt,
                message: "the new search index was also damaged, and is rebuilt in \((last + Self.rebuildInterval - time) / 1_000 + 1) s; "
                    + "the disk may be faulty")
        }
        self.rebuiltAt = time
        self.folder.removeSearchFile()
        self.connection = try SearchFile.open(self.folder, cacheBytes: self.cacheBytes)
        self.isNew = true
        self.folder.search.replaced()
    }

    private func advance() throws(StorageError) -> Bool {
        try self.connection.snapshot { () throws(StorageError) in
            let position = try self.connection.statement(SearchQuery.position).first { ($0.int(0), $0.int(1), $0.int(2)) }
            guard let (place, change, at) = position else { throw StorageError(.corrupt, message: "the search index has no position") }
            let new = try self.connection.statement(SearchQuery.newTexts).with(place, Self.batch).all(Message.init)
            let changed = try self.connection.statement(SearchQuery.changedTexts).with(change, Self.batch).all(Message.init)
            self.lastChange = change
            guard !new.isEmpty || !changed.isEmpty else { return false }
            for message in new { try self.add(message) }
            let end = new.last?.place ?? place
            // A change of a message after the current place is included when that message is
            // indexed.
            for message in changed where message.place <= place {
                try self.remove(message)
                try self.add(message)
            }
            try self.connection.statement(SearchQuery.setPosition).with(end, changed.last?.change ?? change, new.last?.at ?? at).run()
            return new.count == Self.batch || changed.count == Self.batch
        }
    }

    private func add(_ message: Message) throws(StorageError) {
        guard message.hasContent else { return }
        let terms = message.text.map { SearchText.terms(of: $0) } ?? ""
        let scope = SearchFile.scope(slot: EventPlace.slot(message.id), sender: message.sender, kind: message.kind)
        let document = try self.connection.statement(SearchQuery.addDocument).with(message.place, message.id, message.at)
        document.bind(4, terms)
        document.bind(5, scope)
        try document.run()
        try self.post(SearchQuery.addPosting, message.place, terms, scope)
    }

    private func remove(_ message: Message) throws(StorageError) {
        let found = try self.connection.statement(SearchQuery.document).with(message.place).first { ($0.text(0), $0.text(1)) }
        guard let (terms, scope) = found else { return }
        try self.post(SearchQuery.removePosting, message.place, terms, scope)
        try self.connection.statement(SearchQuery.removeDocument).with(message.place).run()
    }

    private func post(_ query: SearchQuery, _ place: Int64, _ terms: String, _ scope: String) throws(StorageError) {
        let statement = try self.connection.statement(query).with(place)
        statement.bind(2, terms)
        statement.bind(3, scope)
        try statement.run()
    }
}
