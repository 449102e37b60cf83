import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Changes of a membership: leaving, roles, removal, bans.
extension BatchDecider {
    mutating func leave(_ conversation: ConversationKey, forgets: Bool, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.leave, actor, in: conversation)
        switch member.state {
        case .invited, .requested: return self.withdraw(member)
        case .joined: break
        case .left, .removed, .banned, .unknown:
            self.facts.members.modify(member.address) { $0.isGone = true }
            self.pushes.append(.head(conversation, of: actor))
            return self.unchanged(conversation)
        }
        if self.facts.conversations[conversation]?.kind == .pair {
            // A user cannot leave a pair. All messages up to now, including those of this batch,
            // are hidden from the user. The next message makes the list show the pair again.
            let last = self.facts.conversations[conversation]?.counters ?? ConversationCounters()
            self.facts.members.modify(member.address) { row in
                row.isGone = true
                row.minSeq = last.lastSeq + 1
                row.floorN = last.lastN
                row.readN = last.lastN
                row.skipped = 0
            }
            self.pushes.append(.arrived(conversation, actor, first: last.lastSeq + 1))
            self.pushes.append(.head(conversation, of: actor))
            return self.unchanged(conversation)
        }
        let answer = self.append(.memberLeave, to: conversation, by: actor, movesUp: true)
        self.depart(member.address, as: .left, last: answer.seq, forgets: forgets)
        if member.role == .owner { self.appointSuccessor(in: conversation) }
        return answer
    }

    mutating func remove(_ users: [UserKey?], from conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.remove, actor, in: conversation)
        let targets = try self.subordinates(users, to: member, in: [.joined, .invited])
        for target in targets where target.state == .invited { _ = self.withdraw(target) }
        let joined = targets.filter { $0.state == .joined }
        guard !joined.isEmpty else { return self.unchanged(conversation) }
        let answer = self.append(.memberRemove, to: conversation, by: actor, movesUp: true, body: ChangeBody.text(self.names(of: joined)))
        for target in joined { self.depart(target.address, as: .removed, last: answer.seq) }
        return answer
    }

    mutating func ban(
        _ users: [UserKey?], _ isOn: Bool, until: Int64, in conversation: ConversationKey, by actor: UserKey
    ) throws(ChatError) -> StoredAnswer {
        let until = isOn ? max(0, until) : 0
        let member = try self.authorize(.ban, actor, in: conversation)
        var targets: [MemberRow] = []
        for user in users {
            guard let user, self.facts.accounts[user] != nil, user != actor else { throw .noUser }
            let address = MemberAddress(conversation, user)
            let target = self.facts.members[address] ?? MemberRow(address: address, role: .member, state: .unknown)
            guard !isOn || target.state != .joined || target.role.rank < member.role.rank else { throw Self.rankTooHigh }
            let isChanged = (target.state == .banned) != isOn || (isOn && target.bannedUntil != until)
            if isChanged, !targets.contains(where: { $0.address == address }) { targets.append(target) }
        }
        guard !targets.isEmpty else { return self.unchanged(conversation) }
        var body = self.names(of: targets)
        if until > 0 { body["until"] = .integer(until) }
        let answer = self.append(isOn ? .memberBan : .memberUnban, to: conversation, by: actor, body: ChangeBody.text(body))
        for target in targets { self.ban(target, isOn, until: until, at: answer.seq) }
        return answer
    }

    mutating func silence(_ users: [UserKey?], until: Int64, in conversation: ConversationKey, by actor: UserKey) throws(ChatError)
        -> StoredAnswer
    {
        let member = try self.authorize(.silence, actor, in: conversation)
        let targets = try self.subordinates(users, to: member, in: [.joined])
        for target in targets {
            self.facts.members.modify(target.address) { $0.silencedUntil = max(0, until) }
            self.pushes.append(.head(conversation, of: target.address.user))
        }
        self.changeMembers(of: conversation, by: 0)
        var body = self.names(of: targets)
        if until > 0 { body["until"] = .integer(until) }
        return self.append(.memberMute, to: conversation, by: actor, body: ChangeBody.text(body))
    }

    mutating func setRole(_ role: MemberRole, of users: [UserKey?], in conversation: ConversationKey, by actor: UserKey)
        throws(ChatError) -> StoredAnswer
    {
        let member = try self.authorize(.setRole, actor, in: conversation)
        let targets = try self.subordinates(users, to: member, in: [.joined])
        guard role != .unknown, role.rank < member.role.rank else {
            throw ChatError(.forbidden, message: "`role` must be below your role, \(member.role.rawValue).", field: "role")
        }
        let changed = targets.filter { $0.role != role }
        guard !changed.isEmpty else { return self.unchanged(conversation) }
        return self.give(role, to: changed, by: actor)
    }

    mutating func transfer(_ conversation: ConversationKey, to user: UserKey?, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let owner = try self.authorize(.transfer, actor, in: conversation)
        let heirs = try self.subordinates([user], to: owner, in: [.joined])
        // The event of the new owner implies that the former owner is an admin.
        self.pushes.append(.head(conversation, of: actor))
        self.facts.members.modify(owner.address) { $0.role = .admin }
        return self.give(.owner, to: heirs, by: actor)
    }
}

extension BatchDecider {
    private static let rankTooHigh = ChatError(.forbidden, message: "The role of a named member is not below yours.")

    /// Returns the rows of users on which the actor may act. Throws if the actor may not act on one
    /// of them.
    private func subordinates(_ users: [UserKey?], to member: MemberRow, in states: [MemberState]) throws(ChatError) -> [MemberRow] {
        var rows: [MemberRow] = []
        for user in users {
            guard let user, let target = self.facts.members[MemberAddress(member.address.conversation, user)], states.contains(target.state)
            else { throw .noUser }
            guard target.state != .joined || target.role.rank < member.role.rank else { throw Self.rankTooHigh }
            if !rows.contains(where: { $0.address == target.address }) { rows.append(target) }
        }
        guard !rows.isEmpty else { throw .noUser }
        return rows
    }

    private mutating func give(_ role: MemberRole, to targets: [MemberRow], by actor: UserKey) -> StoredAnswer {
        let conversation = targets[0].address.conversation
        for target in targets {
            self.facts.members.modify(target.address) { $0.role = role }
            self.pushes.append(.head(conversation, of: target.address.user))
        }
        self.changeMembers(of: conversation, by: 0)
        var body = self.names(of: targets)
        body["role"] = .string(role.rawValue)
        return self.append(.memberRole, to: conversation, by: actor, body: ChangeBody.text(body))
    }

    private mutating func ban(_ target: MemberRow, _ isOn: Bool, until: Int64, at seq: Int64) {
        let address = target.address
        if target.state == .joined {
            self.depart(address, as: .banned, last: seq, forgets: true)
            self.facts.members.modify(address) { $0.bannedUntil = until }
            return
        }
        if target.state == .unknown { self.countConversation(of: address.user) }
        var row = target
        row.state = isOn ? .banned : .removed
        row.since = self.time
        row.bannedUntil = until
        if isOn { row.isGone = true }
        self.facts.members.set(address, row)
        self.changeMembers(of: address.conversation, by: 0)
        self.pushes.append(.head(address.conversation, of: address.user))
    }

    mutating func depart(_ address: MemberAddress, as state: MemberState, last: Int64, forgets: Bool = false) {
        let time = self.time
        self.facts.members.modify(address) { row in
            row.state = state
            row.since = time
            row.leftSeq = last
            row.isGone = forgets
        }
        self.changeMembers(of: address.conversation, by: -1)
        self.noteDeparture(of: address.user, from: address.conversation)
        // A banned user must not see any event of the conversation, so the ban itself is not
        // pushed.
        self.pushes.append(.departed(address.conversation, address.user, last: state == .banned ? 0 : last))
        self.pushes.append(.head(address.conversation, of: address.user))
    }

    /// Appoints a new owner after the owner has left, unless there is another one. The candidates
    /// are those that the storage returned before the batch, and the members that the batch
    /// changed.
    private mutating func appointSuccessor(in conversation: ConversationKey) {
        let known = (self.facts.successors[conversation] ?? []).compactMap { self.facts.members[MemberAddress(conversation, $0)] }
        let changed = self.facts.members.changed.lazy.filter { $0.address.conversation == conversation }
        let candidates = (known + changed).filter { $0.state == .joined && $0.role.rank > MemberRole.guest.rank }
        guard !candidates.contains(where: { $0.role == .owner }) else { return }
        let best = candidates.max { ($0.role.rank, $1.address.user) < ($1.role.rank, $0.address.user) }
        if let best { _ = self.give(.owner, to: [best], by: best.address.user) }
    }

    private func names(of members: [MemberRow]) -> JSONObject {
        ChangeBody.users(members.compactMap { self.facts.accounts[$0.address.user]?.name })
    }
}
