import ApusChatProtocol
import ApusChatStorage

extension SQLiteReads {
    /// The position of a conversation in a user's list.
    private struct Place {
        let slot: Int64
        let cursor: HeadsCursor

        init(_ row: SQLiteStatement) {
            self.slot = row.int(0)
            self.cursor = HeadsCursor(pinnedAt: row.int(2), lastAt: row.int(3), conversation: ConversationKey(row.int(1)))
        }
    }

    /// Determines the positions of the page first, and then reads only the heads of these
    /// conversations.
    func headsPage(of user: UserKey, after cursor: HeadsCursor?, limit: Int) throws(StorageError) -> HeadsPage {
        var places: [Place] = []
        if cursor == nil || cursor?.pinnedAt ?? 0 > 0 {
            // Reads all pinned conversations. There are at most `ChatLimits.pinnedConversations`.
            let pinned = try self.connection.statement(ListQuery.pinnedPlaces).with(user.rawValue, 10_000).all(Place.init)
            places = pinned.filter { place in cursor.map { $0 < place.cursor } ?? true }
        }
        if places.count <= limit {
            let start = cursor.flatMap { $0.pinnedAt == 0 ? $0 : nil }
            let statement = try self.connection.statement(ListQuery.places)
            statement.with(user.rawValue, Int64(limit) + 1, start?.lastAt ?? .max, start?.conversation.rawValue ?? .min)
            places += try statement.all(Place.init)
        }
        var heads: [HeadRow] = []
        for place in places.prefix(limit) {
            if let head = try self.headRow(of: user, slot: place.slot) { heads.append(head) }
        }
        // The cursor has the stored values, which the next page compares.
        return HeadsPage(heads: heads, next: places.count > limit ? places.prefix(limit).last?.cursor : nil)
    }

    func changesPage(of user: UserKey, after position: SyncPosition, cursor: ConversationKey?, limit: Int) throws(StorageError)
        -> ChangesPage
    {
        let now = try self.position()
        guard position.epoch == now.epoch, let since = Int64(position.position), let last = Int64(now.position), since >= 0, since <= last
        else { return .resync }
        if since == last { return .page([], next: nil) }
        let statement = try self.connection.statement(ListQuery.changedPlaces)
        let places = try statement.with(user.rawValue, Int64(limit) + 1, cursor?.rawValue ?? .min, since).all {
            (slot: $0.int(0), conversation: ConversationKey($0.int(1)))
        }
        var heads: [HeadRow] = []
        for place in places.prefix(limit) {
            if let head = try self.headRow(of: user, slot: place.slot) { heads.append(head) }
        }
        // A damaged database can have no row of the last conversations of the page.
        return .page(heads, next: places.count > limit ? places.prefix(limit).last?.conversation : nil)
    }

    /// Returns one head; nil if the user has no row in the conversation.
    func headRow(of user: UserKey, slot: Int64) throws(StorageError) -> HeadRow? {
        let found = try self.connection.statement(ListQuery.head).with(slot, user.rawValue).first { row in
            (MemberColumns.row(row), ConversationColumns.row(row, at: MemberColumns.count))
        }
        guard let (member, conversation) = found else { return nil }
        let counters = conversation.counters
        if counters.isDeleted {
            var member = member
            member.isGone = true
            return HeadRow(conversation: conversation, member: member, unread: 0, mentions: 0, last: nil)
        }
        var head = HeadRow(
            conversation: conversation, member: member, unread: member.unread(lastN: counters.lastN),
            mentions: try self.mentions(of: member, slot: slot), last: nil)
        if let view = MemberView(member) {
            let log = LogReader(connection: self.connection, conversation: conversation.key, slot: slot, user: user, view: view)
            head.last = try log.event(min(counters.previewSeq, view.last))
            head.pins = try self.pins(log)
        }
        if member.draftSeq > 0 { (head.draft, head.draftAt) = try self.draft(of: user, at: member.draftSeq) }
        return head
    }

    private func pins(_ log: LogReader) throws(StorageError) -> [Int64] {
        var seqs: [Int64] = []
        for seq in try log.pins() where !(try log.isHidden(seq)) { seqs.append(seq) }
        return seqs
    }

    private func mentions(of member: MemberRow, slot: Int64) throws(StorageError) -> Int64 {
        guard member.state == .joined else { return 0 }
        var count: Int64 = 0
        for query in [ListQuery.mentions, .mentionsOfAll] {
            let statement = try self.connection.statement(query)
            statement.with(
                member.address.user.rawValue, slot, max(member.readN, member.floorN), EventPlace.id(slot, member.minSeq))
            count += try statement.number()
        }
        return count
    }

    private func draft(of user: UserKey, at seq: Int64) throws(StorageError) -> (body: String, at: Int64) {
        guard let slot = try self.connection.statement(ListQuery.draftSlot).with(user.rawValue).first({ $0.int(0) }) else { return ("", 0) }
        return try self.connection.statement(LogQuery.body).with(EventPlace.id(slot, seq)).first { ($0.text(0), $0.int(1)) } ?? ("", 0)
    }
}

extension SQLiteReads {
    /// Returns whether a user uploaded a blob, or sees an event that refers to it.
    func isReadable(_ need: BlobNeed) throws(StorageError) -> Bool {
        let upload = try self.connection.statement(FactQuery.isUploaded)
        upload.bind(1, need.blob.rawValue)
        upload.bind(2, need.user.rawValue)
        if try upload.first({ _ in true }) ?? false { return true }
        let statement = try self.connection.statement(FactQuery.readableEvents)
        statement.bind(1, need.blob.rawValue)
        statement.bind(2, need.user.rawValue)
        let candidates = try statement.all { (MemberColumns.row($0), $0.int(MemberColumns.count)) }
        for (member, id) in candidates {
            guard let view = MemberView(member), member.state == .joined || !need.asMember else { continue }
            let log = LogReader(
                connection: self.connection, conversation: member.address.conversation, slot: EventPlace.slot(id), user: need.user,
                view: view)
            if try log.event(EventPlace.seq(id))?.row != nil { return true }
        }
        return false
    }
}
