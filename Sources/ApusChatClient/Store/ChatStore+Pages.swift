package import ApusChatProtocol
import GRDB

extension ChatStore {
    /// The rows of a thread that are next to each other in the store.
    package struct Page: Sendable {
        package var messages: [ChatMessage] = []
        /// The seq below which the store has nothing next to these rows; nil if it has more.
        var missingBefore: Int64?
        /// The gap directly above these rows.
        var gapAfter: ClosedRange<Int64>?
    }

    /// Returns the newest rows below a seq, oldest first, down to the next gap.
    package func page(of conversation: ConversationID, before seq: Int64?, limit: Int, me: UserName) throws(ChatClientError) -> Page {
        try self.read { database in
            let before = seq ?? .max
            let gap = try Row.fetchOne(
                database, sql: "SELECT first, last FROM gap WHERE conversation = ? AND first < ? ORDER BY first DESC LIMIT 1",
                arguments: [conversation.number, before])
            let floor = (gap?["last"] as Int64?).map { $0 + 1 } ?? 1
            let events = try Self.events(
                """
                SELECT value FROM event WHERE conversation = ? AND shown = 1 AND seq < ? AND seq >= ? ORDER BY seq DESC LIMIT ?
                """, [conversation.number, before, floor, limit], database)
            var page = Page(messages: try Self.messages(events.reversed(), in: conversation, me: me, database))
            if events.count < limit {
                let lowest = try Int64.fetchOne(
                    database, sql: "SELECT min(seq) FROM event WHERE conversation = ? AND seq >= ?",
                    arguments: [conversation.number, floor])
                page.missingBefore = max(gap == nil ? 0 : floor, lowest ?? before)
            } else {
                page.missingBefore = events.last?.seq
            }
            return page
        }
    }

    /// Returns the oldest rows above a seq, oldest first, up to the next gap.
    func page(of conversation: ConversationID, after seq: Int64, limit: Int, me: UserName) throws(ChatClientError) -> Page {
        try self.read { database in
            let gap = try Row.fetchOne(
                database, sql: "SELECT first, last FROM gap WHERE conversation = ? AND last > ? ORDER BY first LIMIT 1",
                arguments: [conversation.number, seq])
            let first: Int64? = gap?["first"]
            let last: Int64? = gap?["last"]
            let events = try Self.events(
                "SELECT value FROM event WHERE conversation = ? AND shown = 1 AND seq > ? AND seq < ? ORDER BY seq LIMIT ?",
                [conversation.number, seq, first ?? .max, limit], database)
            var page = Page(messages: try Self.messages(events, in: conversation, me: me, database))
            if events.count < limit, let first, let last { page.gapAfter = max(first, seq + 1)...last }
            return page
        }
    }

    /// Returns the last stored place of a log; nil if nothing of it is stored.
    func newestSeq(of conversation: ConversationID) throws(ChatClientError) -> Int64? {
        try self.read {
            try Int64.fetchOne(
                $0.cachedStatement(sql: "SELECT max(seq) FROM event WHERE conversation = ?"), arguments: [conversation.number])
        }
    }

    /// Returns single rows, in the order of the log.
    func messages(_ seqs: Set<Int64>, in conversation: ConversationID, me: UserName) throws(ChatClientError) -> [ChatMessage] {
        guard !seqs.isEmpty else { return [] }
        return try self.read { database in
            var events: [ChatEvent] = []
            for seq in seqs.sorted() {
                let text = try String.fetchOne(
                    database.cachedStatement(sql: "SELECT value FROM event WHERE conversation = ? AND seq = ? AND shown = 1"),
                    arguments: [conversation.number, seq])
                if let text { events.append(try StoredText.read(text)) }
            }
            return try Self.messages(events, in: conversation, me: me, database)
        }
    }

    /// Returns the unsent messages of a conversation, in the order of writing.
    func unsent(in conversation: ConversationID) throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("conversation = ?", [conversation.number], $0) }
    }

    /// Returns the messages that the server does not have, in the order of writing.
    func unsent() throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("state <> ?", [OutboxEntry.State.sent.rawValue], $0) }
    }

    /// Returns the event of the n-th message.
    func seq(ofMessage n: Int64, in conversation: ConversationID) throws(ChatClientError) -> Int64? {
        // Messages have consecutive ordinals, so the shown rows near seq n are few.
        try self.read { database in
            let rows = try String.fetchCursor(
                database, sql: "SELECT value FROM event WHERE conversation = ? AND seq >= ? AND shown = 1 ORDER BY seq",
                arguments: [conversation.number, n])
            while let text = try rows.next() {
                let event: ChatEvent = try StoredText.read(text)
                if let found = event.n, found >= n { return found == n ? event.seq : nil }
            }
            return nil
        }
    }

    private static func events(_ sql: String, _ arguments: StatementArguments, _ database: Database) throws -> [ChatEvent] {
        try String.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { try StoredText.read($0) }
    }

    /// Adds what is known of the readers and of the own user: two statements for a page.
    private static func messages(
        _ events: [ChatEvent], in conversation: ConversationID, me: UserName, _ database: Database
    ) throws -> [ChatMessage] {
        guard let first = events.first, let last = events.last else { return [] }
        let receipts = try self.receipts(in: conversation, me: me, database)
        var mine: [Int64: HistoryAnswer.Mine] = [:]
        for text in try String.fetchAll(
            database.cachedStatement(sql: "SELECT value FROM mine WHERE conversation = ? AND seq BETWEEN ? AND ?"),
            arguments: [conversation.number, first.seq, last.seq])
        {
            let one: HistoryAnswer.Mine = try StoredText.read(text)
            mine[one.seq] = one
        }
        return events.map { event in
            let isOwn = event.sender == me && event.kind.isMessage && event.id != nil
            return ChatMessage(
                event: event, delivery: isOwn ? receipts.state(ofMessage: event.n ?? 0) : nil,
                ownReactions: mine[event.seq]?.reactions ?? [], ownVotes: mine[event.seq]?.votes ?? [])
        }
    }

    static func receipts(in conversation: ConversationID, me: UserName, _ database: Database) throws -> Receipts {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql:
                    "SELECT count(*) AS count, min(read) AS read, min(max(read, received)) AS received FROM peer WHERE conversation = ? AND user <> ?"
            ), arguments: [conversation.number, me.rawValue])
        let head = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM head WHERE conversation = ?"), arguments: [conversation.number])
        let others = try head.map { try StoredText.read($0, as: ChatHead.self) }.map { $0.kind == .pair ? 1 : max($0.members - 1, 1) } ?? 1
        guard let row, (row["count"] as Int64) >= others else { return Receipts() }
        return Receipts(read: row["read"] ?? 0, received: row["received"] ?? 0)
    }
}

/// How far all other members have read and received.
struct Receipts: Hashable, Sendable {
    var read: Int64 = 0
    var received: Int64 = 0

    func state(ofMessage n: Int64) -> DeliveryState {
        if n > 0, n <= self.read { return .read }
        return n > 0 && n <= self.received ? .delivered : .sent
    }
}
