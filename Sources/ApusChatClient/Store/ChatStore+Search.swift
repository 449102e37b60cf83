package import ApusChatProtocol
import Foundation
import GRDB

/// The words and the filter of a search in the store.
package struct StoreQuery: Sendable {
    package var text: String
    var conversation: ConversationID?
    var sender: UserName?
    var kinds: [EventKind] = []
    var from: Int64?
    var until: Int64?
    var limit = 30

    package init(
        text: String, conversation: ConversationID? = nil, sender: UserName? = nil, kinds: [EventKind] = [], from: Int64? = nil,
        until: Int64? = nil, limit: Int = 30
    ) {
        self.text = text
        self.conversation = conversation
        self.sender = sender
        self.kinds = kinds
        self.from = from
        self.until = until
        self.limit = limit
    }
}

extension ChatStore {
    /// Two characters that are appended to each indexed text. Each group of three consecutive
    /// characters is a term of the index. With the padding, each character of the text begins a
    /// term.
    private static let padding = "\u{1}\u{1}"
    /// The maximum number of terms to which a word of one or two characters is expanded.
    private static let maximumTerms = 200

    static func index(_ key: Int64, _ event: ChatEvent, _ database: Database) throws {
        guard let text = event.searchText else { return }
        try database.cachedStatement(sql: "INSERT INTO search (rowid, text) VALUES (?, ?)").execute(arguments: [key, text + self.padding])
    }

    static func unindex(_ key: Int64, _ event: ChatEvent, _ database: Database) throws {
        guard let text = event.searchText else { return }
        try database.cachedStatement(sql: "INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)")
            .execute(arguments: [key, text + self.padding])
    }

    /// Returns the messages that contain all words, newest first.
    package func search(_ query: StoreQuery) throws(ChatClientError) -> [ChatEvent] {
        // SQLite ends an expression at U+0000. Therefore, U+0000 separates words.
        let words = query.text.split { $0.isWhitespace || $0 == "\0" }.map(String.init)
        guard !words.isEmpty else { return [] }
        return try self.read { database in
            var terms: [String] = []
            for word in words {
                guard let term = try Self.term(word, database) else { return [] }
                terms.append(term)
            }
            var sql = "SELECT value FROM event WHERE key IN (SELECT rowid FROM search WHERE search MATCH ?)"
            var arguments: StatementArguments = [terms.joined(separator: " AND ")]
            func restrict(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
                guard let value else { return }
                sql += " AND " + condition
                arguments += [value]
            }
            restrict("conversation = ?", query.conversation?.number)
            restrict("sender = ?", query.sender?.rawValue)
            restrict("at >= ?", query.from)
            restrict("at <= ?", query.until)
            restrict("(expires IS NULL OR expires > ?)", self.now())
            if !query.kinds.isEmpty {
                sql += " AND kind IN (\(query.kinds.map { _ in "?" }.joined(separator: ", ")))"
                arguments += StatementArguments(query.kinds.map(\.rawValue))
            }
            sql += " ORDER BY at DESC, key DESC LIMIT ?"
            arguments += [query.limit]
            return try String.fetchAll(database, sql: sql, arguments: arguments).map { try StoredText.read($0) }
        }
    }

    /// Returns the full-text expression of one word; nil if no text contains the word.
    private static func term(_ word: String, _ database: Database) throws -> String? {
        guard word.unicodeScalars.count < 3 else { return self.quoted(word) }
        // The index contains terms of three characters. A shorter word matches all terms that begin
        // with the word.
        let start = word.lowercased()
        let terms = try String.fetchAll(
            database, sql: "SELECT term FROM term WHERE term >= ? AND term < ? LIMIT ?",
            arguments: [start, start + "\u{10FFFF}", self.maximumTerms])
        guard !terms.isEmpty else { return nil }
        return "(" + terms.map(self.quoted).joined(separator: " OR ") + ")"
    }

    private static func quoted(_ word: String) -> String { "\"" + word.replacing("\"", with: "\"\"") + "\"" }

    /// Returns the part of a text around the first occurrence of a word, on one line.
    static func snippet(_ text: String, words: [String], length: Int = 80) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard line.count > length else { return line }
        let hit = words.compactMap { line.range(of: $0, options: .caseInsensitive)?.lowerBound }.min() ?? line.startIndex
        let start = line.index(hit, offsetBy: -length / 4, limitedBy: line.startIndex) ?? line.startIndex
        let end = line.index(start, offsetBy: length, limitedBy: line.endIndex) ?? line.endIndex
        return (start > line.startIndex ? "…" : "") + line[start..<end] + (end < line.endIndex ? "…" : "")
    }

    /// Returns the ranges of all occurrences of the words in a snippet, in ascending order and
    /// without overlaps.
    static func ranges(of words: [String], in snippet: String) -> [TextRange] {
        var found: [Range<String.Index>] = []
        for word in words where !word.isEmpty {
            var start = snippet.startIndex
            while found.count < self.maximumRanges,
                let range = snippet.range(of: word, options: .caseInsensitive, range: start..<snippet.endIndex), !range.isEmpty
            {
                found.append(range)
                start = range.upperBound
            }
        }
        found.sort { $0.lowerBound < $1.lowerBound }
        var ranges: [TextRange] = []
        var end = snippet.startIndex
        for range in found where range.lowerBound >= end && ranges.count < self.maximumRanges {
            let scalars = snippet.unicodeScalars
            ranges.append(
                TextRange(
                    offset: Int64(scalars.distance(from: scalars.startIndex, to: range.lowerBound)),
                    length: Int64(scalars.distance(from: range.lowerBound, to: range.upperBound))))
            end = range.upperBound
        }
        return ranges
    }

    /// The maximum number of marked ranges of a snippet, as in the answers of the server.
    private static let maximumRanges = 20
}
