import ApusChatProtocol

/// The statements with which the writer reads the facts of a batch.
enum FactQuery: Int, Query {
    case conversation, pair, member, pairMembers, sent, request, event, annotation, account, conversationCount, contact, link, contactCounts
    case successors, isUploaded, readableEvents, ordinal, eventsBackwards, hiddenEvents
    case hiders, latecomers

    static var group: QueryGroup { .fact }

    var sql: String {
        switch self {
        case .conversation:
            "SELECT \(ConversationColumns.list) FROM conversation v CROSS JOIN counter r USING (slot) WHERE v.conversation = ?1"
        case .pair: "SELECT conversation FROM conversation WHERE low = ?1 AND high = ?2"
        case .member: "SELECT \(MemberColumns.list) FROM member m WHERE slot = ?1 AND user = ?2"
        case .pairMembers: "SELECT \(MemberColumns.list) FROM member m WHERE slot = ?1 AND user IN (?2, ?3)"
        case .sent: "SELECT id, n, at, hash FROM event WHERE client_id = ?1 AND sender = ?2 AND id >> 32 = ?3"
        case .request: "SELECT \(RequestColumns.list) FROM request WHERE user = ?1 AND id = ?2"
        case .event: "SELECT \(EventColumns.list) FROM event WHERE \(PlacedEvents.condition("?1"))"
        case .annotation: "SELECT event, n, is_hidden, reactions, votes FROM annotation WHERE user = ?1 AND event = ?2"
        case .account: "SELECT \(AccountColumns.list) FROM account a WHERE user = ?1"
        case .conversationCount:
            """
            SELECT count(*), count(nullif(pinned_at, 0)), count(nullif(state = \(MemberState.invited.code), 0))
            FROM member INDEXED BY member_user WHERE user = ?1 AND is_gone = 0
            """
        case .contact: "SELECT \(ContactColumns.list) FROM contact WHERE owner = ?1 AND peer = ?2"
        case .contactCounts: "SELECT count(nullif(relation, 0)), count(nullif(is_blocked, 0)) FROM contact WHERE owner = ?1"
        case .link: "SELECT \(LinkColumns.list) FROM link WHERE code = ?1"
        case .successors:
            """
            SELECT user FROM member INDEXED BY member_rank WHERE slot = ?1 AND state = 1 AND role BETWEEN 2 AND 5
            ORDER BY role DESC, user LIMIT 9
            """
        case .isUploaded: "SELECT 1 FROM blob b CROSS JOIN upload u ON u.blob = b.id AND u.user = ?2 WHERE b.digest = ?1"
        case .readableEvents:
            """
            SELECT \(MemberColumns.list), r.event FROM blob b
            CROSS JOIN member m INDEXED BY member_user ON m.user = ?2
            CROSS JOIN blob_ref r ON r.blob = b.id AND r.event BETWEEN m.slot << 32 AND (m.slot << 32) + 4294967295
            WHERE b.digest = ?1
            """
        case .hiders:
            """
            SELECT h.user FROM annotation h INDEXED BY annotation_event
            CROSS JOIN member m ON m.slot = ?2 AND m.user = h.user AND m.state = 1
            WHERE h.event = ?1 AND h.is_hidden = 1 LIMIT ?3
            """
        case .latecomers:
            "SELECT user FROM member INDEXED BY member_first WHERE slot = ?1 AND min_seq > ?2 AND min_seq > 1 AND state = 1 LIMIT ?3"
        case .ordinal: "SELECT n FROM event WHERE \(PlacedEvents.condition("?1"))"
        case .eventsBackwards: PlacedEvents.range("n, is_message, sender", isDescending: true)
        case .hiddenEvents: "SELECT event FROM annotation WHERE user = ?1 AND event BETWEEN ?2 AND ?3 AND is_hidden = 1 AND n > 0"
        }
    }
}
