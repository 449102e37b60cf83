import ApusChatProtocol
import ApusChatStorage

/// Reads the log of one conversation as one member may see it.
struct LogReader {
    let connection: SQLiteConnection
    let conversation: ConversationKey
    let slot: Int64
    let user: UserKey
    let view: MemberView

    func events(_ selection: EventSelection, limit: Int) throws(StorageError) -> [EventView] {
        switch selection {
        case .from(let from): return try self.page(.forwards, from: from, through: self.view.last, limit: limit)
        case .through(let through): return try self.page(.backwards, from: self.view.first, through: through, limit: limit).reversed()
        case .thread(let first, let from): return try self.shown(.thread, of: first, from: from, limit: limit)
        case .threadEnd(let first, let through): return try self.lastShown(of: first, through: through, limit: limit)
        case .edits(let target): return try self.shown(.edits, of: target, from: target, limit: limit)
        case .pinned:
            var events: [EventView] = []
            for seq in try self.pins() {
                if let event = try self.event(seq), event.row?.isPinned ?? false { events.append(event) }
                if events.count == limit { break }
            }
            return events
        }
    }

    /// Returns one event; nil if it is outside of the visible range.
    func event(_ seq: Int64) throws(StorageError) -> EventView? {
        guard seq > 0, self.view.contains(seq) else { return nil }
        let found = try self.connection.statement(FactQuery.event).with(EventPlace.id(self.slot, seq)).first {
            EventColumns.row($0, in: self.conversation)
        }
        guard let row = found else { return nil }
        return try self.views([row]).first
    }

    /// Returns the `seq` of each pinned message in the visible range, newest first; at most 1,000.
    func pins() throws(StorageError) -> [Int64] {
        let statement = try self.connection.statement(LogQuery.pins)
        statement.with(EventPlace.id(self.slot, self.view.first), EventPlace.id(self.slot, self.view.last), 1_000)
        return try statement.all { EventPlace.seq($0.int(0)) }
    }

    /// Returns whether an event is hidden from the member.
    func isHidden(_ seq: Int64) throws(StorageError) -> Bool {
        let statement = try self.connection.statement(LogQuery.isHidden)
        return try statement.with(self.user.rawValue, EventPlace.id(self.slot, seq)).first { $0.bool(0) } ?? false
    }

    private func page(_ query: LogQuery, from: Int64, through: Int64, limit: Int, of target: Int64 = 0) throws(StorageError) -> [EventView]
    {
        try self.views(try self.rows(query, from: from, through: through, limit: limit, of: target))
    }

    private func rows(_ query: LogQuery, from: Int64, through: Int64, limit: Int, of target: Int64 = 0) throws(StorageError) -> [EventRow] {
        let (first, last) = (max(from, self.view.first), min(through, self.view.last))
        // The id of a larger `seq` is clamped to that of the largest one.
        guard first <= last, first <= EventPlace.largestSeq else { return [] }
        let statement = try self.connection.statement(query)
        statement.with(EventPlace.id(self.slot, first), EventPlace.id(self.slot, last), Int64(limit))
        if target > 0 { statement.bind(4, EventPlace.id(self.slot, target)) }
        return try statement.all { EventColumns.row($0, in: self.conversation) }
    }

    /// Returns the events that refer to a target, without hidden ones. Reads rows until the page is
    /// full or no rows remain.
    private func shown(_ query: LogQuery, of target: Int64, from: Int64, limit: Int) throws(StorageError) -> [EventView] {
        guard target > 0 else { return [] }
        var events: [EventView] = []
        var next = from
        while events.count < limit {
            let rows = try self.rows(query, from: next, through: self.view.last, limit: limit, of: target)
            events += try self.views(rows).filter { $0.row != nil }
            guard rows.count == limit, let last = rows.last else { break }
            next = last.seq + 1
        }
        return Array(events.prefix(limit))
    }

    /// Returns the last replies of a thread, without those that are hidden.
    private func lastShown(of thread: Int64, through end: Int64, limit: Int) throws(StorageError) -> [EventView] {
        guard thread > 0 else { return [] }
        var events: [EventView] = []
        var next = end
        while events.count < limit {
            let rows = try self.rows(.threadEnd, from: self.view.first, through: next, limit: limit, of: thread)
            events += try self.views(rows).filter { $0.row != nil }
            guard rows.count == limit, let first = rows.last else { break }
            next = first.seq - 1
        }
        return events.prefix(limit).reversed()
    }

    /// Returns rows as the member may see them, with the annotations of the member.
    private func views(_ rows: [EventRow]) throws(StorageError) -> [EventView] {
        guard let first = rows.lazy.map(\.seq).min(), let last = rows.lazy.map(\.seq).max() else { return [] }
        var own: [Int64: AnnotationRow] = [:]
        let statement = try self.connection.statement(LogQuery.ownAnnotations)
        statement.with(self.user.rawValue, EventPlace.id(self.slot, first), EventPlace.id(self.slot, last))
        try statement.each { row in
            let seq = EventPlace.seq(row.int(0))
            own[seq] = AnnotationColumns.row(row, at: AnnotationAddress(EventAddress(self.conversation, seq), self.user))
        }
        var hiddenTargets: Set<Int64> = []
        for row in rows where !row.isMessage && row.ref > 0 && (row.ref < first || row.ref > last) {
            if try self.isHidden(row.ref) { hiddenTargets.insert(row.ref) }
        }
        return rows.compactMap { row in
            let event = self.view.view(of: row) { (own[$0]?.isHidden ?? false) || hiddenTargets.contains($0) }
            guard var event else { return nil }
            self.view.attach(own[row.seq], to: &event)
            return event
        }
    }
}
