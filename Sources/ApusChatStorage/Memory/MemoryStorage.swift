import ApusChatProtocol

/// A storage in memory, for the simulator and for tests. The data is lost when the object is
/// released.
package final class MemoryStorage: ChatStorage {
    /// The data epoch. Tests that restore or copy data change it.
    package var epoch: String
    package private(set) var commit: Int64 = 0
    /// The oldest position for which changes are returned; earlier positions are answered with
    /// `resync`.
    package var oldestPosition: Int64 = 0

    var conversations: [ConversationKey: MemoryConversation] = [:]
    var conversationsOfUser: [UserKey: Set<ConversationKey>] = [:]
    var pairs: [PairAddress: ConversationKey] = [:]
    var accountRows: [UserKey: AccountRow] = [:]
    private var deletedAccounts: Set<UserKey> = []
    var names: [UserName: UserKey] = [:]
    var contactRows: [UserKey: [UserKey: ContactRow]] = [:]
    var linkRows: [String: LinkRow] = [:]
    var requests: [RequestAddress: RequestRow] = [:]
    var scheduledRows: [ScheduledAddress: ScheduledRow] = [:]
    var uploads: Set<BlobNeed> = []
    var signIns = MemoryCredentials()
    package private(set) var reports: [ReportRow] = []
    private var isInBatch = false

    package init(epoch: String = "memory") { self.epoch = epoch }

    package func begin(_ needs: Needs) throws(StorageError) -> Facts {
        guard !self.isInBatch else {
            throw StorageError(.invalidUse, message: "`begin` was called before the previous batch was committed or abandoned")
        }
        self.isInBatch = true
        var facts = Facts()
        facts.deletedAccounts = self.deletedAccounts
        for key in needs.conversations { self.load(key, into: &facts) }
        for pair in needs.pairs {
            let key = self.pairs[pair]
            facts.pairs.load(pair, key)
            if let key { self.load(key, into: &facts) }
        }
        for need in needs.links {
            let link = self.linkRows[need.code]
            facts.links.load(need.code, link)
            if let link {
                self.load(link.conversation, into: &facts)
                self.load(MemberAddress(link.conversation, need.user), into: &facts)
            }
        }
        for address in needs.scheduled { facts.scheduled.load(address, self.scheduledRows[address]) }
        for user in needs.scheduledCounts { facts.scheduledCounts[user] = self.scheduledRows.keys.count { $0.user == user } }
        for user in needs.contactCounts {
            let rows = self.contactRows[user, default: [:]].values
            facts.contactCounts[user] = ContactCounts(
                contacts: rows.count { $0.relation != .none }, blocked: rows.count(where: \.isBlocked))
        }
        for address in needs.members { self.load(address, into: &facts) }
        for address in needs.sends { facts.sends.load(address, self.sent(address)) }
        for address in needs.requests { facts.requests.load(address, self.requests[address]) }
        for address in needs.events { facts.events.load(address, self.conversations[address.conversation]?.event(address.seq)) }
        for address in needs.annotations { facts.annotations.load(address, self.annotation(address)) }
        for address in needs.unseen { facts.unseen[address] = self.conversations[address.conversation]?.unseen(address.seq) ?? [] }
        for key in needs.accounts { self.load(key, into: &facts) }
        for address in needs.contacts { facts.contacts.load(address, self.contactRows[address.owner]?[address.peer]) }
        for need in needs.skips {
            facts.skips[need] = self.conversations[need.member.conversation]?.skipped(need.member.user, above: need.above) ?? 0
        }
        for need in needs.blobs where self.isReadable(need) { facts.readableBlobs.insert(need) }
        for key in needs.successors {
            let candidates = self.successors(in: key)
            facts.successors[key] = candidates
            for user in candidates {
                self.load(MemberAddress(key, user), into: &facts)
                self.load(user, into: &facts)
            }
        }
        return facts
    }

    package func commit(_ changes: Changes) throws(StorageError) -> CommitStamp {
        guard self.isInBatch else { throw StorageError(.invalidUse, message: "`commit` was called without a batch; call `begin` first") }
        self.isInBatch = false
        guard !changes.isEmpty else { return CommitStamp(commit: self.commit) }
        try self.examine(changes)
        self.commit += 1
        for change in changes.conversations { self.write(change) }
        for event in changes.events { self.conversations[event.conversation]?.append(event) }
        for event in changes.targets { self.conversations[event.conversation]?.replace(event) }
        for removal in changes.folderRemovals { self.write(removal) }
        for member in changes.members { self.write(member) }
        for annotation in changes.annotations { self.write(annotation) }
        for reference in changes.blobReferences {
            self.conversations[reference.event.conversation]?.blobs[reference.blob, default: []].append(reference.event.seq)
        }
        for blank in changes.blanks { self.conversations[blank.address.conversation]?.blank(blank.address.seq, blank.state) }
        for request in changes.requests { self.requests[request.address] = request }
        for account in changes.accounts { self.write(account) }
        for contact in changes.contacts {
            var row = contact
            row.changed = self.commit
            self.contactRows[contact.address.owner, default: [:]][contact.address.peer] = row
        }
        for link in changes.links { self.linkRows[link.code] = link }
        self.reports += changes.reports
        for row in changes.scheduled { self.scheduledRows[row.address] = row }
        for address in changes.unscheduled { self.scheduledRows[address] = nil }
        self.write(changes.credentials)
        return CommitStamp(commit: self.commit)
    }

    package func abandon() { self.isInBatch = false }

    package func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int {
        guard !self.isInBatch else { throw StorageError(.invalidUse, message: "`forgetRequests` was called within a batch") }
        let old = self.requests.values.filter { $0.at < time }.sorted { $0.at < $1.at }.prefix(limit)
        for row in old { self.requests[row.address] = nil }
        return old.count
    }

    /// Adds an account with its self conversation, as the accounts service does.
    package func addAccount(_ row: AccountRow, at time: Int64) {
        self.write(row)
        let conversation = ConversationRow(key: row.selfConversation, kind: .own, createdAt: time, settings: ConversationSettings())
        self.conversations[row.selfConversation] = MemoryConversation(row: conversation)
        self.conversations[row.selfConversation]?.row.counters.memberCount = 1
        self.write(MemberRow(address: MemberAddress(row.selfConversation, row.key), role: .owner, state: .joined))
    }

    /// Records that a user uploaded a blob and may refer to it.
    package func addUpload(_ need: BlobNeed) { self.uploads.insert(need) }
}

extension MemoryStorage {
    private func load(_ key: ConversationKey, into facts: inout Facts) {
        guard !facts.conversations.isLoaded(key) else { return }
        let row = self.conversations[key]?.row
        facts.conversations.load(key, row)
        if let pair = row?.pair {
            self.load(MemberAddress(key, pair.low), into: &facts)
            self.load(MemberAddress(key, pair.high), into: &facts)
        }
    }

    private func load(_ key: UserKey, into facts: inout Facts) {
        guard !facts.accounts.isLoaded(key) else { return }
        var row = self.accountRows[key]
        if let own = row?.selfConversation {
            self.load(own, into: &facts)
            row?.conversationCount = 0
            row?.pinnedCount = 0
            row?.invitationCount = 0
            for conversation in self.conversationsOfUser[key] ?? [] {
                guard let member = self.conversations[conversation]?.members[key], !member.isGone else { continue }
                row?.conversationCount += 1
                if member.pinnedAt > 0 { row?.pinnedCount += 1 }
                if member.state == .invited { row?.invitationCount += 1 }
            }
        }
        facts.accounts.load(key, row)
    }

    private func load(_ address: MemberAddress, into facts: inout Facts) {
        facts.members.load(address, self.conversations[address.conversation]?.members[address.user])
    }

    private func sent(_ address: SendAddress) -> SentFact? {
        guard let conversation = self.conversations[address.conversation],
            let seq = conversation.sent[.init(sender: address.sender, id: address.id)], let event = conversation.event(seq),
            let hash = event.hash
        else { return nil }
        return SentFact(hash: hash, seq: seq, n: event.n, at: event.at)
    }

    private func annotation(_ address: AnnotationAddress) -> AnnotationRow? {
        self.conversations[address.event.conversation]?.annotations[.init(seq: address.event.seq, user: address.user)]
    }

    func isReadable(_ need: BlobNeed) -> Bool {
        if self.uploads.contains(BlobNeed(user: need.user, blob: need.blob)) { return true }
        for key in self.conversationsOfUser[need.user] ?? [] {
            guard let conversation = self.conversations[key], let member = conversation.members[need.user], let view = MemberView(member),
                member.state == .joined || !need.asMember
            else { continue }
            for seq in conversation.blobs[need.blob] ?? [] where conversation.view(seq, as: view, of: need.user)?.row != nil { return true }
        }
        return false
    }

    private func successors(in key: ConversationKey) -> [UserKey] {
        let members = (self.conversations[key]?.members.values).map(Array.init) ?? []
        let candidates = members.filter { $0.state == .joined && $0.role.rank > MemberRole.guest.rank }
        return candidates.sorted { ($0.role.rank, $1.address.user) > ($1.role.rank, $0.address.user) }.prefix(9).map(\.address.user)
    }

    /// Throws if the events do not continue their logs. Nothing is written then.
    private func examine(_ changes: Changes) throws(StorageError) {
        var ends: [ConversationKey: Int] = [:]
        for change in changes.conversations where change.row != nil { ends[change.key] = 0 }
        for event in changes.events {
            let key = event.conversation
            guard let end = self.conversations[key]?.events.count ?? ends[key] else { continue }
            let last = Int64(max(end, ends[key] ?? 0))
            guard event.seq == last + 1 else {
                throw StorageError(.invalidUse, message: "the event has seq \(event.seq) after \(last)")
            }
            ends[key] = Int(event.seq)
        }
    }

    private func write(_ change: ConversationChange) {
        if let conversation = self.conversations[change.key] {
            if let row = change.row { conversation.row = row }
            conversation.row.counters = change.counters
            conversation.row.changed = self.commit
        } else if var row = change.row {
            row.counters = change.counters
            row.changed = self.commit
            self.conversations[change.key] = MemoryConversation(row: row)
            if let pair = row.pair { self.pairs[pair] = row.key }
        }
    }

    private func write(_ member: MemberRow) {
        let address = member.address
        var row = member
        row.changed = self.commit
        self.conversations[address.conversation]?.members[address.user] = row
        if member.state != .joined || member.changed == 0 {  // the row of a joined member is indexed already
            self.conversationsOfUser[address.user, default: []].insert(address.conversation)
        }
    }

    private func write(_ removal: FolderRemoval) {
        for key in self.conversationsOfUser[removal.user] ?? [] {
            guard let conversation = self.conversations[key], let row = conversation.members[removal.user],
                row.folders & removal.folders != 0
            else { continue }
            conversation.members[removal.user]?.folders &= ~removal.folders
            conversation.members[removal.user]?.changed = self.commit
        }
    }

    private func write(_ annotation: AnnotationRow) {
        let address = annotation.address
        self.conversations[address.event.conversation]?.annotations[.init(seq: address.event.seq, user: address.user)] =
            annotation.isEmpty ? nil : annotation
    }

    private func write(_ account: AccountRow) {
        var row = account
        row.changed = self.commit
        self.accountRows[account.key] = row
        if account.state == .deleted { self.deletedAccounts.insert(account.key) }
        self.names[account.name] = account.key
    }
}
