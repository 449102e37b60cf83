import ApusChatCore
import ApusChatProtocol
import ApusJSON
import GRDB

extension ChatStore {
    // MARK: The end of the log

    /// Appends events that directly follow the cursor, and applies the changes among them to the
    /// stored messages.
    static func append(
        _ events: [ChatEvent], of me: UserName, asOf: Int64?, _ effects: inout StoreEffects, _ database: Database
    ) throws {
        guard let first = events.first, let last = events.last else { return }
        let conversation = first.conversation
        let asOf = max(asOf ?? last.seq, last.seq)
        let cursor = try Int64.fetchOne(database, sql: "SELECT seq FROM cursor WHERE conversation = ?", arguments: [conversation.number])
        if cursor == nil, let stored = try self.bound("max", conversation, database), stored < first.seq - 1 {
            // A part of the history is stored, but not the events between it and the new events.
            try self.insertGap((stored + 1)...(first.seq - 1), conversation, database)
        }
        for event in events {
            try self.insert(event, asOf: asOf, database)
            effects.events[conversation, default: []].insert(event.seq)
            if let time = event.expiresAt { effects.expiry = min(effects.expiry ?? .max, time) }
            if event.sender == me { try self.noteOwn(event, &effects, database) }
        }
        for event in events where event.thread != nil || event.ref != nil && !event.kind.isMessage {
            try self.applyChange(event, &effects, database)
        }
        try database.cachedStatement(
            sql: "INSERT INTO cursor VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)"
        ).execute(arguments: [conversation.number, last.seq])
    }

    /// Inserts a part of the history. The events contain all changes up to `asOf`.
    ///
    /// - Returns: The acknowledged messages that the events replace in the outbox.
    @discardableResult
    func insertHistory(_ events: [ChatEvent], mine: [HistoryAnswer.Mine], asOf: Int64) throws(ChatClientError) -> [ClientID] {
        guard let first = events.first, let last = events.last else { return [] }
        return try self.write { database in
            let conversation = first.conversation
            let found = try Self.insertRun(events, first.seq...last.seq, conversation, asOf: asOf, database)
            try Self.save(mine, in: conversation, database)
            return found
        }
    }

    /// Inserts the events of a thread. The events between them, which are not part of the thread,
    /// become gaps.
    ///
    /// - Returns: The acknowledged messages that the events replace in the outbox.
    @discardableResult
    func insertThread(_ events: [ChatEvent], mine: [HistoryAnswer.Mine], asOf: Int64) throws(ChatClientError) -> [ClientID] {
        guard let conversation = events.first?.conversation else { return [] }
        return try self.write { database in
            var found: [ClientID] = []
            // Events after the stored end of the log arrive in order and are not inserted here.
            let end = try Int64.fetchOne(
                database, sql: "SELECT seq FROM cursor WHERE conversation = ?", arguments: [conversation.number])
            for event in events.reversed() where event.seq <= end ?? .max {
                found += try Self.insertRun([event], event.seq...event.seq, conversation, asOf: asOf, database)
            }
            try Self.save(mine, in: conversation, database)
            return found
        }
    }

    private static func insertRun(
        _ events: [ChatEvent], _ range: ClosedRange<Int64>, _ conversation: ConversationID, asOf: Int64, _ database: Database
    ) throws -> [ClientID] {
        let lowest = try self.bound("min", conversation, database)
        var found: [ClientID] = []
        for event in events {
            try self.insert(event, asOf: asOf, database)
            guard event.kind.isMessage, let id = event.id else { continue }
            // The position identifies the message: another member can use the same id.
            try database.cachedStatement(sql: "DELETE FROM outbox WHERE id = ? AND conversation = ? AND state = ? AND seq = ?")
                .execute(arguments: [id.rawValue, conversation.number, OutboxEntry.State.sent.rawValue, event.seq])
            if database.changesCount > 0 { found.append(id) }
        }
        if let lowest, range.upperBound < lowest - 1 { try self.insertGap((range.upperBound + 1)...(lowest - 1), conversation, database) }
        try self.fillGaps(range, conversation, database)
        return found
    }

    private static func bound(_ function: String, _ conversation: ConversationID, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT \(function)(seq) FROM event WHERE conversation = ?", arguments: [conversation.number])
    }

    private static func insert(_ event: ChatEvent, asOf: Int64, _ database: Database) throws {
        let event = try self.withoutExpiredContent(event, database)
        if let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT key, value, as_of FROM event WHERE conversation = ? AND seq = ?"),
            arguments: [event.conversation.number, event.seq])
        {
            // A page can be older than the stored event if an event was pushed while the page was
            // in transit.
            guard asOf >= row["as_of"] as Int64 else { return }
            return try self.replace(row["key"], try StoredText.read(row["value"]), by: event, asOf: asOf, database)
        }
        try database.cachedStatement(
            sql: """
                INSERT INTO event (conversation, seq, ref, shown, as_of, sender, kind, at, value, thread, expires)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            event.conversation.number, event.seq, event.ref, event.isShown, asOf, event.sender?.rawValue, event.kind.rawValue, event.at,
            try StoredText.write(event), event.thread, event.expiresAt,
        ])
        try self.index(database.lastInsertedRowID, event, database)
    }

    /// Returns an edit or a preview without its content if the message that it refers to had
    /// expired before the event arrived.
    private static func withoutExpiredContent(_ event: ChatEvent, _ database: Database) throws -> ChatEvent {
        guard let ref = event.ref, event.kind.repeatsContent, !event.state.isBlank else { return event }
        let message = try String.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM event WHERE conversation = ? AND seq = ?"),
            arguments: [event.conversation.number, ref])
        guard let message, try StoredText.read(message, as: ChatEvent.self).state == .expired else { return event }
        return event.expired(with: ref)
    }

    private static func replace(_ key: Int64, _ old: ChatEvent, by new: ChatEvent, asOf: Int64, _ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE event SET value = ?, kind = ?, shown = ?, as_of = ?, thread = ?, expires = ? WHERE key = ?"
        )
        .execute(arguments: [try StoredText.write(new), new.kind.rawValue, new.isShown, asOf, new.thread, new.expiresAt, key])
        guard old.searchText != new.searchText else { return }
        try self.unindex(key, old, database)
        try self.index(key, new, database)
    }

    // MARK: Changes

    private static func applyChange(_ change: ChatEvent, _ effects: inout StoreEffects, _ database: Database) throws {
        // A reply changes the thread summary of the message that began the thread.
        guard let ref = change.kind.isMessage ? change.thread : change.ref else { return }
        let edits = change.kind.isMessage ? "" : "OR ref = ?2"
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT key, value, as_of FROM event WHERE conversation = ?1 AND (seq = ?2 \(edits)) AND as_of < ?3"),
            arguments: [change.conversation.number, ref, change.seq])
        for row in rows {
            let event: ChatEvent = try StoredText.read(row["value"])
            try self.replace(row["key"], event, by: event.applying(change), asOf: change.seq, database)
            effects.events[change.conversation, default: []].insert(event.seq)
        }
    }

    /// Applies an event that the user caused on this or another device: removes a message from the
    /// outbox, or applies a reaction, a vote or hidden messages.
    private static func noteOwn(_ event: ChatEvent, _ effects: inout StoreEffects, _ database: Database) throws {
        if event.kind.isMessage, let id = event.id {
            try database.cachedStatement(sql: "DELETE FROM outbox WHERE id = ?").execute(arguments: [id.rawValue])
            return
        }
        switch ChatChange(event) {
        case .hide(let hide): try self.hide(hide, &effects, database)
        case .react(let body):
            try self.changeMine(event, database) { mine in
                mine.reactions.removeAll { $0 == body.key }
                if !body.isRemoval { mine.reactions.append(body.key) }
            }
        case .vote(let body): try self.changeMine(event, database) { $0.votes = body.options }
        default: break
        }
    }

    private static func changeMine(_ event: ChatEvent, _ database: Database, _ body: (inout HistoryAnswer.Mine) -> Void) throws {
        guard let ref = event.ref else { return }
        let stored = try String.fetchOne(
            database, sql: "SELECT value FROM mine WHERE conversation = ? AND seq = ?", arguments: [event.conversation.number, ref])
        var mine = try stored.map { try StoredText.read($0, as: HistoryAnswer.Mine.self) } ?? HistoryAnswer.Mine(seq: ref)
        body(&mine)
        try self.save([mine], in: event.conversation, database)
    }

    /// Stores the user's reactions and votes for the events of a page.
    func save(mine: [HistoryAnswer.Mine], in conversation: ConversationID) throws(ChatClientError) {
        guard !mine.isEmpty else { return }
        try self.write { try Self.save(mine, in: conversation, $0) }
    }

    static func save(_ mine: [HistoryAnswer.Mine], in conversation: ConversationID, _ database: Database) throws {
        for one in mine {
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO mine VALUES (?, ?, ?)")
                .execute(arguments: [conversation.number, one.seq, try StoredText.write(one)])
        }
    }

    /// Hides events ("delete for me"). They keep their positions in the log.
    private static func hide(_ hide: HideBody, _ effects: inout StoreEffects, _ database: Database) throws {
        for seq in hide.seqs {
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT key, value, as_of FROM event WHERE conversation = ? AND seq = ?",
                    arguments: [hide.conversation.number, seq])
            else { continue }
            let event: ChatEvent = try StoredText.read(row["value"])
            let hidden = ChatEvent.hidden(conversation: hide.conversation, seq: seq, n: event.n)
            try self.replace(row["key"], event, by: hidden, asOf: row["as_of"], database)
            effects.events[hide.conversation, default: []].insert(seq)
        }
    }

    // MARK: Messages that disappear

    /// Removes the content of the events that have expired.
    static func expire(at now: Int64, _ effects: inout StoreEffects, _ database: Database) throws {
        let rows = try Row.fetchAll(
            database.cachedStatement(sql: "SELECT key, value, as_of FROM event WHERE expires <= ?"), arguments: [now])
        for row in rows {
            let event: ChatEvent = try StoredText.read(row["value"])
            try self.replace(row["key"], event, by: event.expired(at: now), asOf: row["as_of"], database)
            effects.events[event.conversation, default: []].insert(event.seq)
            let edits = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT key, value, as_of FROM event WHERE conversation = ? AND ref = ? AND kind IN ('edit', 'preview')"),
                arguments: [event.conversation.number, event.seq])
            for row in edits {
                let edit: ChatEvent = try StoredText.read(row["value"])
                try self.replace(row["key"], edit, by: edit.expired(with: event.seq), asOf: row["as_of"], database)
            }
        }
    }

    /// Returns the time of the next expiry; nil if no event expires.
    func nextExpiry() throws(ChatClientError) -> Int64? {
        try self.read { try Int64.fetchOne($0, sql: "SELECT min(expires) FROM event WHERE expires IS NOT NULL") }
    }

    // MARK: Gaps

    static func insertGap(_ range: ClosedRange<Int64>, _ conversation: ConversationID, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO gap VALUES (?, ?, ?)", arguments: [conversation.number, range.lowerBound, range.upperBound])
    }

    private static func fillGaps(_ range: ClosedRange<Int64>, _ conversation: ConversationID, _ database: Database) throws {
        let gaps = try Row.fetchAll(
            database, sql: "SELECT first, last FROM gap WHERE conversation = ? AND first <= ? AND last >= ?",
            arguments: [conversation.number, range.upperBound, range.lowerBound])
        for gap in gaps {
            let first: Int64 = gap["first"]
            let last: Int64 = gap["last"]
            try database.execute(sql: "DELETE FROM gap WHERE conversation = ? AND first = ?", arguments: [conversation.number, first])
            if first < range.lowerBound { try self.insertGap(first...(range.lowerBound - 1), conversation, database) }
            if last > range.upperBound { try self.insertGap((range.upperBound + 1)...last, conversation, database) }
        }
    }
}
