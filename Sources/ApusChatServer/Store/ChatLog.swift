import ApusChatProtocol
import ApusJSON
import GRDB

/// The log of a conversation: sending, marking and reading.
///
/// Each function runs inside the caller's transaction and takes the time as an argument.
enum ChatLog {
    /// The result of a `send`.
    struct Sent: Sendable {
        var reply: SendReply
        /// The event to push; nil for a retry, whose original was already pushed.
        var event: ChatEvent?
        var members: [UserID]
    }

    /// Stores a message and sets the sender's read position (docs/chat-rules.md, 1). A retry with
    /// the same content returns the original answer; different content under the same id is a
    /// conflict.
    static func send(_ request: SendRequest, from user: UserID, at now: Int64, _ db: Database) throws -> Sent {
        var content = try ChatBody(kind: request.kind, body: request.body)
        if case .image(let image) = content { content = .image(try Blobs.measured(image, for: user, db)) }
        let body = try content.value.jsonString()

        if let first = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(EventRow.columns) FROM event WHERE sender = ? AND client_id = ?"),
            arguments: [user.rawValue, request.id.rawValue])
        {
            let sameConversation = first["conversation"] == request.conv.rawValue
            let sameContent = first["kind"] == request.kind.rawValue && first["body"] == body && first["ref"] as Int64? == request.ref
            guard sameConversation, sameContent, let n = first["n"] as Int64? else {
                throw ChatError(.conflict, message: "`id` was used for a different message; use a new id")
            }
            return Sent(
                reply: SendReply(conv: request.conv, id: request.id, seq: first["seq"], n: n, at: first["at"]), event: nil, members: [])
        }

        let place = try Conversations.place(request.conv, of: user, db)
        if let ref = request.ref, ref < place.minSeq || ref > place.lastSeq {
            throw ChatError(.badRequest, message: "`ref` must be the seq of an event in this conversation")
        }
        // Times never decrease within a conversation, even if the system clock does
        // (docs/chat-rules.md, 9).
        let at = max(now, place.updatedAt)
        let event = ChatEvent(
            conv: request.conv, seq: place.lastSeq + 1, n: place.lastN + 1, sender: user, id: request.id, at: at, kind: request.kind,
            ref: request.ref,
            body: content.value)
        try EventRow.insert(event, body: body, db)
        try db.cachedStatement(sql: "UPDATE conversation SET last_seq = ?, last_n = ?, updated_at = ?, touched_at = ? WHERE id = ?")
            .execute(arguments: [event.seq, event.n, at, max(at, now), request.conv.rawValue])
        try db.cachedStatement(sql: "UPDATE member SET read_n = ? WHERE conversation = ? AND user = ?")
            .execute(arguments: [event.n, request.conv.rawValue, user.rawValue])
        if case .image(let image) = content { try Blobs.refer(image.blob, from: event, db) }
        let reply = SendReply(conv: request.conv, id: request.id, seq: event.seq, n: place.lastN + 1, at: at)
        return Sent(reply: reply, event: event, members: try Conversations.members(of: request.conv, db))
    }

    /// The result of a `mark`.
    struct Marked: Sendable {
        var reply: MarkReply
        /// Whether the position changed. If not, nothing is pushed.
        var hasMoved: Bool
        var members: [UserID]
    }

    /// Raises a read position, at most to the last message.
    static func mark(_ request: MarkRequest, by user: UserID, at now: Int64, _ db: Database) throws -> Marked {
        guard request.read >= 0 else { throw ChatError(.badRequest, message: "`read` must not be negative") }
        let place = try Conversations.place(request.conv, of: user, db)
        let read = max(place.readN, min(request.read, place.lastN))
        let reply = MarkReply(conv: request.conv, read: read, unread: place.unread(read: read))
        guard read > place.readN else { return Marked(reply: reply, hasMoved: false, members: []) }
        try db.cachedStatement(sql: "UPDATE member SET read_n = ? WHERE conversation = ? AND user = ?")
            .execute(arguments: [read, request.conv.rawValue, user.rawValue])
        // Changes `touched_at`, so that other devices learn of the mark by a sync. Keeps
        // `updated_at`, so that the conversation keeps its position in the list.
        try db.cachedStatement(sql: "UPDATE conversation SET touched_at = max(touched_at, ?) WHERE id = ?")
            .execute(arguments: [now, request.conv.rawValue])
        return Marked(reply: reply, hasMoved: true, members: try Conversations.members(of: request.conv, db))
    }

    /// Returns part of the log in ascending order, without holes and at most
    /// `ChatLimits.answerBytes`, and the head of the same snapshot.
    static func events(_ request: SyncRequest, for user: UserID, _ db: Database) throws -> EventsReply {
        let conv: ConversationID
        let rows: RowCursor
        var isAscending = true
        switch request {
        case .heads:
            throw ChatError(.badRequest, message: "`conv` is missing")
        case .forward(let conversation, let from, let limit):
            conv = conversation
            let place = try Conversations.place(conv, of: user, db)
            rows = try Row.fetchCursor(
                db.cachedStatement(sql: "SELECT \(EventRow.columns) FROM event WHERE conversation = ? AND seq >= ? ORDER BY seq LIMIT ?"),
                arguments: [conv.rawValue, max(from, place.minSeq), limit])
        case .backward(let conversation, let before, let limit):
            conv = conversation
            let place = try Conversations.place(conv, of: user, db)
            rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT \(EventRow.columns) FROM event WHERE conversation = ? AND seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?"),
                arguments: [conv.rawValue, place.minSeq, before ?? Int64.max, limit])
            isAscending = false
        }
        var budget = AnswerBudget()
        let head = try Conversations.head(conv, for: user, db)
        _ = budget.take(head)  // less than half of the budget
        var events: [ChatEvent] = []
        while let row = try rows.next() {
            let event = try EventRow.event(row)
            // At least one event, because a client repeats its request after an empty answer.
            guard budget.take(event) || events.isEmpty else { break }
            events.append(event)
        }
        return EventsReply(events: isAscending ? events : events.reversed(), head: head)
    }

    /// Appends a change, which has a `seq` but no `n`.
    static func change(
        _ kind: ChatEventKind, _ body: JSONValue, in conv: ConversationID, by user: UserID, id: String, at now: Int64, _ db: Database
    ) throws {
        let place = try Conversations.place(conv, of: user, db)
        let event = ChatEvent(
            conv: conv, seq: place.lastSeq + 1, n: nil, sender: user, id: ClientID(unchecked: id), at: max(now, place.updatedAt),
            kind: kind, body: body)
        try EventRow.insert(event, body: try body.jsonString(), db)
        try db.cachedStatement(sql: "UPDATE conversation SET last_seq = ?, updated_at = ?, touched_at = max(touched_at, ?) WHERE id = ?")
            .execute(arguments: [event.seq, event.at, event.at, conv.rawValue])
    }
}
