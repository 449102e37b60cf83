import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// The columns of a conversation and of its counters, in the order of SELECT and INSERT.
enum ConversationColumns {
    static let list = """
        v.slot, v.conversation, v.kind, v.low, v.high, v.created_at, v.title, v.about, v.avatar, v.settings, \
        r.last_seq, r.last_n, r.last_at, r.preview_seq, r.member_count, r.pin_count, r.link_count, r.members_version, r.epoch, r.changed, \
        r.call_seq, r.is_deleted
        """
    static let count: Int32 = 22
    static let counterNames = [
        "slot", "last_seq", "last_n", "last_at", "preview_seq", "member_count", "pin_count", "link_count", "members_version", "epoch",
        "changed", "call_seq", "is_deleted",
    ]
    static let counterAssignments = Self.counterNames.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")

    /// Decodes a row that was selected with `list`.
    static func row(_ row: SQLiteStatement, at first: Int32 = 0) -> ConversationRow {
        let settings = (try? JSONValue(jsonString: row.text(first + 9))).flatMap { try? ConversationSettings(json: $0) }
        var conversation = ConversationRow(
            key: ConversationKey(row.int(first + 1)), kind: ConversationKind(code: row.int(first + 2)),
            pair: row.isNull(first + 3) ? nil : PairAddress(UserKey(row.int(first + 3)), UserKey(row.int(first + 4))),
            createdAt: row.int(first + 5), settings: settings ?? ConversationSettings())
        conversation.profile.title = row.text(first + 6)
        conversation.profile.about = row.text(first + 7)
        if !row.isNull(first + 8) { conversation.profile.avatar = BlobID(row.text(first + 8)) }
        conversation.counters = self.counters(row, at: first + 10)
        conversation.changed = row.int(first + 19)
        return conversation
    }

    private static func counters(_ row: SQLiteStatement, at first: Int32) -> ConversationCounters {
        var counters = ConversationCounters()
        counters.lastSeq = row.count(first)
        counters.lastN = row.count(first + 1)
        counters.lastAt = row.count(first + 2)
        counters.previewSeq = row.count(first + 3)
        counters.memberCount = Int(row.count(first + 4))
        counters.pinCount = Int(row.count(first + 5))
        counters.linkCount = Int(row.count(first + 6))
        counters.membersVersion = row.count(first + 7)
        counters.epoch = row.count(first + 8)
        counters.callSeq = row.count(first + 10)
        counters.isDeleted = row.bool(first + 11)
        return counters
    }

    /// Binds the slot, the key, the kind, the pair, the time of creation, the profile, the
    /// settings, and whether the directory lists the conversation.
    static func bind(_ conversation: ConversationRow, slot: Int64, to statement: SQLiteStatement) {
        statement.bind(1, slot)
        statement.bind(2, conversation.key.rawValue)
        statement.bind(3, conversation.kind.code)
        if let pair = conversation.pair {
            statement.bind(4, pair.low.rawValue)
            statement.bind(5, pair.high.rawValue)
        } else {
            statement.bindNull(4)
            statement.bindNull(5)
        }
        statement.bind(6, conversation.createdAt)
        statement.bind(7, conversation.profile.title)
        statement.bind(8, conversation.profile.about)
        statement.bind(9, nonEmpty: conversation.profile.avatar?.rawValue ?? "")
        statement.bind(10, ListText.json(conversation.settings.json))
        statement.bind(11, conversation.settings.listed)
    }

    /// Binds the counters in the order of `counterNames`.
    static func bind(_ counters: ConversationCounters, slot: Int64, commit: Int64, to statement: SQLiteStatement) {
        statement.bind(1, slot)
        statement.bind(2, counters.lastSeq)
        statement.bind(3, counters.lastN)
        statement.bind(4, counters.lastAt)
        statement.bind(5, counters.previewSeq)
        statement.bind(6, Int64(counters.memberCount))
        statement.bind(7, Int64(counters.pinCount))
        statement.bind(8, Int64(counters.linkCount))
        statement.bind(9, counters.membersVersion)
        statement.bind(10, counters.epoch)
        statement.bind(11, commit)
        statement.bind(12, counters.callSeq)
        statement.bind(13, counters.isDeleted)
    }
}
