/// The statements that write a batch.
enum ChangeQuery: Int, Query {
    case addConversation, setConversation, addCounters, setCounters, setPosition, setMember, removeFolders
    case addEvent, addPlace, addRecentPlace, recentPlaces, recentPlace, moveRecentPlaces, removeRecentPlaces, laterEvents
    case setTarget, pin, unpin
    case blankEvent, blankEdits, blankPreviews, clearAnnotations, removeAnnotations, removeMention, removeBlobReferences
    case keptSeq, setKeptSeq, firstKept
    case addTextChange, removeTextChanges
    case setAnnotation, removeAnnotation, addMention
    case setRequest, removeRequests, setAccount, accountNames, addName, removeName, setContact, setLink, addReport
    case addBlob, blob, addBlobReference, addUpload

    static var group: QueryGroup { .change }

    var sql: String {
        switch self {
        case .addConversation:
            """
            INSERT INTO conversation (slot, conversation, kind, low, high, created_at, title, about, avatar, settings, is_listed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        case .setConversation:
            """
            UPDATE conversation SET conversation = ?2, kind = ?3, low = ?4, high = ?5, created_at = ?6, title = ?7, about = ?8,
                avatar = ?9, settings = ?10, is_listed = ?11
            WHERE slot = ?1
            """
        case .addCounters:
            """
            INSERT INTO counter (\(ConversationColumns.counterNames.joined(separator: ", ")))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            """
        case .setCounters: "UPDATE counter SET \(ConversationColumns.counterAssignments) WHERE slot = ?1"
        case .setPosition: "UPDATE member SET \(MemberColumns.positionAssignments) WHERE slot = ?1 AND user = ?2"
        case .setMember:
            """
            INSERT INTO member (\(MemberColumns.names.joined(separator: ", "))) VALUES (\(MemberColumns.values))
            ON CONFLICT (slot, user) DO UPDATE SET \(MemberColumns.assignments)
            """
        case .removeFolders:
            "UPDATE member INDEXED BY member_user SET folders = folders & ~?2, changed = ?3 WHERE user = ?1 AND folders & ?2 <> 0"
        case .addEvent: "INSERT INTO event (\(EventColumns.newList)) VALUES (\(EventColumns.newValues))"
        case .addPlace: "INSERT INTO event_place (id, place) VALUES (?1, ?2)"
        case .addRecentPlace: "INSERT INTO event_recent (id, place) VALUES (?1, ?2)"
        case .recentPlaces: "SELECT count(*) FROM event_recent"
        case .recentPlace: "SELECT id FROM event_recent WHERE id > ?1 ORDER BY id LIMIT 1 OFFSET ?2"
        // Replaces the entries that damaged data can have in both tables, so that the batch does
        // not fail.
        case .moveRecentPlaces:
            "INSERT OR REPLACE INTO event_place (id, place) SELECT id, place FROM event_recent WHERE id > ?1 AND id <= ?2"
        case .removeRecentPlaces: "DELETE FROM event_recent WHERE id > ?1 AND id <= ?2"
        case .laterEvents:
            """
            SELECT 1 FROM event_recent WHERE id BETWEEN ?1 AND ?2 UNION ALL SELECT 1 FROM event_place WHERE id BETWEEN ?1 AND ?2 LIMIT 1
            """
        case .setTarget: "UPDATE event SET \(EventColumns.targetAssignments) WHERE \(PlacedEvents.condition("?1"))"
        case .pin: "INSERT OR IGNORE INTO pin (event) VALUES (?1)"
        case .unpin: "DELETE FROM pin WHERE event = ?1"
        case .blankEvent: "UPDATE event SET \(Self.blankAssignments) WHERE \(PlacedEvents.condition("?1"))"
        case .blankEdits: "UPDATE event INDEXED BY event_edit SET \(Self.blankAssignments) WHERE ref = ?1 AND kind = 'edit'"
        case .blankPreviews: "UPDATE event INDEXED BY event_preview SET \(Self.blankAssignments) WHERE ref = ?1 AND kind = 'preview'"
        case .clearAnnotations: "UPDATE annotation SET reactions = NULL, votes = 0 WHERE event = ?1"
        case .removeAnnotations: "DELETE FROM annotation WHERE event = ?1 AND is_hidden = 0"
        case .removeMention: "DELETE FROM mention WHERE user = ?1 AND slot = ?2 AND n = ?3"
        case .removeBlobReferences: "DELETE FROM blob_ref WHERE event = ?1"
        case .keptSeq: "SELECT kept_seq, last_seq FROM counter WHERE slot = ?1"
        case .setKeptSeq: "UPDATE counter SET kept_seq = ?2 WHERE slot = ?1"
        case .firstKept: PlacedEvents.range("", where: "is_message = 1 AND state < 10", limit: "1")
        case .setAnnotation:
            "INSERT OR REPLACE INTO annotation (user, event, n, is_hidden, reactions, votes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        case .removeAnnotation: "DELETE FROM annotation WHERE user = ?1 AND event = ?2"
        case .addMention: "INSERT OR IGNORE INTO mention (user, slot, n, event, sender) VALUES (?1, ?2, ?3, ?4, ?5)"
        case .setRequest:
            """
            INSERT OR REPLACE INTO request (user, id, hash, at, conversation, seq, n, answer_at, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """
        case .removeRequests:
            "DELETE FROM request WHERE (user, id) IN (SELECT user, id FROM request WHERE at < ?1 ORDER BY at LIMIT ?2)"
        case .setAccount:
            """
            INSERT INTO account (\(AccountColumns.names.joined(separator: ", "))) VALUES (\(AccountColumns.values))
            ON CONFLICT (user) DO UPDATE SET \(AccountColumns.assignments)
            """
        case .accountNames: "SELECT name, nickname FROM account WHERE user = ?1"
        case .addTextChange: "INSERT INTO text_change (event) VALUES (?1)"
        case .removeTextChanges:
            "DELETE FROM text_change WHERE number IN (SELECT number FROM text_change WHERE number < ?1 ORDER BY number LIMIT ?2)"
        case .addName: "INSERT INTO name_search (rowid, name, nickname) VALUES (?1, ?2, ?3)"
        case .removeName: "INSERT INTO name_search (name_search, rowid, name, nickname) VALUES ('delete', ?1, ?2, ?3)"
        case .setContact: "INSERT OR REPLACE INTO contact (\(ContactColumns.list)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .setLink:
            """
            INSERT INTO link (\(LinkColumns.list)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (code) DO UPDATE SET used = ?6, expires_at = ?7, uses_left = ?8, needs_approval = ?9, is_revoked = ?10
            """
        case .addReport: "INSERT INTO report (reporter, subject, conversation, seq, reason, at, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        case .addBlob: "INSERT OR IGNORE INTO blob (digest) VALUES (?1)"
        case .blob: "SELECT id FROM blob WHERE digest = ?1"
        case .addBlobReference: "INSERT OR IGNORE INTO blob_ref (blob, event) VALUES (?1, ?2)"
        case .addUpload: "INSERT OR IGNORE INTO upload (blob, user) VALUES (?1, ?2)"
        }
    }

    private static let blankAssignments = """
        state = ?2, body = '', original = '', expires_at = NULL, mentions = NULL, mentions_all = 0, is_pinned = 0, \
        reactions = NULL, votes = NULL, closes_at = NULL
        """
}
