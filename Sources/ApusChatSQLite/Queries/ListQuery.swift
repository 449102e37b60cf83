/// The statements that read lists of conversations and members.
enum ListQuery: Int, Query {
    case pinnedPlaces, places, changedPlaces, head, mentions, mentionsOfAll, draftSlot, members, membersNamed, countNamed, countMembers,
        memberCount, badge, staff, readers, joined, version, slot, log, links
    case listed

    static var group: QueryGroup { .list }

    var sql: String {
        switch self {
        // Sorts the pinned conversations of an account, of which there are at most
        // `ChatLimits.pinnedConversations`.
        case .pinnedPlaces:
            """
            SELECT m.slot, m.conversation, m.pinned_at, r.last_at
            FROM member m INDEXED BY member_user CROSS JOIN counter r ON r.slot = m.slot
            WHERE m.user = ?1 AND m.is_gone = 0 AND m.pinned_at > 0 AND r.is_deleted = 0
            ORDER BY m.pinned_at DESC, r.last_at DESC, m.conversation LIMIT ?2
            """
        // Sorts all conversations of an account.
        case .places:
            """
            SELECT m.slot, m.conversation, 0, r.last_at
            FROM member m INDEXED BY member_user CROSS JOIN counter r ON r.slot = m.slot
            WHERE m.user = ?1 AND m.is_gone = 0 AND m.pinned_at = 0 AND r.is_deleted = 0
                AND (r.last_at < ?3 OR (r.last_at = ?3 AND m.conversation > ?4))
            ORDER BY r.last_at DESC, m.conversation LIMIT ?2
            """
        case .changedPlaces:
            """
            SELECT m.slot, m.conversation FROM member m INDEXED BY member_user CROSS JOIN counter r ON r.slot = m.slot
            WHERE m.user = ?1 AND m.conversation > ?3 AND (m.changed > ?4 OR (r.changed > ?4 AND m.is_gone = 0))
            ORDER BY m.conversation LIMIT ?2
            """
        case .head:
            """
            SELECT \(MemberColumns.list), \(ConversationColumns.list)
            FROM member m CROSS JOIN conversation v ON v.slot = ?1 CROSS JOIN counter r ON r.slot = ?1
            WHERE m.slot = ?1 AND m.user = ?2
            """
        case .mentions: Self.countOfMentions("n.user = ?1")
        case .mentionsOfAll: Self.countOfMentions("n.user = 0")
        case .draftSlot:
            "SELECT v.slot FROM account a CROSS JOIN conversation v ON v.conversation = a.self_conversation WHERE a.user = ?1"
        case .members:
            """
            SELECT \(MemberColumns.list) FROM member m INDEXED BY member_state
            WHERE slot = ?1 AND state = ?2 AND user > ?3 ORDER BY user LIMIT ?4
            """
        case .membersNamed:
            """
            SELECT \(MemberColumns.list) FROM name_search s CROSS JOIN member m ON m.slot = ?1 AND m.user = s.rowid AND m.state = ?2
            CROSS JOIN account a ON a.user = s.rowid AND a.state = 0
            WHERE s.name_search MATCH ?5 AND s.rowid > ?3 ORDER BY s.rowid LIMIT ?4
            """
        case .countNamed:
            """
            SELECT count(*) FROM name_search s CROSS JOIN member m ON m.slot = ?1 AND m.user = s.rowid AND m.state = ?2
            CROSS JOIN account a ON a.user = s.rowid AND a.state = 0
            WHERE s.name_search MATCH ?3
            """
        case .memberCount: "SELECT member_count FROM counter WHERE slot = ?1"
        case .countMembers: "SELECT count(*) FROM member INDEXED BY member_state WHERE slot = ?1 AND state = ?2"
        case .badge:
            """
            SELECT coalesce(sum(max(0, r.last_n - max(m.read_n, m.floor_n) - m.skipped)), 0)
            FROM member m INDEXED BY member_user CROSS JOIN counter r ON r.slot = m.slot AND r.is_deleted = 0
            WHERE m.user = ?1 AND m.is_gone = 0 AND m.state = 1 AND m.muted_until <= ?2
            """
        case .staff:
            """
            SELECT \(MemberColumns.list) FROM member m INDEXED BY member_rank
            WHERE slot = ?1 AND state = 1 AND role >= 4 ORDER BY role DESC, user LIMIT ?2
            """
        case .readers:
            "SELECT user FROM member INDEXED BY member_state WHERE slot = ?1 AND state = 1 AND read_n >= ?2 ORDER BY user LIMIT ?3"
        case .joined:
            """
            SELECT m.conversation FROM member m INDEXED BY member_user CROSS JOIN counter r ON r.slot = m.slot AND r.is_deleted = 0
            WHERE m.user = ?1 AND m.state = 1 ORDER BY m.conversation
            """
        case .version: "SELECT members_version FROM counter WHERE slot = ?1"
        case .slot: "SELECT slot FROM conversation WHERE conversation = ?1"
        case .log: "SELECT last_seq, kept_seq, is_deleted FROM counter WHERE slot = ?1"
        case .listed:
            """
            SELECT \(ConversationColumns.list) FROM conversation v INDEXED BY conversation_listed
            CROSS JOIN counter r ON r.slot = v.slot AND r.is_deleted = 0
            WHERE v.is_listed = 1 AND v.slot < ?1 ORDER BY v.slot DESC LIMIT ?2
            """
        case .links:
            "SELECT \(LinkColumns.list) FROM link WHERE conversation = ?1 AND is_revoked = 0 ORDER BY created_at DESC, code LIMIT ?2"
        }
    }

    /// Returns a query that counts the visible messages of other users above an ordinal
    /// and mention the user.
    private static func countOfMentions(_ condition: String) -> String {
        """
        SELECT count(*) FROM mention n WHERE \(condition) AND n.slot = ?2 AND n.n > ?3 AND n.event >= ?4 AND n.sender <> ?1
            AND NOT EXISTS (SELECT 1 FROM annotation h WHERE h.user = ?1 AND h.event = n.event AND h.is_hidden = 1)
        """
    }
}
