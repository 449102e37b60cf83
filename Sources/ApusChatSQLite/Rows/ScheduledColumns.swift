import ApusChatProtocol
import ApusChatStorage

enum ScheduledColumns {
    static let list = "user, id, conversation, kind, body, ref, thread, is_silent, send_at, hash, failure"

    static func row(_ row: SQLiteStatement) -> ScheduledRow? {
        guard let id = ClientID(row.text(1)), let hash = RequestHash(bytes: row.bytes(9)) else { return nil }
        var scheduled = ScheduledRow(
            address: ScheduledAddress(UserKey(row.int(0)), id), conversation: ConversationKey(row.int(2)),
            kind: EventKind(rawValue: row.text(3)), body: row.text(4), sendAt: row.int(8), hash: hash)
        scheduled.ref = row.int(5)
        scheduled.thread = row.int(6)
        scheduled.isSilent = row.bool(7)
        scheduled.failure = row.text(10)
        return scheduled
    }

    static func bind(_ scheduled: ScheduledRow, to statement: SQLiteStatement) {
        statement.bind(1, scheduled.address.user.rawValue)
        statement.bind(2, scheduled.address.id.rawValue)
        statement.bind(3, scheduled.conversation.rawValue)
        statement.bind(4, scheduled.kind.rawValue)
        statement.bind(5, scheduled.body)
        statement.bind(6, scheduled.ref)
        statement.bind(7, scheduled.thread)
        statement.bind(8, scheduled.isSilent)
        statement.bind(9, scheduled.sendAt)
        scheduled.hash.bind(to: statement, 10)
        statement.bind(11, scheduled.failure)
    }
}
