import ApusChatProtocol
import GRDB

extension ChatStore {
    /// The position of a conversation's cursor, for its machine.
    struct Position: Sendable, Hashable {
        var cursor: Int64
        var head: Int64
        var isPrimed: Bool
    }

    /// Stores heads and the time of a `sync` in one transaction, so that a crash cannot store one
    /// without the other.
    func save(heads: [ChatHead], synchronizedAt at: Int64? = nil) throws(ChatClientError) {
        try self.write { database in
            for head in heads { try Self.save(head, database) }
            if let at { try Self.setLastSync(at, database) }
        }
    }

    static func save(_ head: ChatHead, _ database: Database) throws {
        // Raises `read` to the position that `unread` implies, which includes the member's floor
        // (docs/chat-rules.md, 3). Counters never decrease. A position beyond the last message
        // would hide later messages.
        let (floor, overflow) = head.n.subtractingReportingOverflow(head.unread)
        let read = min(max(head.read, overflow ? 0 : floor), head.n)
        try database.execute(
            sql: """
                INSERT INTO conversation (id, kind, title, head_seq, head_n, read_n, read_sent, min_seq, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET kind = excluded.kind, title = excluded.title,
                    head_seq = max(head_seq, excluded.head_seq), head_n = max(head_n, excluded.head_n),
                    read_n = max(read_n, excluded.read_n), read_sent = max(read_sent, excluded.read_sent),
                    min_seq = max(min_seq, excluded.min_seq), updated_at = max(updated_at, excluded.updated_at)
                """,
            arguments: [head.conv.rawValue, head.kind.rawValue, head.title, head.seq, head.n, read, head.read, head.minSeq, head.updatedAt])
        var known: [String: Int64] = [:]
        for row in try Row.fetchAll(
            database, sql: "SELECT user, read_n FROM member WHERE conversation = ?", arguments: [head.conv.rawValue])
        {
            known[row["user"]] = row["read_n"]
        }
        try database.execute(sql: "DELETE FROM member WHERE conversation = ?", arguments: [head.conv.rawValue])
        for member in head.members {
            try database.execute(
                sql: "INSERT OR REPLACE INTO member VALUES (?, ?, ?, ?)",
                arguments: [
                    head.conv.rawValue, member.user.rawValue, member.role.rawValue, max(member.read, known[member.user.rawValue] ?? 0),
                ])
        }
    }

    /// Returns the position of a conversation; `nil` when it is unknown.
    func position(of conversation: ConversationID) throws(ChatClientError) -> Position? {
        try self.read { database in
            try Row.fetchOne(
                database, sql: "SELECT cursor, head_seq, primed FROM conversation WHERE id = ?", arguments: [conversation.rawValue]
            ).map { Position(cursor: $0["cursor"], head: $0["head_seq"], isPrimed: $0["primed"]) }
        }
    }

    /// Returns the conversations in descending order of their last change.
    func conversationIDs() throws(ChatClientError) -> [ConversationID] {
        try self.read { database in
            try String.fetchAll(database, sql: "SELECT id FROM conversation ORDER BY updated_at DESC, id").compactMap(ConversationID.init)
        }
    }

    /// Returns the stored properties of a conversation.
    func conversation(_ id: ConversationID, of me: UserID) throws(ChatClientError) -> ChatConversationInfo? {
        try self.read { database in
            guard let row = try Row.fetchOne(database, sql: "SELECT * FROM conversation WHERE id = ?", arguments: [id.rawValue]) else {
                return nil
            }
            let members = try Row.fetchAll(
                database, sql: "SELECT user, role, read_n FROM member WHERE conversation = ? ORDER BY user", arguments: [id.rawValue]
            ).compactMap { row -> ChatMember? in
                guard let user = UserID(row["user"] as String) else { return nil }
                return ChatMember(user: user, role: .init(rawValue: row["role"]), read: row["read_n"])
            }
            var info = ChatConversationInfo(
                id: id, kind: .init(rawValue: row["kind"]), title: row["title"], members: members, name: "", lastSeq: row["head_seq"],
                lastNumber: row["head_n"], read: row["read_n"], updatedAt: row["updated_at"])
            info.name = try Self.name(of: info, for: me, database)
            info.last = try Self.events(
                "conversation = ? ORDER BY seq DESC LIMIT 1", [id.rawValue], database
            ).first.map { Self.message($0, of: me, readByOthers: info.readByOthers(than: me)) }
            return info
        }
    }

    private static func name(of info: ChatConversationInfo, for me: UserID, _ database: Database) throws -> String {
        if let title = info.title, !title.isEmpty { return title }
        let others = info.members.map(\.user).filter { $0 != me }
        let names = try others.map { user in
            try String.fetchOne(database, sql: "SELECT display FROM user WHERE id = ?", arguments: [user.rawValue]) ?? user.rawValue
        }
        return names.isEmpty ? info.id.rawValue : names.joined(separator: ", ")
    }

    // MARK: Reading

    /// Raises the read position of a user. The own position remains unconfirmed until
    /// ``confirmRead(_:in:)``.
    func setRead(_ read: Int64, by user: UserID, in conversation: ConversationID, isMine: Bool) throws(ChatClientError) {
        try self.write { database in
            try database.execute(
                sql: "UPDATE member SET read_n = max(read_n, ?) WHERE conversation = ? AND user = ?",
                arguments: [read, conversation.rawValue, user.rawValue])
            guard isMine else { return }
            // A position beyond the last message would hide later messages.
            try database.execute(
                sql: "UPDATE conversation SET read_n = max(read_n, min(?, head_n)) WHERE id = ?", arguments: [read, conversation.rawValue])
        }
    }

    /// Stores the own position that the server confirmed.
    func confirmRead(_ read: Int64, in conversation: ConversationID) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE conversation SET read_sent = max(read_sent, ?), read_n = max(read_n, min(?, head_n)) WHERE id = ?",
                arguments: [read, read, conversation.rawValue])
        }
    }

    /// Returns the own positions that the server has not confirmed.
    func unsentReads() throws(ChatClientError) -> [(conversation: ConversationID, read: Int64)] {
        try self.read { database in
            try Row.fetchAll(database, sql: "SELECT id, read_n FROM conversation WHERE read_n > read_sent").compactMap { row in
                ConversationID(row["id"] as String).map { ($0, row["read_n"]) }
            }
        }
    }

    // MARK: Users

    /// Stores names.
    func save(users: [ChatUser]) throws(ChatClientError) {
        try self.write { database in
            for user in users {
                try database.execute(
                    sql: "INSERT INTO user VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, display = excluded.display",
                    arguments: [user.id.rawValue, user.name, user.display])
            }
        }
    }

    /// Returns all known users as offline, because presence is not stored.
    func users() throws(ChatClientError) -> [ChatUser] {
        try self.read { database in
            try Row.fetchAll(database, sql: "SELECT id, name, display FROM user ORDER BY name").compactMap { row in
                UserID(row["id"] as String).map { ChatUser(id: $0, name: row["name"], display: row["display"]) }
            }
        }
    }
}
