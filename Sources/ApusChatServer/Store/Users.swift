import ApusChatProtocol
import GRDB

/// The users as others see them. `online` is not the database's business and is filled in later.
enum Users {
    static func user(_ id: UserID, _ db: Database) throws -> ChatUser? {
        try Row.fetchOne(db.cachedStatement(sql: "SELECT id, name, display FROM user WHERE id = ?"), arguments: [id.rawValue]).map(
            self.user)
    }

    /// Everybody who shares a conversation with the user, without the user.
    static func contacts(of user: UserID, _ db: Database) throws -> [ChatUser] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, name, display FROM user WHERE id IN (
                        SELECT other.user FROM member mine JOIN member other ON other.conversation = mine.conversation
                        WHERE mine.user = ? AND mine.left_at IS NULL AND other.left_at IS NULL AND other.user <> mine.user
                    ) ORDER BY folded
                    """), arguments: [user.rawValue]
        ).map(self.user)
    }

    static func user(_ row: Row) -> ChatUser {
        ChatUser(id: UserID(unchecked: row["id"]), name: row["name"], display: row["display"])
    }
}
