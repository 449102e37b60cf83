import ApusChatProtocol
import ApusChatStorage

/// The columns of a member, in the order of SELECT and INSERT.
enum MemberColumns {
    static let names = [
        "slot", "user", "conversation", "role", "state", "since", "min_seq", "left_seq", "floor_n", "read_n", "skipped", "invited_by",
        "silenced_until", "last_sent_at", "block_seq", "is_gone", "muted_until", "pinned_at", "is_archived", "is_marked_unread",
        "folders", "draft_seq", "changed", "banned_until", "notifies_mentions_only",
    ]
    static let list = Self.names.map { "m." + $0 }.joined(separator: ", ")
    static let count = Int32(Self.names.count)
    static let values = (1...Self.names.count).map { "?\($0)" }.joined(separator: ", ")
    /// The assignments of an UPDATE that sets a whole row.
    static let assignments = Self.names.dropFirst(3).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// Decodes a row that was selected with `list`.
    static func row(_ row: SQLiteStatement, at first: Int32 = 0) -> MemberRow {
        var member = MemberRow(
            address: MemberAddress(ConversationKey(row.int(first + 2)), UserKey(row.int(first + 1))),
            role: MemberRole(code: row.int(first + 3)), state: MemberState(code: row.int(first + 4)))
        member.since = row.count(first + 5)
        member.minSeq = row.count(first + 6)
        member.leftSeq = row.count(first + 7)
        member.floorN = row.count(first + 8)
        member.readN = row.count(first + 9)
        member.skipped = row.count(first + 10)
        member.invitedBy = UserKey(row.int(first + 11))
        member.silencedUntil = row.int(first + 12)
        member.lastSentAt = row.count(first + 13)
        member.blockSeq = row.count(first + 14)
        member.isGone = row.bool(first + 15)
        member.mutedUntil = row.int(first + 16)
        member.pinnedAt = row.int(first + 17)
        member.isArchived = row.bool(first + 18)
        member.isMarkedUnread = row.bool(first + 19)
        member.folders = UInt64(bitPattern: row.int(first + 20))
        member.draftSeq = row.count(first + 21)
        member.changed = row.int(first + 22)
        member.bannedUntil = row.int(first + 23)
        member.notifiesMentionsOnly = row.bool(first + 24)
        return member
    }

    /// Binds the values of a whole row.
    static func bind(_ member: MemberRow, slot: Int64, commit: Int64, to statement: SQLiteStatement) {
        statement.bind(1, slot)
        statement.bind(2, member.address.user.rawValue)
        statement.bind(3, member.address.conversation.rawValue)
        statement.bind(4, member.role.code)
        statement.bind(5, member.state.code)
        statement.bind(6, member.since)
        statement.bind(7, member.minSeq)
        statement.bind(8, member.leftSeq)
        statement.bind(9, member.floorN)
        statement.bind(10, member.readN)
        statement.bind(11, member.skipped)
        statement.bind(12, member.invitedBy.rawValue)
        statement.bind(13, member.silencedUntil)
        statement.bind(14, member.lastSentAt)
        statement.bind(15, member.blockSeq)
        statement.bind(16, member.isGone)
        statement.bind(17, member.mutedUntil)
        statement.bind(18, member.pinnedAt)
        statement.bind(19, member.isArchived)
        statement.bind(20, member.isMarkedUnread)
        statement.bind(21, Int64(bitPattern: member.folders))
        statement.bind(22, member.draftSeq)
        statement.bind(23, commit)
        statement.bind(24, member.bannedUntil)
        statement.bind(25, member.notifiesMentionsOnly)
    }

    /// The assignments of an UPDATE that sets the columns which change when a user sends or reads.
    /// No index contains these columns. `?1` and `?2` are the key.
    static let positionAssignments = "read_n = ?3, skipped = ?4, last_sent_at = ?5, is_marked_unread = ?6, changed = ?7"

    /// Returns whether two rows differ only in the columns of `positionAssignments`.
    static func differInPositionOnly(_ one: MemberRow, _ other: MemberRow) -> Bool {
        var one = one
        one.readN = other.readN
        one.skipped = other.skipped
        one.lastSentAt = other.lastSentAt
        one.isMarkedUnread = other.isMarkedUnread
        one.changed = other.changed
        return one == other
    }

    /// Binds the values of `positionAssignments`.
    static func bindPosition(_ member: MemberRow, slot: Int64, commit: Int64, to statement: SQLiteStatement) {
        statement.bind(1, slot)
        statement.bind(2, member.address.user.rawValue)
        statement.bind(3, member.readN)
        statement.bind(4, member.skipped)
        statement.bind(5, member.lastSentAt)
        statement.bind(6, member.isMarkedUnread)
        statement.bind(7, commit)
    }
}
