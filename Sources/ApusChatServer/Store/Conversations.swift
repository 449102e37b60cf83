import ApusChatProtocol
import ApusJSON
import GRDB

/// Conversations and their members.
enum Conversations {
    /// The positions of a member in a conversation.
    struct Place: Sendable {
        var lastSeq: Int64
        var lastN: Int64
        var updatedAt: Int64
        var minSeq: Int64
        var floorN: Int64
        var readN: Int64

        /// Returns last_n − max(read_n, floor_n) (docs/chat-rules.md, 3).
        func unread(read: Int64) -> Int64 { max(0, self.lastN - max(read, self.floorN)) }
    }

    /// Returns the positions of a member. Every request about a conversation calls it, which checks
    /// the membership.
    /// - Throws: `not_found`, or `forbidden` if the user is not a member.
    static func place(_ conv: ConversationID, of user: UserID, _ db: Database) throws -> Place {
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT c.last_seq, c.last_n, c.updated_at, m.min_seq, m.floor_n, m.read_n, m.user, m.left_at
                        FROM conversation c LEFT JOIN member m ON m.conversation = c.id AND m.user = ? WHERE c.id = ?
                        """),
                arguments: [user.rawValue, conv.rawValue])
        else { throw ChatError(.notFound, message: "there is no such conversation") }
        guard row["user"] as String? != nil, row["left_at"] as Int64? == nil else {
            throw ChatError(.forbidden, message: "you are not a member of this conversation")
        }
        return Place(
            lastSeq: row["last_seq"], lastN: row["last_n"], updatedAt: row["updated_at"], minSeq: row["min_seq"], floorN: row["floor_n"],
            readN: row["read_n"])
    }

    /// Returns the current members.
    static func members(of conv: ConversationID, _ db: Database) throws -> [UserID] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT user FROM member WHERE conversation = ? AND left_at IS NULL ORDER BY user"),
            arguments: [conv.rawValue]
        ).map(UserID.init(unchecked:))
    }

    /// Returns the users that share a conversation with the user.
    static func contacts(of user: UserID, _ db: Database) throws -> [UserID] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT DISTINCT other.user FROM member mine JOIN member other ON other.conversation = mine.conversation
                    WHERE mine.user = ? AND mine.left_at IS NULL AND other.left_at IS NULL AND other.user <> mine.user
                    """), arguments: [user.rawValue]
        ).map(UserID.init(unchecked:))
    }

    /// The result of `open` or `create`.
    struct Made: Sendable {
        /// The head for the requesting user. The head of a new conversation is the same for all
        /// members.
        var head: ChatHead
        /// The other members to notify; empty if the conversation already existed.
        var others: [UserID]
    }

    /// Returns the pair conversation of two users, and creates it if it does not exist. Concurrent
    /// requests yield the same conversation.
    static func open(with other: UserID, by user: UserID, newID: String, at now: Int64, _ db: Database) throws -> Made {
        guard other != user else { throw ChatError(.badRequest, message: "`with` must be another user") }
        let (low, high) = user < other ? (user, other) : (other, user)
        if let id = try String.fetchOne(
            db, sql: "SELECT id FROM conversation WHERE low = ? AND high = ?", arguments: [low.rawValue, high.rawValue])
        {
            return Made(head: try self.head(ConversationID(unchecked: id), for: user, db), others: [])
        }
        try self.requireUsers([other], db)
        let conv = ConversationID(unchecked: newID)
        try db.execute(
            sql: "INSERT INTO conversation (id, kind, low, high, created_at, updated_at, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [newID, ConversationKind.pair.rawValue, low.rawValue, high.rawValue, now, now, now])
        for member in [low, high] { try self.insertMember(member, role: .member, in: conv, db) }
        return Made(head: try self.head(conv, for: user, db), others: [other])
    }

    /// Creates a group. Its log begins with two changes: the title and the members.
    static func create(_ request: CreateRequest, by user: UserID, newID: String, at now: Int64, _ db: Database) throws -> Made {
        let title = request.title
        guard !title.isEmpty, title.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            throw ChatError(.badRequest, message: "`title` must not be empty")
        }
        guard title.utf8.count <= ChatLimits.titleLength * 4, title.unicodeScalars.count <= ChatLimits.titleLength else {
            throw ChatError(.tooLarge, message: "`title` must have at most \(ChatLimits.titleLength) characters")
        }
        guard !ChatIdentifierRule.holdsControls(title) else {
            throw ChatError(.badRequest, message: "`title` must not contain control characters")
        }
        guard request.members.count < ChatLimits.members else {
            throw ChatError(.tooLarge, message: "a group must have at most \(ChatLimits.members) members")
        }
        let others = Set(request.members).subtracting([user]).sorted()
        try self.requireUsers(others, db)
        let conv = ConversationID(unchecked: newID)
        try db.execute(
            sql: "INSERT INTO conversation (id, kind, title, created_at, updated_at, touched_at) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [newID, ConversationKind.group.rawValue, title, now, now, now])
        try self.insertMember(user, role: .owner, in: conv, db)
        for member in others { try self.insertMember(member, role: .member, in: conv, db) }
        try ChatLog.change(.conversationSet, ["title": .string(title)], in: conv, by: user, id: "set-" + newID, at: now, db)
        let joined = JSONValue.array(([user] + others).map { .string($0.rawValue) })
        try ChatLog.change(.memberJoin, ["users": joined], in: conv, by: user, id: "join-" + newID, at: now, db)
        return Made(head: try self.head(conv, for: user, db), others: others)
    }

    private static func insertMember(_ user: UserID, role: ChatMember.Role, in conv: ConversationID, _ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO member (conversation, user, role, joined_seq, min_seq, floor_n, read_n) VALUES (?, ?, ?, 0, 1, 0, 0)"
        ).execute(arguments: [conv.rawValue, user.rawValue, role.rawValue])
    }

    private static func requireUsers(_ users: [UserID], _ db: Database) throws {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM user WHERE id = ?")
        for user in users where try Int.fetchOne(statement, arguments: [user.rawValue]) == nil {
            throw ChatError(.notFound, message: "there is no user \(user)")
        }
    }
}
