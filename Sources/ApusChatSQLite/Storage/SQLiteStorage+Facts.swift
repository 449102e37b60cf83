import ApusChatProtocol
import ApusChatStorage

extension SQLiteStorage {
    /// Reads the facts of a batch within its transaction.
    func facts(_ needs: Needs) throws(StorageError) -> Facts {
        var facts = Facts()
        facts.deletedAccounts = self.deletedAccounts
        for key in needs.conversations { try self.load(key, into: &facts) }
        for pair in needs.pairs where !facts.pairs.isLoaded(pair) {
            let key = try self.pair(pair)
            facts.pairs.load(pair, key)
            if let key { try self.load(key, into: &facts) }
        }
        for need in needs.links { try self.load(need, into: &facts) }
        for address in needs.scheduled where !facts.scheduled.isLoaded(address) {
            facts.scheduled.load(address, try self.scheduled(address))
        }
        for user in needs.scheduledCounts where facts.scheduledCounts[user] == nil {
            facts.scheduledCounts[user] = Int(try self.connection.statement(MaintenanceQuery.scheduledCount).with(user.rawValue).number())
        }
        for user in needs.contactCounts where facts.contactCounts[user] == nil {
            facts.contactCounts[user] = try self.connection.statement(FactQuery.contactCounts).with(user.rawValue).first {
                ContactCounts(contacts: Int($0.int(0)), blocked: Int($0.int(1)))
            }
        }
        for address in needs.members { try self.load(address, into: &facts) }
        for address in needs.sends where !facts.sends.isLoaded(address) { facts.sends.load(address, try self.sent(address)) }
        for address in needs.requests where !facts.requests.isLoaded(address) {
            let statement = try self.connection.statement(FactQuery.request)
            statement.bind(1, address.user.rawValue)
            statement.bind(2, address.id.rawValue)
            facts.requests.load(address, try statement.first { RequestColumns.row($0, at: address) } ?? nil)
        }
        for address in needs.events where !facts.events.isLoaded(address) { facts.events.load(address, try self.event(address)) }
        for address in needs.annotations where !facts.annotations.isLoaded(address) {
            facts.annotations.load(address, try self.annotation(address))
        }
        for address in needs.unseen where facts.unseen[address] == nil { facts.unseen[address] = try self.unseen(address) }
        for key in needs.accounts { try self.load(key, into: &facts) }
        for address in needs.contacts where !facts.contacts.isLoaded(address) {
            let statement = try self.connection.statement(FactQuery.contact).with(address.owner.rawValue, address.peer.rawValue)
            facts.contacts.load(address, try statement.first(ContactColumns.row))
        }
        for need in needs.skips where facts.skips[need] == nil { facts.skips[need] = try self.skipped(need) }
        for need in needs.blobs where !facts.readableBlobs.contains(need) {
            if try self.isReadable(need) { facts.readableBlobs.insert(need) }
        }
        for key in needs.successors where facts.successors[key] == nil { try self.loadSuccessors(of: key, into: &facts) }
        return facts
    }

    /// Returns a conversation from the cached rows or from the database.
    func conversation(_ key: ConversationKey) throws(StorageError) -> HotConversation? {
        if let found = self.hot.find(key) { return found }
        let found = try self.connection.statement(FactQuery.conversation).with(key.rawValue).first { row in
            let conversation = ConversationColumns.row(row)
            return HotConversation(
                slot: row.int(0), row: conversation, lastSeq: conversation.counters.lastSeq, lastN: conversation.counters.lastN)
        }
        guard let found else { return nil }
        if let pair = found.row.pair {
            let statement = try self.connection.statement(FactQuery.pairMembers)
            try statement.with(found.slot, pair.low.rawValue, pair.high.rawValue).each { row in
                let member = MemberColumns.row(row)
                found.members[member.address.user] = member
            }
        }
        self.hot.insert(found)
        return found
    }

    func member(_ user: UserKey, of conversation: HotConversation) throws(StorageError) -> MemberRow? {
        if let found = conversation.members[user] { return found }
        let statement = try self.connection.statement(FactQuery.member).with(conversation.slot, user.rawValue)
        guard let found = try statement.first({ MemberColumns.row($0) }) else { return nil }
        conversation.members[user] = found
        self.hot.addWeight(1)
        return found
    }

    private func load(_ key: ConversationKey, into facts: inout Facts) throws(StorageError) {
        guard !facts.conversations.isLoaded(key) else { return }
        let found = try self.conversation(key)
        facts.conversations.load(key, found?.row)
        if let found, let pair = found.row.pair {
            facts.members.load(MemberAddress(key, pair.low), try self.member(pair.low, of: found))
            facts.members.load(MemberAddress(key, pair.high), try self.member(pair.high, of: found))
        }
    }

    private func load(_ address: MemberAddress, into facts: inout Facts) throws(StorageError) {
        guard !facts.members.isLoaded(address) else { return }
        var row: MemberRow?
        if let conversation = try self.conversation(address.conversation) { row = try self.member(address.user, of: conversation) }
        facts.members.load(address, row)
    }

    private func load(_ key: UserKey, into facts: inout Facts) throws(StorageError) {
        guard !facts.accounts.isLoaded(key) else { return }
        var account = try self.connection.statement(FactQuery.account).with(key.rawValue).first(AccountColumns.row)
        if let own = account?.selfConversation {
            try self.load(own, into: &facts)
            try self.connection.statement(FactQuery.conversationCount).with(key.rawValue).each { row in
                account?.conversationCount = Int(row.int(0))
                account?.pinnedCount = Int(row.int(1))
                account?.invitationCount = Int(row.int(2))
            }
        }
        facts.accounts.load(key, account)
    }

    private func load(_ need: LinkNeed, into facts: inout Facts) throws(StorageError) {
        let statement = try self.connection.statement(FactQuery.link)
        statement.bind(1, need.code)
        let link = try statement.first(LinkColumns.row)
        facts.links.load(need.code, link)
        guard let link else { return }
        try self.load(link.conversation, into: &facts)
        try self.load(MemberAddress(link.conversation, need.user), into: &facts)
    }

    private func loadSuccessors(of key: ConversationKey, into facts: inout Facts) throws(StorageError) {
        var users: [UserKey] = []
        if let slot = try self.conversation(key)?.slot {
            users = try self.connection.statement(FactQuery.successors).with(slot).all { UserKey($0.int(0)) }
        }
        facts.successors[key] = users
        for user in users {
            try self.load(MemberAddress(key, user), into: &facts)
            try self.load(user, into: &facts)
        }
    }

    private func sent(_ address: SendAddress) throws(StorageError) -> SentFact? {
        guard let slot = try self.conversation(address.conversation)?.slot else { return nil }
        let statement = try self.connection.statement(FactQuery.sent)
        statement.bind(1, address.id.rawValue)
        statement.bind(2, address.sender.rawValue)
        statement.bind(3, slot)
        return try statement.first { row -> SentFact? in
            guard let hash = RequestHash(bytes: row.bytes(3)) else { return nil }
            return SentFact(hash: hash, seq: EventPlace.seq(row.int(0)), n: row.int(1), at: row.int(2))
        } ?? nil
    }

    private func event(_ address: EventAddress) throws(StorageError) -> EventRow? {
        guard address.seq > 0, let slot = try self.conversation(address.conversation)?.slot else { return nil }
        let statement = try self.connection.statement(FactQuery.event).with(EventPlace.id(slot, address.seq))
        return try statement.first { EventColumns.row($0, in: address.conversation) }
    }

    private func scheduled(_ address: ScheduledAddress) throws(StorageError) -> ScheduledRow? {
        let statement = try self.connection.statement(MaintenanceQuery.scheduled).with(address.user.rawValue)
        statement.bind(2, address.id.rawValue)
        return try statement.first(ScheduledColumns.row) ?? nil
    }

    private func unseen(_ address: EventAddress) throws(StorageError) -> [UserKey] {
        guard address.seq > 0, let slot = try self.conversation(address.conversation)?.slot else { return [] }
        let limit = Int64(Facts.maximumUnseen) + 1
        let hiders = try self.connection.statement(FactQuery.hiders).with(EventPlace.id(slot, address.seq), slot, limit)
        var users = Set(try hiders.all { UserKey($0.int(0)) })
        let latecomers = try self.connection.statement(FactQuery.latecomers).with(slot, address.seq, limit)
        users.formUnion(try latecomers.all { UserKey($0.int(0)) })
        return Array(users.sorted().prefix(Facts.maximumUnseen + 1))
    }

    private func annotation(_ address: AnnotationAddress) throws(StorageError) -> AnnotationRow? {
        guard let slot = try self.conversation(address.event.conversation)?.slot else { return nil }
        let statement = try self.connection.statement(FactQuery.annotation)
        statement.with(address.user.rawValue, EventPlace.id(slot, address.event.seq))
        return try statement.first { AnnotationColumns.row($0, at: address) }
    }
}
