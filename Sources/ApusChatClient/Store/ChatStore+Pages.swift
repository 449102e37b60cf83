import ApusChatCore
package import ApusChatProtocol
import GRDB

extension ChatStore {
    /// Consecutive stored rows of a conversation.
    package struct Page: Sendable {
        package var messages: [ChatMessage] = []
        /// The position before which the page contains no rows: the first row or, if the page has
        /// fewer rows than requested, the first stored event after the gap.
        var missingBefore: Int64?
        /// The gap that directly follows the rows; nil if absent, or if the limit was
        /// reached.
        var gapAfter: ClosedRange<Int64>?
    }

    /// Returns the newest rows before a position, oldest first, down to the nearest gap.
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
            var page = Page(messages: try Self.messages(events.reversed(), in: conversation, me: me, now: self.now(), database))
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

    /// Returns the oldest rows after a position, oldest first, up to the nearest gap.
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
            var page = Page(messages: try Self.messages(events, in: conversation, me: me, now: self.now(), database))
            if events.count < limit, let first, let last { page.gapAfter = max(first, seq + 1)...last }
            return page
        }
    }

    /// Returns the position of the last stored event of a log; nil if no event is stored.
    func newestSeq(of conversation: ConversationID) throws(ChatClientError) -> Int64? {
        try self.read {
            try Int64.fetchOne(
                $0.cachedStatement(sql: "SELECT max(seq) FROM event WHERE conversation = ?"), arguments: [conversation.number])
        }
    }

    /// Returns the stored rows at the given positions, in the order of the log.
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
            return try Self.messages(events, in: conversation, me: me, now: self.now(), database)
        }
    }

    /// Returns the messages of the user that the stored log of a conversation does not contain, in
    /// the order in which they were written.
    func unsent(in conversation: ConversationID) throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("conversation = ?", [conversation.number], $0) }
    }

    /// Returns the messages that the server has not stored, in the order in which they were
    /// written.
    func unsent() throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("state <> ?", [OutboxEntry.State.sent.rawValue], $0) }
    }

    /// Returns the position of the message with ordinal `n`; nil if it is not stored.
    func seq(ofMessage n: Int64, in conversation: ConversationID) throws(ChatClientError) -> Int64? {
        // A message with ordinal `n` has at least the position `n`, and few rows are between the
        // two.
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

    /// The rows of a thread: the message that began it, and its replies.
    struct Thread: Sendable {
        var messages: [ChatMessage] = []
        /// Whether the store has all events from the message that began the thread to the end of
        /// the log.
        var isComplete = false
    }

    /// Returns the stored rows of a thread in a range of positions, oldest first.
    ///
    /// - Parameters:
    ///   - root: The position of the message that began the thread.
    ///   - range: The positions.
    ///   - limit: The maximum number of rows.
    ///   - isNewest: Whether the newest rows of the range are returned instead of the oldest ones.
    func thread(
        _ root: Int64, of conversation: ConversationID, in range: Range<Int64>, limit: Int, isNewest: Bool, me: UserName
    ) throws(ChatClientError) -> Thread {
        try self.read { database in
            let order = isNewest ? "DESC" : "ASC"
            // A union of two queries, because SQLite does not use the index of threads for a
            // condition with OR.
            let events = try Self.events(
                """
                SELECT value FROM (
                    SELECT seq, value FROM event WHERE conversation = ?1 AND seq = ?2 AND shown = 1
                    UNION ALL SELECT seq, value FROM event WHERE conversation = ?1 AND thread = ?2 AND shown = 1
                ) WHERE seq >= ?3 AND seq < ?4 ORDER BY seq \(order) LIMIT ?5
                """, [conversation.number, root, range.lowerBound, range.upperBound, limit], database)
            let gaps = try Int64.fetchOne(
                database, sql: "SELECT count(*) FROM gap WHERE conversation = ? AND last >= ?", arguments: [conversation.number, root])
            let lowest = try Int64.fetchOne(
                database, sql: "SELECT min(seq) FROM event WHERE conversation = ?", arguments: [conversation.number])
            let cursor = try Int64.fetchOne(
                database, sql: "SELECT seq FROM cursor WHERE conversation = ?", arguments: [conversation.number])
            return Thread(
                messages: try Self.messages(isNewest ? events.reversed() : events, in: conversation, me: me, now: self.now(), database),
                isComplete: gaps == 0 && cursor != nil && lowest.map { $0 <= root } ?? false)
        }
    }

    private static func events(_ sql: String, _ arguments: StatementArguments, _ database: Database) throws -> [ChatEvent] {
        try String.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { try StoredText.read($0) }
    }

    /// Adds the known receipts and the user's reactions and votes to events, with two statements
    /// for a page.
    private static func messages(
        _ events: [ChatEvent], in conversation: ConversationID, me: UserName, now: Int64, _ database: Database
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
            let event = event.expired(at: now)
            let isOwn = event.sender == me && event.kind.isMessage
            let receipt = isOwn ? receipts.of(message: event.n ?? 0) : nil
            return ChatMessage(
                event: event, delivery: isOwn ? receipt?.state ?? .sent : nil, ownReactions: mine[event.seq]?.reactions ?? [],
                ownVotes: mine[event.seq]?.votes ?? [], receipts: receipt)
        }
    }

    /// Returns the receipts of the other members, in pairs and small groups that report positions;
    /// none in other conversations.
    static func receipts(in conversation: ConversationID, me: UserName, _ database: Database) throws -> Receipts {
        let text = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM head WHERE conversation = ?"), arguments: [conversation.number])
        guard let head = try text.map({ try StoredText.read($0, as: ChatHead.self) }), head.tellsReceipts else { return Receipts() }
        let rows = try Row.fetchAll(
            database.cachedStatement(sql: "SELECT read, received FROM peer WHERE conversation = ? AND user <> ?"),
            arguments: [conversation.number, me.rawValue])
        var receipts = Receipts()
        receipts.members = head.kind == .pair ? 1 : max(head.members - 1, 0)
        for row in rows {
            let read: Int64 = row["read"]
            receipts.positions.append((read, max(read, row["received"])))
        }
        return receipts
    }

    /// Replaces the stored positions of the other members.
    func save(members: [ChatMember], of conversation: ConversationID) throws(ChatClientError) {
        try self.write { database in
            let known = try String.fetchAll(
                database, sql: "SELECT user FROM peer WHERE conversation = ?", arguments: [conversation.number])
            let names = Set(members.map(\.user.name.rawValue))
            for name in known where !names.contains(name) {
                try database.execute(
                    sql: "DELETE FROM peer WHERE conversation = ? AND user = ?", arguments: [conversation.number, name])
            }
            for member in members {
                let mark = ReadMark(conversation: conversation, user: member.user.name, read: member.read, received: member.received)
                try Self.save(mark, database)
            }
        }
    }

    static func save(_ mark: ReadMark, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO peer VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET read = max(read, excluded.read), received = max(received, excluded.received)
                """
        ).execute(arguments: [mark.conversation.number, mark.user.rawValue, mark.read ?? 0, mark.received ?? 0])
    }
}

extension ChatHead {
    /// Whether members see the read positions of others: in pairs and small groups, unless the
    /// settings of the group forbid it.
    var tellsReceipts: Bool {
        switch self.kind {
        case .pair: true
        case .group: self.members <= Int64(ChatLimits.receiptMembers) && self.settings?.receipts ?? true
        default: false
        }
    }
}

/// The read and received positions of the other members.
struct Receipts {
    /// The number of other members.
    var members: Int64 = 0
    /// The positions of the members who report them. A received position is at least as high as
    /// the read position.
    var positions: [(read: Int64, received: Int64)] = []

    /// Returns the receipts of the message with ordinal `n`; nil in a conversation without
    /// receipts.
    func of(message n: Int64) -> MessageReceipts? {
        guard self.members > 0, n > 0 else { return nil }
        var receipts = MessageReceipts(members: self.members, delivered: 0, read: 0)
        for position in self.positions {
            if position.read >= n { receipts.read += 1 }
            if position.received >= n { receipts.delivered += 1 }
        }
        // The stored positions can still contain a member who has left.
        receipts.delivered = min(receipts.delivered, self.members)
        receipts.read = min(receipts.read, self.members)
        return receipts
    }
}
