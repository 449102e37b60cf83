import ApusChatProtocol
import ApusChatStorage

/// The columns of an event, in the order of SELECT and INSERT.
enum EventColumns {
    static let list = "id, " + Self.contentList
    /// The columns after the id.
    static let contentList = """
        n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions, mentions_all, \
        original, edited_at, is_pinned, reactions, votes, allows_many_votes, hides_voters, is_closed, reply_count, last_reply, closes_at, edit_seq
        """
    /// The columns that are set for a new event. The others have default values.
    static let newList = """
        id, n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions, mentions_all, \
        votes, allows_many_votes, hides_voters, closes_at
        """
    static let newValues = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19"

    /// Decodes a row that was selected with `list`.
    static func row(_ row: SQLiteStatement, in conversation: ConversationKey) -> EventRow {
        var event = EventRow(
            conversation: conversation, seq: EventPlace.seq(row.int(0)), n: row.bool(2) ? row.count(1) : 0, sender: UserKey(row.int(3)),
            clientID: row.isNull(6) ? nil : ClientID(row.text(6)), hash: row.isNull(7) ? nil : RequestHash(bytes: row.bytes(7)),
            at: row.count(4), kind: EventKind(rawValue: row.text(5)), ref: EventPlace.seq(row.int(8)), thread: EventPlace.seq(row.int(9)),
            body: row.text(11), expiresAt: row.int(12), mentionsAll: row.bool(14))
        event.state = EventState(code: row.int(10))
        if !row.isNull(13) { event.mentions = ListText.numbers(row.text(13)).map(UserKey.init) }
        event.original = row.text(15)
        event.editedAt = row.count(16)
        event.isPinned = row.bool(17)
        if !row.isNull(18) { event.reactions = ListText.counts(row.text(18)) }
        if !row.isNull(19) { event.votes = ListText.totals(row.text(19)) }
        event.allowsManyVotes = row.bool(20)
        event.hidesVoters = row.bool(21)
        event.isClosed = row.bool(22)
        event.replyCount = row.count(23)
        event.lastReply = row.count(24)
        event.closesAt = row.int(25)
        event.editSeq = row.count(26)
        return event
    }

    /// Binds the values of `newList`.
    ///
    /// - Parameter ordinal: The number of messages up to and including the event.
    static func bindNew(_ event: EventRow, slot: Int64, ordinal: Int64, to statement: SQLiteStatement) {
        statement.bind(1, EventPlace.id(slot, event.seq))
        statement.bind(2, ordinal)
        statement.bind(3, event.isMessage)
        statement.bind(4, event.sender.rawValue)
        statement.bind(5, event.at)
        statement.bind(6, event.kind.rawValue)
        if let id = event.clientID { statement.bind(7, id.rawValue) } else { statement.bindNull(7) }
        if let hash = event.hash { hash.bind(to: statement, 8) } else { statement.bindNull(8) }
        if event.ref > 0 { statement.bind(9, EventPlace.id(slot, event.ref)) } else { statement.bindNull(9) }
        if event.thread > 0 { statement.bind(10, EventPlace.id(slot, event.thread)) } else { statement.bindNull(10) }
        statement.bind(11, event.state.code)
        statement.bind(12, event.body)
        statement.bind(13, nonZero: event.expiresAt)
        if event.mentions.isEmpty {
            statement.bindNull(14)
        } else {
            statement.bind(14, ListText.text(event.mentions.lazy.map(\.rawValue)))
        }
        statement.bind(15, event.mentionsAll)
        if event.votes.isEmpty { statement.bindNull(16) } else { statement.bind(16, ListText.text(event.votes)) }
        statement.bind(17, event.allowsManyVotes)
        statement.bind(18, event.hidesVoters)
        statement.bind(19, nonZero: event.closesAt)
    }

    /// The assignments of an UPDATE that sets the columns which later batches can change. `?1` is
    /// the id.
    static let targetAssignments = """
        state = ?2, body = ?3, expires_at = ?4, mentions = ?5, mentions_all = ?6, original = ?7, edited_at = ?8, is_pinned = ?9, \
        reactions = ?10, votes = ?11, hides_voters = ?16, allows_many_votes = ?12, is_closed = ?13, reply_count = ?14, last_reply = ?15, edit_seq = ?17
        """

    /// Binds the values of `targetAssignments`.
    static func bindTarget(_ event: EventRow, id: Int64, to statement: SQLiteStatement) {
        statement.bind(1, id)
        statement.bind(2, event.state.code)
        statement.bind(3, event.body)
        statement.bind(4, nonZero: event.expiresAt)
        statement.bind(5, nonEmpty: ListText.text(event.mentions.lazy.map(\.rawValue)))
        statement.bind(6, event.mentionsAll)
        statement.bind(7, event.original)
        statement.bind(8, event.editedAt)
        statement.bind(9, event.isPinned)
        if event.reactions.isEmpty { statement.bindNull(10) } else { statement.bind(10, ListText.text(event.reactions)) }
        statement.bind(11, nonEmpty: ListText.text(event.votes))
        statement.bind(12, event.allowsManyVotes)
        statement.bind(13, event.isClosed)
        statement.bind(14, event.replyCount)
        statement.bind(15, event.lastReply)
        statement.bind(16, event.hidesVoters)
        statement.bind(17, event.editSeq)
    }
}

enum AnnotationColumns {
    /// Decodes a row with the columns `event`, `n`, `is_hidden`, `reactions` and `votes`.
    static func row(_ row: SQLiteStatement, at address: AnnotationAddress) -> AnnotationRow {
        var annotation = AnnotationRow(address: address, n: row.int(1))
        annotation.isHidden = row.bool(2)
        if !row.isNull(3) { annotation.reactions = ListText.texts(row.text(3)) }
        annotation.votes = UInt64(bitPattern: row.int(4))
        return annotation
    }

    static func bind(_ annotation: AnnotationRow, id: Int64, to statement: SQLiteStatement) {
        statement.with(annotation.address.user.rawValue, id, annotation.n)
        statement.bind(4, annotation.isHidden)
        if annotation.reactions.isEmpty { statement.bindNull(5) } else { statement.bind(5, ListText.text(annotation.reactions)) }
        statement.bind(6, Int64(bitPattern: annotation.votes))
    }
}
