/// The statements that read events.
enum LogQuery: Int, Query {
    case forwards, backwards, thread, threadEnd, edits, pins, ownAnnotations, isHidden, reactions, keptEvents, expired, ended, body

    static var group: QueryGroup { .log }

    var sql: String {
        switch self {
        case .forwards: PlacedEvents.range(EventColumns.contentList, limit: "?3")
        case .backwards: PlacedEvents.range(EventColumns.contentList, isDescending: true, limit: "?3")
        case .thread:
            """
            SELECT \(EventColumns.list) FROM event INDEXED BY event_thread
            WHERE thread = ?4 AND id BETWEEN ?1 AND ?2 AND is_message = 1 ORDER BY id LIMIT ?3
            """
        case .threadEnd:
            """
            SELECT \(EventColumns.list) FROM event INDEXED BY event_thread
            WHERE thread = ?4 AND id BETWEEN ?1 AND ?2 AND is_message = 1 ORDER BY id DESC LIMIT ?3
            """
        case .edits:
            """
            SELECT \(EventColumns.list) FROM event INDEXED BY event_edit
            WHERE ref = ?4 AND kind = 'edit' AND id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3
            """
        case .pins: "SELECT event FROM pin WHERE event BETWEEN ?1 AND ?2 ORDER BY event DESC LIMIT ?3"
        case .ownAnnotations:
            "SELECT event, n, is_hidden, reactions, votes FROM annotation WHERE user = ?1 AND event BETWEEN ?2 AND ?3"
        case .isHidden: "SELECT is_hidden FROM annotation WHERE user = ?1 AND event = ?2"
        case .reactions:
            """
            SELECT event, n, is_hidden, reactions, votes, user FROM annotation INDEXED BY annotation_event
            WHERE event = ?1 AND user > ?2 AND reactions IS NOT NULL ORDER BY user LIMIT ?3
            """
        case .keptEvents: PlacedEvents.range("", where: "is_message = 1 AND state < 10 AND at < ?3", limit: "?4")
        case .body: "SELECT body, at FROM event WHERE \(PlacedEvents.condition("?1"))"
        case .ended:
            """
            SELECT e.id, v.conversation FROM event e INDEXED BY event_closing CROSS JOIN conversation v ON v.slot = e.id >> 32
            WHERE e.closes_at <= ?1 AND e.is_closed = 0 ORDER BY e.closes_at, e.id LIMIT ?2
            """
        case .expired:
            """
            SELECT e.id, v.conversation FROM event e INDEXED BY event_expiry CROSS JOIN conversation v ON v.slot = e.id >> 32
            WHERE e.expires_at <= ?1 ORDER BY e.expires_at, e.id LIMIT ?2
            """
        }
    }
}
