package import ApusChatCore
package import ApusChatProtocol
import GRDB

/// The rows that a list of changes added or changed, for the updates to publish.
package struct StoreEffects: Sendable {
    var heads: [ChatHead] = []
    var gone: [ConversationID] = []
    /// The `seq` of each new or changed event.
    var events: [ConversationID: Set<Int64>] = [:]
    var gaps: [(conversation: ConversationID, range: ClosedRange<Int64>)] = []
    /// The earliest time at which one of the events expires, in milliseconds since 1970.
    var expiry: Int64?
    /// The messages of the outbox whose state changed.
    var outgoing: Set<ClientID> = []
    /// The conversations in which another member has a new read position.
    var peers: Set<ConversationID> = []
    var isReset = false
}

extension ChatStore {
    /// Applies the changes of one list of actions in one transaction.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - me: The user of the client.
    ///   - asOf: The `seq` up to which the events contain all changes; nil for the `seq` of the
    ///     last event of each list.
    package func apply(_ changes: [StoreChange], of me: UserName, asOf: Int64? = nil) throws(ChatClientError) -> StoreEffects {
        guard !changes.isEmpty else { return StoreEffects() }
        return try self.write { database in
            var effects = StoreEffects()
            for change in changes { try Self.apply(change, of: me, asOf: asOf, &effects, database) }
            return effects
        }
    }

    private static func apply(
        _ change: StoreChange, of me: UserName, asOf: Int64?, _ effects: inout StoreEffects, _ database: Database
    ) throws {
        switch change {
        case .events(let events, let position): try self.append(events, of: me, asOf: position ?? asOf, &effects, database)
        case .gap(let conversation, let range):
            try self.insertGap(range, conversation, database)
            effects.gaps.append((conversation, range))
        case .head(let head):
            try self.save(head, database)
            effects.heads.removeAll { $0.conversation == head.conversation }
            effects.heads.append(head)
        case .gone(let conversation):
            try self.remove(conversation, database)
            effects.gone.append(conversation)
        case .token(let token): try self.set(.token, token.rawValue, database)
        case .epoch(let epoch): try self.set(.epoch, epoch.rawValue, database)
        case .requeue: try self.requeue(&effects, database)
        case .dropCache:
            try self.dropCache(database)
            let outgoing = effects.outgoing
            effects = StoreEffects()
            effects.outgoing = outgoing
            effects.isReset = true
        case .sent(let id, let answer):
            try self.acknowledge(id, answer, database)
            effects.outgoing.insert(id)
        case .refused(let id, let error):
            try database.execute(
                sql: "UPDATE outbox SET state = ?, error = ? WHERE id = ?",
                arguments: [OutboxEntry.State.refused.rawValue, try StoredText.write(error), id.rawValue])
            effects.outgoing.insert(id)
        case .read(let conversation, let n, let isConfirmed):
            try database.cachedStatement(
                sql: """
                    UPDATE head SET unsent_read = CASE WHEN ? THEN CASE WHEN unsent_read <= ? THEN NULL ELSE unsent_read END ELSE ? END
                    WHERE conversation = ?
                    """
            ).execute(arguments: [isConfirmed, n, n, conversation.number])
        case .peerRead(let mark):
            try self.save(mark, database)
            effects.peers.insert(mark.conversation)
        case .expire(let now): try self.expire(at: now, &effects, database)
        }
    }

    // MARK: Heads

    private static func save(_ head: ChatHead, _ database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT INTO head (conversation, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
        ).execute(arguments: [head.conversation.number, try StoredText.write(head)])
        if let peer = head.peer { try self.save(peer, database) }
    }

    private static func remove(_ conversation: ConversationID, _ database: Database) throws {
        for row in try Row.fetchAll(
            database, sql: "SELECT key, value FROM event WHERE conversation = ?", arguments: [conversation.number])
        {
            try self.unindex(row["key"], try StoredText.read(row["value"]), database)
        }
        for table in ["head", "cursor", "event", "mine", "gap", "peer", "draft", "outbox"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE conversation = ?", arguments: [conversation.number])
        }
    }

    private static func dropCache(_ database: Database) throws {
        for table in ["head", "cursor", "event", "mine", "gap", "peer"] { try database.execute(sql: "DELETE FROM \(table)") }
        try database.execute(sql: "INSERT INTO search (search) VALUES ('delete-all')")
        try self.set(.token, nil, database)
    }

    // MARK: Unsent data

    /// Makes the acknowledged messages that the log does not contain unsent again, and the drafts
    /// that the server had.
    private static func requeue(_ effects: inout StoreEffects, _ database: Database) throws {
        try self.cite(database)
        let sent = OutboxEntry.State.sent.rawValue
        let ids = try String.fetchAll(database, sql: "SELECT id FROM outbox WHERE state = ?", arguments: [sent])
        effects.outgoing.formUnion(ids.compactMap { ClientID($0) })
        try database.execute(
            sql: "UPDATE outbox SET state = ?, seq = NULL, n = NULL WHERE state = ?", arguments: [OutboxEntry.State.queued.rawValue, sent])
        let drafts = try Row.fetchAll(
            database, sql: "SELECT conversation, text, head.value FROM draft JOIN head USING (conversation) WHERE sent = 1")
        for row in drafts {
            // Another device may have replaced or removed the draft since it was sent.
            let head: ChatHead = try StoredText.read(row["value"])
            guard head.own.draft?.text == row["text"] as String else { continue }
            try database.execute(sql: "UPDATE draft SET sent = 0 WHERE conversation = ?", arguments: [head.conversation.number])
        }
        try database.execute(sql: "UPDATE draft SET ref = NULL")
    }

    /// Records, before the log is removed, which messages the unsent ones refer to. In the log of
    /// the restored server, other messages can have their positions.
    private static func cite(_ database: Database) throws {
        func identity(of reference: String) -> String {
            """
            (SELECT coalesce(json_extract(event.value, '$.id'), event.at) || ' ' || coalesce(event.sender, '') FROM event
             WHERE event.conversation = outbox.conversation AND event.seq = json_extract(outbox.value, '$.\(reference)'))
            """
        }
        try database.execute(
            sql: """
                UPDATE outbox SET unverified = 1, cited_ref = \(identity(of: "ref")), cited_thread = \(identity(of: "thread"))
                WHERE unverified = 0 AND coalesce(json_extract(value, '$.ref'), json_extract(value, '$.thread')) IS NOT NULL
                """)
    }

    // MARK: Users

    static func save(_ user: ChatUser, _ database: Database) throws {
        try database.cachedStatement(sql: "INSERT INTO user VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
            .execute(arguments: [user.name.rawValue, try StoredText.write(user)])
    }

    func save(users: [ChatUser]) throws(ChatClientError) {
        try self.write { database in for user in users { try Self.save(user, database) } }
    }

    /// Replaces the stored contacts.
    func save(contacts: [Contact]) throws(ChatClientError) {
        try self.write { database in
            try database.execute(sql: "DELETE FROM contact")
            for contact in contacts {
                try database.cachedStatement(sql: "INSERT OR REPLACE INTO contact VALUES (?, ?)")
                    .execute(arguments: [contact.user.name.rawValue, try StoredText.write(contact)])
            }
        }
    }

    func contacts() throws(ChatClientError) -> [Contact] {
        try self.read { try String.fetchAll($0, sql: "SELECT value FROM contact").map { try StoredText.read($0) } }
    }

    func users() throws(ChatClientError) -> [ChatUser] {
        try self.read { try String.fetchAll($0, sql: "SELECT value FROM user").map { try StoredText.read($0) } }
    }
}
