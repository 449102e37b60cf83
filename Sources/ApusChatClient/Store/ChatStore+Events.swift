import ApusChatProtocol
import ApusJSON
import GRDB

extension ChatStore {
    /// Applies events after the cursor in one transaction: the events, the gap, the cursor, the
    /// counters, and the removal of the messages that are now in the log from the outbox.
    func apply(
        _ events: [ChatEvent], gap: ClosedRange<Int64>?, cursor: Int64, in conversation: ConversationID, me: UserID
    ) throws(ChatClientError) {
        try self.write { database in
            let id = conversation.rawValue
            if let gap {
                try database.execute(sql: "INSERT OR REPLACE INTO gap VALUES (?, ?, ?)", arguments: [id, gap.lowerBound, gap.upperBound])
            }
            for event in events { try Self.insert(event, me: me, database) }
            try database.execute(
                sql: "UPDATE conversation SET cursor = max(cursor, ?), primed = 1, head_seq = max(head_seq, ?) WHERE id = ?",
                arguments: [cursor, cursor, id])
            // The log also passed over messages inside a gap.
            try database.execute(sql: "DELETE FROM outbox WHERE conversation = ? AND seq <= ?", arguments: [id, cursor])
        }
    }

    /// Inserts earlier events, either before all known events or into a gap. The cursor does not
    /// change.
    func insertEarlier(
        _ events: [ChatEvent], covering range: ClosedRange<Int64>, in conversation: ConversationID, me: UserID
    ) throws(ChatClientError) {
        try self.write { database in
            for event in events { try Self.insert(event, me: me, database) }
            let gaps = try Row.fetchAll(
                database, sql: "SELECT first, last FROM gap WHERE conversation = ? AND first <= ? AND last >= ?",
                arguments: [conversation.rawValue, range.upperBound, range.lowerBound])
            for gap in gaps {
                let first: Int64 = gap["first"]
                let last: Int64 = gap["last"]
                try database.execute(
                    sql: "DELETE FROM gap WHERE conversation = ? AND first = ?", arguments: [conversation.rawValue, first])
                if first < range.lowerBound {
                    try database.execute(
                        sql: "INSERT INTO gap VALUES (?, ?, ?)", arguments: [conversation.rawValue, first, range.lowerBound - 1])
                }
                if last > range.upperBound {
                    try database.execute(
                        sql: "INSERT INTO gap VALUES (?, ?, ?)", arguments: [conversation.rawValue, range.upperBound + 1, last])
                }
            }
        }
    }

    private static func insert(_ event: ChatEvent, me: UserID, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                event.conv.rawValue, event.seq, event.n, event.sender.rawValue, event.id.rawValue, event.at, event.kind.rawValue, event.ref,
                try event.body.jsonString(),
            ])
        if event.sender == me {
            try database.execute(sql: "DELETE FROM outbox WHERE client_id = ?", arguments: [event.id.rawValue])
        }
        guard let number = event.n else { return }
        try database.execute(
            sql: "UPDATE conversation SET head_n = max(head_n, ?), updated_at = max(updated_at, ?), read_n = max(read_n, ?) WHERE id = ?",
            // Own messages are read: the server raises the read position in the transaction of the
            // event.
            arguments: [number, event.at, event.sender == me ? number : 0, event.conv.rawValue])
        if event.sender == me {
            try database.execute(
                sql: "UPDATE conversation SET read_sent = max(read_sent, ?) WHERE id = ?", arguments: [number, event.conv.rawValue])
        }
    }

    /// Returns the newest part of a conversation's history, oldest first, followed by the outbox.
    func history(
        of conversation: ConversationID, me: UserID, before: Int64?, limit: Int
    ) throws(ChatClientError) -> [ChatHistoryItem] {
        try self.read { database in
            let id = conversation.rawValue
            let events = try Self.events(
                "conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?", [id, before ?? .max, max(0, limit)], database
            ).reversed()
            let othersRead =
                try Int64.fetchOne(
                    database, sql: "SELECT min(read_n) FROM member WHERE conversation = ? AND user <> ?", arguments: [id, me.rawValue])
                ?? 0
            let gaps = try Row.fetchAll(database, sql: "SELECT first, last FROM gap WHERE conversation = ? ORDER BY first", arguments: [id])
            var items: [ChatHistoryItem] = []
            var previous: Int64?
            for event in events {
                for gap in gaps {
                    let first: Int64 = gap["first"]
                    let last: Int64 = gap["last"]
                    // Includes a gap directly before the first event.
                    if last < event.seq, previous.map({ first > $0 }) ?? (last == event.seq - 1), first <= last {
                        items.append(.gap(first...last))
                    }
                }
                items.append(.message(Self.message(event, of: me, readByOthers: othersRead)))
                previous = event.seq
            }
            if before == nil {
                for entry in try Self.entries("conversation = ?", [id], database) {
                    items.append(.message(ChatMessage(entry: entry, sender: me)))
                }
            }
            return items
        }
    }

    /// Returns the lowest stored event and the lowest event that this user can read.
    func bounds(of conversation: ConversationID) throws(ChatClientError) -> (lowest: Int64?, floor: Int64) {
        try self.read { database in
            (
                try Int64.fetchOne(database, sql: "SELECT min(seq) FROM event WHERE conversation = ?", arguments: [conversation.rawValue]),
                try Int64.fetchOne(database, sql: "SELECT min_seq FROM conversation WHERE id = ?", arguments: [conversation.rawValue]) ?? 1
            )
        }
    }

    /// Returns the newest gap of a conversation.
    func newestGap(of conversation: ConversationID) throws(ChatClientError) -> ClosedRange<Int64>? {
        try self.read { database in
            try Row.fetchOne(
                database, sql: "SELECT first, last FROM gap WHERE conversation = ? ORDER BY first DESC LIMIT 1",
                arguments: [conversation.rawValue]
            ).flatMap { row in
                let first: Int64 = row["first"]
                let last: Int64 = row["last"]
                return first <= last ? first...last : nil
            }
        }
    }

    // MARK: Rows

    static func message(_ event: ChatEvent, of me: UserID, readByOthers: Int64) -> ChatMessage {
        guard event.sender == me, let number = event.n else { return ChatMessage(event: event, delivery: nil) }
        return ChatMessage(event: event, delivery: number <= readByOthers ? .read : .sent)
    }

    static func events(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws -> [ChatEvent] {
        try Row.fetchAll(database, sql: "SELECT * FROM event WHERE \(condition)", arguments: arguments).compactMap { row in
            guard let conversation = ConversationID(row["conversation"] as String), let sender = UserID(row["sender"] as String),
                let id = ClientID(row["client_id"] as String)
            else { return nil }
            return ChatEvent(
                conv: conversation, seq: row["seq"], n: row["n"], sender: sender, id: id, at: row["at"],
                kind: ChatEventKind(rawValue: row["kind"]), ref: row["ref"], body: try JSONValue(jsonString: row["body"] as String))
        }
    }
}
