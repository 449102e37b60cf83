/// The statements of the search index. They require a connection to which the index is attached as
/// `search`.
enum SearchQuery: Int, Query {
    case position, setPosition, newTexts, changedTexts, lastPlace, document, addDocument, addPosting, removeDocument, removePosting
    case places, hits

    static var group: QueryGroup { .search }

    var sql: String {
        switch self {
        case .position: "SELECT place, change, at FROM search.position WHERE id = 1"
        case .setPosition: "UPDATE search.position SET place = ?1, change = ?2, at = ?3 WHERE id = 1"
        case .newTexts:
            "SELECT place, id, sender, at, kind, body, is_message, state, 0 FROM main.event WHERE place > ?1 ORDER BY place LIMIT ?2"
        case .changedTexts:
            """
            SELECT e.place, e.id, e.sender, e.at, e.kind, e.body, e.is_message, e.state, t.number
            FROM main.text_change t CROSS JOIN main.event e ON \(PlacedEvents.condition("t.event", event: "e."))
            WHERE t.number > ?1 ORDER BY t.number LIMIT ?2
            """
        case .lastPlace: "SELECT max(place) FROM main.event"
        case .document: "SELECT terms, scope FROM search.document WHERE place = ?1"
        case .addDocument: "INSERT INTO search.document (place, event, at, terms, scope) VALUES (?1, ?2, ?3, ?4, ?5)"
        case .addPosting: "INSERT INTO search.posting (rowid, terms, scope) VALUES (?1, ?2, ?3)"
        case .removeDocument: "DELETE FROM search.document WHERE place = ?1"
        case .removePosting: "INSERT INTO search.posting (posting, rowid, terms, scope) VALUES ('delete', ?1, ?2, ?3)"
        case .places: "SELECT m.slot, m.conversation FROM main.member m INDEXED BY member_user WHERE m.user = ?1 AND m.is_gone = 0"
        case .hits:
            """
            SELECT d.place, d.event FROM search.posting p CROSS JOIN search.document d ON d.place = p.rowid
            WHERE p.posting MATCH ?1 AND p.rowid < ?2 AND d.at BETWEEN ?3 AND ?4 ORDER BY p.rowid DESC LIMIT ?5
            """
        }
    }
}
