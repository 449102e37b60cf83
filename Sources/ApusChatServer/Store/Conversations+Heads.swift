import ApusChatProtocol
import GRDB

extension Conversations {
    /// One conversation as a member sees it.
    static func head(_ conv: ConversationID, for user: UserID, _ db: Database) throws -> ChatHead {
        guard let head = try self.heads(where: "AND c.id = ?", [conv.rawValue], for: user, db).first else {
            throw ChatError(.forbidden, message: "you are not a member of this conversation")
        }
        return head
    }

    /// The conversations that changed at or after `since`, the newest first; nil: all.
    static func heads(since: Int64?, for user: UserID, _ db: Database) throws -> [ChatHead] {
        try self.heads(where: "AND c.touched_at >= ?", [since ?? 0], for: user, db)
    }

    /// Three queries however many conversations there are: the rows, all their members, all their last events.
    private static func heads(
        where condition: String, _ arguments: [any DatabaseValueConvertible], for user: UserID, _ db: Database
    ) throws -> [ChatHead] {
        let mine = "FROM member mine JOIN conversation c ON c.id = mine.conversation"
        let filter = "WHERE mine.user = ? AND mine.left_at IS NULL \(condition)"
        let values = StatementArguments([user.rawValue as any DatabaseValueConvertible] + arguments)

        var members: [String: [ChatMember]] = [:]
        let memberRows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT m.conversation, m.user, m.role, m.read_n \(mine) JOIN member m ON m.conversation = c.id
                    \(filter) AND m.left_at IS NULL ORDER BY m.conversation, m.user
                    """), arguments: values)
        while let row = try memberRows.next() {
            members[row["conversation"], default: []].append(
                ChatMember(user: UserID(unchecked: row["user"]), role: ChatMember.Role(rawValue: row["role"]), read: row["read_n"]))
        }

        var last: [String: ChatEvent] = [:]
        let columns = EventRow.columns.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
        let eventRows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(columns) \(mine) JOIN event e ON e.conversation = c.id AND e.seq = c.last_seq \(filter)"),
            arguments: values)
        while let row = try eventRows.next() { last[row["conversation"]] = try EventRow.event(row) }

        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT c.id, c.kind, c.title, c.last_seq, c.last_n, c.updated_at, mine.read_n, mine.min_seq, mine.floor_n \(mine)
                    \(filter) ORDER BY c.updated_at DESC, c.id
                    """), arguments: values)
        return rows.map { row in
            let id: String = row["id"]
            let place = Place(
                lastSeq: row["last_seq"], lastN: row["last_n"], updatedAt: row["updated_at"], minSeq: row["min_seq"],
                floorN: row["floor_n"],
                readN: row["read_n"])
            return ChatHead(
                conv: ConversationID(unchecked: id), kind: ConversationKind(rawValue: row["kind"]), title: row["title"],
                members: members[id] ?? [],
                seq: place.lastSeq, n: place.lastN, read: place.readN, unread: place.unread(read: place.readN), minSeq: place.minSeq,
                updatedAt: place.updatedAt, last: last[id])
        }
    }
}
