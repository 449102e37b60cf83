import ApusChatProtocol
import GRDB

extension Conversations {
    /// One page of heads.
    struct HeadsPage: Sendable {
        var heads: [ChatHead]
        /// The position of the next page; nil on the last page.
        var next: HeadsPosition?
    }

    /// Returns the head of a conversation for a member.
    static func head(_ conv: ConversationID, for user: UserID, _ db: Database) throws -> ChatHead {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: self.headRows("c.id = ?")), arguments: [user.rawValue, conv.rawValue])
        guard let row else { throw ChatError(.forbidden, message: "you are not a member of this conversation") }
        return try self.head(row, for: user, db)
    }

    /// Returns one page of the conversations that changed at or after `since`; nil selects all.
    static func heads(
        since: Int64?, from position: HeadsPosition = .newest, for user: UserID, _ db: Database
    ) throws -> HeadsPage {
        let rows: RowCursor
        switch position {
        case .newest:
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: self.headRows("c.touched_at >= ? ORDER BY c.updated_at DESC, c.id")),
                arguments: [user.rawValue, since ?? 0])
        case .all(let after):
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: self.headRows("c.touched_at >= ? AND mine.conversation > ? ORDER BY mine.conversation")),
                arguments: [user.rawValue, since ?? 0, after?.rawValue ?? ""])
        }
        var budget = AnswerBudget()
        var heads: [ChatHead] = []
        while let row = try rows.next() {
            let head = try self.head(row, for: user, db)
            // At least one head, so that every page makes progress.
            guard budget.take(head) || heads.isEmpty else {
                switch position {
                case .newest: return HeadsPage(heads: heads, next: .all(after: nil))
                case .all: return HeadsPage(heads: heads, next: .all(after: heads.last?.conv))
                }
            }
            heads.append(head)
        }
        return HeadsPage(heads: heads, next: nil)
    }

    private static func headRows(_ condition: String) -> String {
        """
        SELECT c.id, c.kind, c.title, c.last_seq, c.last_n, c.updated_at, mine.read_n, mine.min_seq, mine.floor_n
        FROM member mine JOIN conversation c ON c.id = mine.conversation WHERE mine.user = ? AND mine.left_at IS NULL AND \(condition)
        """
    }

    /// Builds a head. Reads the members and the last event by primary key.
    private static func head(_ row: Row, for user: UserID, _ db: Database) throws -> ChatHead {
        let conv = ConversationID(unchecked: row["id"])
        let place = Place(
            lastSeq: row["last_seq"], lastN: row["last_n"], updatedAt: row["updated_at"], minSeq: row["min_seq"], floorN: row["floor_n"],
            readN: row["read_n"])
        let last = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(EventRow.columns) FROM event WHERE conversation = ? AND seq = ?"),
            arguments: [conv.rawValue, place.lastSeq])
        let (members, count) = try self.someMembers(of: conv, with: user, db)
        return ChatHead(
            conv: conv, kind: ConversationKind(rawValue: row["kind"]), title: row["title"], members: members, memberCount: count,
            seq: place.lastSeq, n: place.lastN, read: place.readN, unread: place.unread(read: place.readN), minSeq: place.minSeq,
            updatedAt: place.updatedAt, last: try last.map(EventRow.event))
    }

    /// Returns at most `ChatLimits.members` members, including `user`, and the number of members if
    /// there are more.
    private static func someMembers(
        of conv: ConversationID, with user: UserID, _ db: Database
    ) throws -> (members: [ChatMember], count: Int64?) {
        let columns = "SELECT user, role, read_n FROM member WHERE conversation = ? AND left_at IS NULL"
        func member(_ row: Row) -> ChatMember {
            ChatMember(user: UserID(unchecked: row["user"]), role: ChatMember.Role(rawValue: row["role"]), read: row["read_n"])
        }
        var members = try Row.fetchAll(
            db.cachedStatement(sql: "\(columns) ORDER BY user LIMIT ?"), arguments: [conv.rawValue, ChatLimits.members + 1]
        ).map(member)
        guard members.count > ChatLimits.members else { return (members, nil) }
        members.removeLast()
        if !members.contains(where: { $0.user == user }),
            let own = try Row.fetchOne(db.cachedStatement(sql: "\(columns) AND user = ?"), arguments: [conv.rawValue, user.rawValue])
        {
            members[members.count - 1] = member(own)
        }
        let count = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM member WHERE conversation = ? AND left_at IS NULL"), arguments: [conv.rawValue])
        return (members, count)
    }
}
