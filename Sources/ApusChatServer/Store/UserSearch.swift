import ApusChatProtocol
import Foundation
import GRDB

/// Finds users by parts of their names, page by page.
///
/// A page is a scan of an index with the folded names, because SQLite's full-text tables find
/// neither parts of words nor single Chinese characters.
enum UserSearch {
    /// The maximum number of words in a query; further words are ignored.
    private static let maximumWords = 8

    /// Returns a text without differences of case and width, so that `Ｗang` equals `wang`. Stored
    /// names and queries are compared in this form.
    static func folded(_ text: String) -> String { text.precomposedStringWithCompatibilityMapping.lowercased() }

    /// Returns one page of the users for a query; see `UsersRequest`.
    /// - Throws: `bad_request` when `after` is not from an earlier answer.
    static func page(_ query: String, after: String?, _ db: Database) throws -> UsersReply {
        let start = try after.map(Position.init) ?? Position(rank: -1, name: "")
        // The query is longer than any name, or contains a NUL, which no name contains and which
        // ends a text in SQLite functions.
        guard query.utf8.count <= ChatLimits.displayLength * 4, !query.contains("\0") else { return UsersReply(users: []) }
        let words = self.folded(query).split(whereSeparator: \.isWhitespace).filter { $0 != "@" }.prefix(self.maximumWords)
        guard !words.isEmpty else { return try self.allUsers(after: start, db) }
        let isAccountName = words.first?.hasPrefix("@") ?? false
        let whole = words.joined(separator: " ").dropFirst(isAccountName ? 1 : 0)

        var conditions = ["(rank > ? OR (rank = ? AND folded > ?))"]
        var arguments: StatementArguments = [String(whole), String(whole), String(whole), start.rank, start.rank, start.name]
        for word in words {
            if word.hasPrefix("@") {
                conditions.append("instr(folded, ?) > 0")
                arguments += [String(word.dropFirst())]
            } else {
                conditions.append("(instr(folded, ?) > 0 OR instr(display_folded, ?) > 0)")
                arguments += [String(word), String(word)]
            }
        }
        return try self.page(
            db.cachedStatement(
                sql: """
                    SELECT user.id, user.name, user.display, found.rank, found.folded FROM (
                        SELECT id, folded, CASE WHEN folded = ? THEN 0 WHEN instr(folded, ?) = 1 OR instr(display_folded, ?) = 1 THEN 1 ELSE 2 END
                        AS rank FROM user INDEXED BY user_search WHERE \(conditions.joined(separator: " AND "))
                        ORDER BY rank, folded LIMIT \(ChatLimits.users + 1)
                    ) found JOIN user ON user.id = found.id ORDER BY found.rank, found.folded
                    """), arguments)
    }

    /// Returns one page of all users, in the order of an index.
    private static func allUsers(after start: Position, _ db: Database) throws -> UsersReply {
        try self.page(
            db.cachedStatement(sql: "SELECT id, name, display, 0 AS rank, folded FROM user WHERE folded > ? ORDER BY folded LIMIT ?"),
            [start.name, ChatLimits.users + 1])
    }

    private static func page(_ statement: Statement, _ arguments: StatementArguments) throws -> UsersReply {
        let rows = try Row.fetchAll(statement, arguments: arguments)
        let page = rows.prefix(ChatLimits.users)
        let next = rows.count > page.count ? page.last.map { Position(rank: $0["rank"], name: $0["folded"]).text } : nil
        return UsersReply(users: page.map(Users.user), next: next)
    }

    /// The position of a user in the results; `next` and `after` on the wire.
    private struct Position {
        var rank: Int
        var name: String

        var text: String { "\(self.rank):\(self.name)" }

        init(rank: Int, name: String) {
            self.rank = rank
            self.name = name
        }

        init(_ text: String) throws {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let rank = Int(parts[0]), (0...2).contains(rank) else {
                throw ChatError(.badRequest, message: "`after` must be the `next` of an earlier answer")
            }
            self.init(rank: rank, name: String(parts[1]))
        }
    }
}
