/// The statements of scheduled messages, of running calls, and of the erasure of deleted
/// conversations and accounts.
enum MaintenanceQuery: Int, Query {
    case setScheduled, removeScheduled, scheduled, scheduledOfUser, scheduledCount, dueScheduled
    case calls, deletedConversations, deletedAccounts, memberships, eventsOfSender

    static var group: QueryGroup { .maintenance }

    var sql: String {
        switch self {
        case .setScheduled:
            "INSERT OR REPLACE INTO scheduled (\(ScheduledColumns.list)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        case .removeScheduled: "DELETE FROM scheduled WHERE user = ?1 AND id = ?2"
        case .scheduled: "SELECT \(ScheduledColumns.list) FROM scheduled WHERE user = ?1 AND id = ?2"
        case .scheduledOfUser: "SELECT \(ScheduledColumns.list) FROM scheduled WHERE user = ?1 LIMIT 1000"
        case .scheduledCount: "SELECT count(*) FROM scheduled WHERE user = ?1"
        case .dueScheduled:
            """
            SELECT \(ScheduledColumns.list) FROM scheduled INDEXED BY scheduled_due WHERE send_at <= ?1 AND failure = ''
            ORDER BY send_at, user, id LIMIT ?2
            """
        case .calls:
            """
            SELECT v.conversation, r.call_seq FROM counter r INDEXED BY counter_call CROSS JOIN conversation v ON v.slot = r.slot
            WHERE r.slot > 0 AND r.call_seq > 0 ORDER BY r.slot LIMIT ?1
            """
        case .deletedConversations:
            """
            SELECT v.conversation FROM counter r INDEXED BY counter_deleted CROSS JOIN conversation v ON v.slot = r.slot
            WHERE r.slot > 0 AND r.is_deleted = 1 AND r.member_count > 0 ORDER BY r.slot LIMIT ?1
            """
        case .deletedAccounts:
            """
            SELECT user FROM account INDEXED BY account_deleted WHERE user > ?1 AND state = 2 AND is_erased = 0 ORDER BY user LIMIT ?2
            """
        case .memberships:
            "SELECT conversation FROM member INDEXED BY member_user WHERE user = ?1 AND conversation > ?2 ORDER BY conversation LIMIT ?3"
        case .eventsOfSender:
            PlacedEvents.range("", where: "sender = ?3 AND state < 10 AND body <> '' AND (is_message = 1 OR ?4)", limit: "?5")
        }
    }
}
