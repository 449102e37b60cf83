import ApusChatProtocol
import GRDB

/// The users as others see them. `online` is not the database's business and is filled in later.
enum Users {
    static func user(_ id: UserID, _ db: Database) throws -> ChatUser? {
        try Row.fetchOne(db.cachedStatement(sql: "SELECT id, name, display FROM user WHERE id = ?"), arguments: [id.rawValue]).map(
            self.user)
    }

    /// One page of the users that share a conversation with the user, ordered by name.
    ///
    /// - Parameter page: The token of the previous page; nil for the first.
    /// - Returns: The users, and the token of the next page; nil on the last page.
    static func contacts(of user: UserID, page: String? = nil, _ db: Database) throws -> (users: [ChatUser], next: String?) {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT id, name, display, folded FROM user WHERE id IN (
                        SELECT other.user FROM member mine JOIN member other ON other.conversation = mine.conversation
                        WHERE mine.user = ? AND mine.left_at IS NULL AND other.left_at IS NULL AND other.user <> mine.user
                    ) AND folded > ? ORDER BY folded
                    """), arguments: [user.rawValue, page ?? ""])
        var budget = AnswerBudget()
        var users: [ChatUser] = []
        var last: String?
        while let row = try rows.next() {
            let user = self.user(row)
            guard budget.take(user) || users.isEmpty else { return (users, last) }
            users.append(user)
            last = row["folded"]
        }
        return (users, nil)
    }

    /// Names or display names that begin with `prefix`, without telling case apart; at most 50.
    static func find(prefix: String, _ db: Database) throws -> [ChatUser] {
        let low = prefix.lowercased()
        guard low.utf8.count <= ChatLimits.displayLength * 4 else { return [] }
        // A range and not LIKE: it uses the index, and the user's % and _ mean themselves.
        let high = low + "\u{10FFFF}"
        return try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, name, display FROM user WHERE (folded >= ? AND folded < ?) OR (display_folded >= ? AND display_folded < ?)
                    ORDER BY folded LIMIT ?
                    """), arguments: [low, high, low, high, ChatLimits.users]
        ).map(self.user)
    }

    static func user(_ row: Row) -> ChatUser {
        ChatUser(id: UserID(unchecked: row["id"]), name: row["name"], display: row["display"])
    }
}
