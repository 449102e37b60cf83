package import ApusChatProtocol

extension MemoryStorage {
    package func inSnapshot<Value>(_ body: () throws -> Value) throws -> Value { try body() }

    package func position() -> SyncPosition { SyncPosition(epoch: self.epoch, position: "\(self.commit)") }

    package func heads(of user: UserKey, after cursor: HeadsCursor?, limit: Int) -> HeadsPage {
        // Creates heads only for the returned page, because counting the mentions of a conversation
        // requires a scan.
        var cursors = (self.conversationsOfUser[user] ?? []).compactMap { key -> HeadsCursor? in
            guard let conversation = self.conversations[key], let member = conversation.members[user], !member.isGone,
                !conversation.row.counters.isDeleted
            else { return nil }
            return HeadsCursor(pinnedAt: member.pinnedAt, lastAt: conversation.row.counters.lastAt, conversation: key)
        }
        if let cursor { cursors.removeAll { $0 <= cursor } }
        cursors.sort()
        let page = cursors.prefix(limit)
        let heads = page.compactMap { self.headRow(of: user, in: $0.conversation) }
        return HeadsPage(heads: heads, next: cursors.count > limit ? page.last : nil)
    }

    package func changes(of user: UserKey, after position: SyncPosition, cursor: ConversationKey?, limit: Int) -> ChangesPage {
        guard position.epoch == self.epoch, let since = Int64(position.position), since >= self.oldestPosition, since <= self.commit else {
            return .resync
        }
        var keys = (self.conversationsOfUser[user] ?? []).filter { key in
            guard let conversation = self.conversations[key], let member = conversation.members[user] else { return false }
            return member.changed > since || (conversation.row.changed > since && !member.isGone)
        }.sorted()
        if let cursor { keys.removeAll { $0 <= cursor } }
        let page = keys.prefix(limit)
        return .page(page.compactMap { self.headRow(of: user, in: $0) }, next: keys.count > limit ? page.last : nil)
    }

    package func head(of user: UserKey, in conversation: ConversationKey) -> HeadRow? { self.headRow(of: user, in: conversation) }

    package func events(in key: ConversationKey, _ selection: EventSelection, as user: UserKey, limit: Int) -> [EventView] {
        guard let conversation = self.conversations[key], !conversation.row.counters.isDeleted,
            let view = MemberView(conversation.members[user]), limit > 0
        else { return [] }
        let last = min(view.last, conversation.row.counters.lastSeq)
        func shown(_ seq: Int64) -> EventView? { conversation.view(seq, as: view, of: user) }
        func matching(from first: Int64, _ condition: @escaping (EventRow) -> Bool) -> [EventView] {
            let lower = max(first, view.first)
            guard lower <= last else { return [] }
            return Array(
                (lower...last).lazy.compactMap(shown).filter { $0.row.map(condition) ?? false }.prefix(limit))
        }
        switch selection {
        case .from(let from):
            let lower = max(from, view.first)
            return lower <= last ? (lower...last).prefix(limit).compactMap(shown) : []
        case .through(let through):
            let upper = min(through, last)
            return view.first <= upper ? (view.first...upper).suffix(limit).compactMap(shown) : []
        case .thread(let first, let from): return first > 0 ? matching(from: from) { $0.isMessage && $0.thread == first } : []
        case .threadEnd(let first, let through):
            let upper = min(through, last)
            guard first > 0, view.first <= upper else { return [] }
            let found = (view.first...upper).reversed().lazy.compactMap(shown).filter { view in
                view.row.map { $0.isMessage && $0.thread == first } ?? false
            }
            return Array(found.prefix(limit)).reversed()
        case .edits(let target): return matching(from: target) { $0.kind == .edit && $0.ref == target }
        case .pinned:
            guard view.first <= last else { return [] }
            return Array((view.first...last).reversed().lazy.compactMap(shown).filter { $0.row?.isPinned ?? false }.prefix(limit))
        }
    }

    package func reactions(to event: EventAddress, of key: String?, after cursor: UserKey?, limit: Int) -> [AnnotationRow] {
        let all = self.conversations[event.conversation]?.annotations.values.filter { row in
            row.address.event == event && row.address.user > cursor ?? UserKey(.min)
                && !row.reactions.isEmpty && key.map(row.reactions.contains) ?? true
        }
        return Array((all ?? []).sorted { $0.address.user < $1.address.user }.prefix(limit))
    }

    package func listedConversations(containing text: String, after cursor: Int64?, limit: Int) -> DirectoryPage {
        let listed = self.conversations.values.map(\.row).filter { $0.settings.listed && !$0.counters.isDeleted && $0.isFound(by: text) }
        let rows = listed.sorted { ($0.createdAt, $0.key) > ($1.createdAt, $1.key) }.dropFirst(Int(clamping: cursor ?? 0))
        var page = DirectoryPage()
        page.conversations = Array(rows.prefix(limit))
        page.next = rows.count > limit && limit > 0 ? (cursor ?? 0) + Int64(limit) : nil
        return page
    }

    package func members(
        of key: ConversationKey, in states: MemberStates, containing text: String?, after cursor: UserKey?, limit: Int
    ) -> MembersPage {
        guard let conversation = self.conversations[key] else { return MembersPage(members: [], next: nil, version: 0, total: 0) }
        var rows = conversation.members.values.filter { states.includes($0.state) }
        if let text {
            let part = NameQuery.part(text)
            rows.removeAll { member in !(self.accountRows[member.address.user].map { Self.isNamed($0, part) } ?? false) }
        }
        rows.sort { $0.address.user < $1.address.user }
        var total = Int64(rows.count)
        if text == nil, states.contains(.joined) {
            total += Int64(conversation.row.counters.memberCount) - Int64(rows.count { $0.state == .joined })
        }
        if let cursor { rows.removeAll { $0.address.user <= cursor } }
        let page = Array(rows.prefix(limit))
        return MembersPage(
            members: page, next: rows.count > limit ? page.last?.address.user : nil, version: conversation.row.counters.membersVersion,
            total: total)
    }

    /// Returns whether an account is active and its name or its nickname contains a prepared part.
    private static func isNamed(_ row: AccountRow, _ part: String) -> Bool {
        guard row.state == .active, !part.isEmpty else { return false }
        return [row.name.rawValue, row.nickname].contains { NameQuery.contains($0.lowercased(), part) }
    }

    package func staff(of key: ConversationKey, limit: Int) -> [MemberRow] {
        let rows = self.conversations[key]?.members.values.filter { $0.state == .joined && $0.role.rank >= MemberRole.admin.rank } ?? []
        return Array(rows.sorted { ($0.role.rank, $1.address.user) > ($1.role.rank, $0.address.user) }.prefix(limit))
    }

    package func readers(of key: ConversationKey, atLeast n: Int64, limit: Int) -> [UserKey] {
        let rows = self.conversations[key]?.members.values.filter { $0.state == .joined && $0.readN >= n } ?? []
        return Array(rows.map(\.address.user).sorted().prefix(limit))
    }

    package func conversations(of user: UserKey) -> [ConversationKey] {
        (self.conversationsOfUser[user] ?? []).filter { key in
            guard let conversation = self.conversations[key], !conversation.row.counters.isDeleted else { return false }
            return conversation.members[user]?.state == .joined
        }.sorted()
    }

    package func userKeys(named names: [UserName]) -> [UserKey?] { names.map { self.names[$0] } }

    package func accounts(_ keys: [UserKey]) -> [AccountRow] { keys.compactMap { self.accountRows[$0] } }

    package func accounts(after cursor: UserKey?, limit: Int) -> [AccountRow] {
        let rows = self.accountRows.values.filter { row in row.state == .active && cursor.map { row.key > $0 } ?? true }
        return Array(rows.sorted { $0.key < $1.key }.prefix(limit))
    }

    package func accounts(containing text: String, after cursor: UserKey?, limit: Int) -> [AccountRow] {
        let part = NameQuery.part(text)
        let rows = self.accountRows.values.filter { row in (cursor.map { row.key > $0 } ?? true) && Self.isNamed(row, part) }
        return Array(rows.sorted { $0.key < $1.key }.prefix(limit))
    }

    package func contacts(of owner: UserKey, after cursor: UserKey?, limit: Int) -> [ContactRow] {
        let rows = (self.contactRows[owner] ?? [:]).values.filter { row in cursor.map { row.address.peer > $0 } ?? true }
        return Array(rows.sorted { $0.address.peer < $1.address.peer }.prefix(limit))
    }

    package func links(of conversation: ConversationKey, limit: Int) -> [LinkRow] {
        Array(
            self.linkRows.values.filter { $0.conversation == conversation && !$0.isRevoked }.sorted {
                ($0.createdAt, $1.code) > ($1.createdAt, $0.code)
            }
            .prefix(limit))
    }

    package func listedConversation(_ key: ConversationKey) -> ConversationRow? {
        guard let row = self.conversations[key]?.row, row.settings.listed, !row.counters.isDeleted else { return nil }
        return row
    }

    package func link(_ code: String) -> (link: LinkRow, conversation: ConversationRow)? {
        guard let link = self.linkRows[code], let conversation = self.conversations[link.conversation] else { return nil }
        return (link, conversation.row)
    }

    package func pair(_ pair: PairAddress) -> ConversationKey? { self.pairs[pair] }

    package func expired(at time: Int64, limit: Int) -> [EventAddress] {
        let due = self.events { $0.expiresAt > 0 && $0.expiresAt <= time }
        return Array(
            due.sorted { ($0.expiresAt, $0.conversation, $0.seq) < ($1.expiresAt, $1.conversation, $1.seq) }.prefix(limit).map(\.address))
    }

    package func endedPolls(at time: Int64, limit: Int) -> [EventAddress] {
        let due = self.events { $0.closesAt > 0 && $0.closesAt <= time && !$0.isClosed }
        return Array(
            due.sorted { ($0.closesAt, $0.conversation, $0.seq) < ($1.closesAt, $1.conversation, $1.seq) }.prefix(limit).map(\.address))
    }

    private func events(where condition: (borrowing EventRow) -> Bool) -> [EventRow] {
        var found: [EventRow] = []
        for conversation in self.conversations.values {
            for index in conversation.events.indices where condition(conversation.events[index]) {
                found.append(conversation.events[index])
            }
        }
        return found
    }

    package func badge(of user: UserKey, at time: Int64) -> Int64 {
        self.rows(of: user).reduce(0) { sum, head in
            head.member.isGone || head.member.mutedUntil > time ? sum : sum + head.unread
        }
    }

    package func events(of conversation: ConversationKey, before time: Int64, limit: Int) -> [EventAddress] {
        let events = self.conversations[conversation]?.events ?? []
        return Array(events.lazy.filter { $0.isMessage && !$0.state.isBlank && $0.at < time }.prefix(limit).map(\.address))
    }

    package func scheduled(of user: UserKey, limit: Int) -> [ScheduledRow] {
        Array(self.scheduledRows.values.filter { $0.address.user == user }.sorted(by: Self.precedes).prefix(limit))
    }

    package func dueScheduled(at time: Int64, limit: Int) -> [ScheduledRow] {
        Array(self.scheduledRows.values.filter { $0.sendAt <= time && $0.failure.isEmpty }.sorted(by: Self.precedes).prefix(limit))
    }

    private static func precedes(_ one: ScheduledRow, _ other: ScheduledRow) -> Bool {
        (one.sendAt, one.address.user, one.address.id.rawValue) < (other.sendAt, other.address.user, other.address.id.rawValue)
    }

    package func calls(limit: Int) -> [EventAddress] {
        let rows = self.conversations.values.map(\.row).filter { $0.counters.callSeq > 0 }
        return rows.sorted { $0.key < $1.key }.prefix(limit).map { EventAddress($0.key, $0.counters.callSeq) }
    }

    package func deletedConversations(limit: Int) -> [ConversationKey] {
        let rows = self.conversations.values.map(\.row).filter { $0.counters.isDeleted && $0.counters.memberCount > 0 }
        return Array(rows.map(\.key).sorted().prefix(limit))
    }

    package func deletedAccounts(limit: Int) -> [UserKey] {
        Array(self.accountRows.values.filter { $0.state == .deleted && !$0.isErased }.map(\.key).sorted().prefix(limit))
    }

    package func memberships(of user: UserKey, after cursor: ConversationKey?, limit: Int) -> [ConversationKey] {
        let keys = (self.conversationsOfUser[user] ?? []).filter { key in cursor.map { key > $0 } ?? true }
        return Array(keys.sorted().prefix(limit))
    }

    package func events(of conversation: ConversationKey, by sender: UserKey, after seq: Int64, changes: Bool, limit: Int) -> SenderPage {
        let last = self.conversations[conversation]?.row.counters.lastSeq ?? 0
        let start = max(0, min(seq, last))
        let (first, end) = (start + 1, min(last, start + SenderPage.window))
        guard first <= end else { return SenderPage(events: [], next: nil) }
        let rows = (first...end).lazy.compactMap { self.conversations[conversation]?.event($0) }
        let found = rows.filter { $0.sender == sender && !$0.state.isBlank && !$0.body.isEmpty && (changes || $0.isMessage) }
        let events = Array(found.map(\.address).prefix(limit))
        if events.count == limit, let last = events.last { return SenderPage(events: events, next: last.seq) }
        return SenderPage(events: events, next: end < last ? end : nil)
    }

    package func mayRead(_ need: BlobNeed) -> Bool { self.isReadable(need) }

    private func headRow(of user: UserKey, in key: ConversationKey) -> HeadRow? {
        guard var head = self.conversations[key]?.head(of: user) else { return nil }
        if head.member.draftSeq > 0, !head.conversation.counters.isDeleted, let own = self.accountRows[user]?.selfConversation {
            let draft = self.conversations[own]?.event(head.member.draftSeq)
            head.draft = draft?.body ?? ""
            head.draftAt = draft?.at ?? 0
        }
        return head
    }

    private func rows(of user: UserKey) -> [HeadRow] {
        (self.conversationsOfUser[user] ?? []).compactMap { self.headRow(of: user, in: $0) }
    }
}
