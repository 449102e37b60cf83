import ApusChatProtocol
import GRDB

/// Reads users. The caller sets `online`, which the database does not contain.
enum Users {
    static func user(_ id: UserID, _ db: Database) throws -> ChatUser? {
        try Row.fetchOne(db.cachedStatement(sql: "SELECT id, name, display FROM user WHERE id = ?"), arguments: [id.rawValue]).map(
            self.user)
    }

    /// Returns one page of the users that share a conversation with the user, ordered by name.
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

    static func user(_ row: Row) -> ChatUser {
        ChatUser(id: UserID(unchecked: row["id"]), name: row["name"], display: row["display"])
    }
}
