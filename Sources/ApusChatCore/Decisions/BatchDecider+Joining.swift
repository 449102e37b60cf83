import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// The ways in which users become members: by a member who adds them, by an invitation, by the
// setting `join`, and by a link.
extension BatchDecider {
    mutating func invite(_ users: [UserKey?], to conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.invite, actor, in: conversation)
        let isNamedOnce = users.count == 1
        if isNamedOnce, users[0] == nil { throw .noUser }
        guard let row = self.facts.conversations[conversation] else { throw .noConversation }
        let cap = row.kind == .channel ? ChatLimits.channelMembers : ChatLimits.groupMembers
        guard row.counters.memberCount + users.count <= cap else {
            throw ChatError(.limit, message: "A conversation of the kind `\(row.kind.rawValue)` has at most \(cap) members.")
        }
        let newcomers = self.newcomers(users.compactMap { $0 }, to: conversation, by: actor)
        try self.checkInvitations(newcomers.invited.count, of: actor)
        return self.bring(newcomers, to: conversation, by: actor) ?? self.unchanged(conversation)
    }

    /// The users who become members immediately, and the users who are invited.
    struct Newcomers {
        var added: [UserKey] = []
        var invited: [UserKey] = []
    }

    /// Divides users into those that can be added, because their setting `add` includes the actor,
    /// and those to invite. Omits users who can be neither added nor invited.
    func newcomers(_ users: [UserKey], to conversation: ConversationKey, by actor: UserKey) -> Newcomers {
        var (added, invited): ([UserKey], [UserKey]) = ([], [])
        let mayUnban = (try? self.authorize(.ban, actor, in: conversation)) != nil
        for user in users where user != actor && !added.contains(user) && !invited.contains(user) {
            guard let account = self.facts.accounts[user], account.state == .active,
                account.conversationCount < ChatLimits.conversations
            else { continue }
            let relation = self.facts.contacts[ContactAddress(owner: user, peer: actor)]
            let member = self.facts.members[MemberAddress(conversation, user)]
            guard member?.state != .joined, member?.state != .invited, !(member?.isBanned(at: self.time) ?? false) || mayUnban
            else { continue }
            // A user who left is not added without an invitation, even by a contact.
            if Self.adds(account, relation), member?.state != .left {
                added.append(user)
            } else if account.invitationCount < ChatLimits.openInvitations {
                invited.append(user)
            }
        }
        return Newcomers(added: added, invited: invited)
    }

    /// Adds or invites users. An invited user who blocks the actor does not see the invitation. If
    /// the user already lists the conversation, as a former member or with a request to join, its
    /// entry does not change.
    ///
    /// - Returns: The answer for the last event; nil if no event was added.
    @discardableResult
    mutating func bring(_ newcomers: Newcomers, to conversation: ConversationKey, by actor: UserKey) -> StoredAnswer? {
        let (added, invited) = (newcomers.added, newcomers.invited)
        var answer: StoredAnswer?
        if !invited.isEmpty {
            self.countInvitations(invited.count, of: actor)
            let names = invited.compactMap { self.facts.accounts[$0]?.name }
            answer = self.append(.memberInvite, to: conversation, by: actor, movesUp: true, body: ChangeBody.text(ChangeBody.users(names)))
            for user in invited {
                let isBlocked = self.facts.contacts[ContactAddress(owner: user, peer: actor)]?.isBlocked ?? false
                if isBlocked, self.facts.members[MemberAddress(conversation, user)]?.isGone == false { continue }
                self.place(user, in: conversation, as: .invited, by: actor, isUnseen: isBlocked)
            }
        }
        if !added.isEmpty {
            let names = added.compactMap { self.facts.accounts[$0]?.name }
            answer = self.append(.memberJoin, to: conversation, by: actor, movesUp: true, body: ChangeBody.join(names, via: "add"))
            for user in added { self.enter(user, conversation, invitedBy: actor, at: answer?.seq ?? 0) }
        }
        return answer
    }

    mutating func answerInvitation(to conversation: ConversationKey, accepts: Bool, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.accept, actor, in: conversation)
        guard member.state == .invited else { throw .noInvitation }
        guard accepts else { return self.withdraw(member) }
        return try self.joinAtOnce(actor, conversation, invitedBy: member.invitedBy, via: "invite")
    }

    mutating func join(_ conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let row = self.facts.conversations[conversation], row.kind == .group || row.kind == .channel,
            !row.counters.isDeleted
        else { throw .noConversation }
        let member = self.facts.members[MemberAddress(conversation, actor)]
        if member?.state == .joined || member?.state == .requested { return self.unchanged(conversation) }
        if member?.state == .invited {
            return try self.joinAtOnce(actor, conversation, invitedBy: member?.invitedBy ?? actor, via: "invite")
        }
        try Permissions.check(.join, of: member, in: row, at: self.time)
        switch row.settings.join {
        case .open: return try self.joinAtOnce(actor, conversation, invitedBy: UserKey(0), via: "directory")
        case .approval: return try self.requestToJoin(actor, conversation, role: row.kind == .channel ? .reader : .member)
        case .closed, .unknown: throw .noConversation
        }
    }

    mutating func join(byLink code: String, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let link = self.facts.links[code], self.facts.conversations[link.conversation]?.counters.isDeleted == false else {
            throw .noLink
        }
        let member = self.facts.members[MemberAddress(link.conversation, actor)]
        switch member?.state {
        case .joined, .requested: return self.unchanged(link.conversation)
        case .banned where member?.isBanned(at: self.time) != false: throw .noLink
        case .banned, .invited, .left, .removed, .unknown, nil: break
        }
        guard !link.isRevoked, link.usesLeft != 0, link.expiresAt == 0 || link.expiresAt > self.time else { throw .noLink }
        let answer =
            link.needsApproval
            ? try self.requestToJoin(actor, link.conversation, role: link.role)
            : try self.joinAtOnce(actor, link.conversation, invitedBy: link.creator, via: "link", role: link.role)
        self.facts.links.modify(code) { row in
            row.used += 1
            if row.usesLeft > 0 { row.usesLeft -= 1 }
        }
        return answer
    }

    mutating func answerRequest(of user: UserKey?, to conversation: ConversationKey, approves: Bool, by actor: UserKey) throws(ChatError)
        -> StoredAnswer
    {
        _ = try self.authorize(.approve, actor, in: conversation)
        guard let user, let member = self.facts.members[MemberAddress(conversation, user)], member.state == .requested else {
            throw .noUser
        }
        guard approves else { return self.withdraw(member) }
        return try self.joinAtOnce(user, conversation, invitedBy: actor, via: "approval", role: member.role)
    }

    mutating func createLink(_ terms: LinkTerms, for conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.manageLinks, actor, in: conversation)
        guard [.member, .reader, .guest].contains(terms.role) else {
            throw ChatError(.badRequest, message: "`role` must be `member`, `reader` or `guest`.", field: "role")
        }
        guard self.facts.links[terms.code] == nil else {
            throw ChatError(.internal, message: "The random code of the new link is already used. Send the request again.")
        }
        guard (self.facts.conversations[conversation]?.counters.linkCount ?? 0) < ChatLimits.links else {
            throw ChatError(.limit, message: "A conversation has at most \(ChatLimits.links) invite links. Revoke one.")
        }
        self.facts.conversations.modify(conversation) { $0.counters.linkCount += 1 }
        let link = LinkRow(
            code: terms.code, conversation: conversation, creator: actor, createdAt: self.time, role: terms.role,
            expiresAt: terms.expiresAt,
            usesLeft: terms.uses ?? -1, needsApproval: terms.needsApproval)
        self.facts.links.set(terms.code, link)
        return StoredAnswer(conversation: conversation, seq: 0, n: 0, at: self.time, text: terms.code)
    }

    mutating func revokeLink(_ code: String, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let link = self.facts.links[code] else { throw .noLink }
        // A user who may not manage links must not learn from the answer whether the code exists.
        guard (try? self.authorize(.manageLinks, actor, in: link.conversation)) != nil else { throw .noLink }
        guard !link.isRevoked else { return self.unchanged(link.conversation) }
        self.facts.links.modify(code) { $0.isRevoked = true }
        self.facts.conversations.modify(link.conversation) { $0.counters.linkCount -= 1 }
        return self.unchanged(link.conversation)
    }
}

extension BatchDecider {
    /// Checks the number of invitations of a user on one day, so that one account cannot fill the
    /// lists of other users.
    func checkInvitations(_ count: Int, of user: UserKey) throws(ChatError) {
        guard let account = self.facts.accounts[user] else { throw .noUser }
        let day = self.time / Self.day
        let used = account.invitationDay == day ? account.invitationsToday : 0
        guard count == 0 || used + count <= ChatLimits.invitationsPerDay else {
            throw ChatError(
                .tooMany, message: "An account can send at most \(ChatLimits.invitationsPerDay) invitations and contact requests a day.",
                retryAfter: (day + 1) * Self.day - self.time)
        }
    }

    private static let day: Int64 = 86_400_000

    mutating func countInvitations(_ count: Int, of user: UserKey) {
        let day = self.time / Self.day
        self.facts.accounts.modify(user) { account in
            account.invitationsToday = (account.invitationDay == day ? account.invitationsToday : 0) + count
            account.invitationDay = day
        }
    }

    /// Returns whether a user can be added without an invitation.
    private static func adds(_ account: AccountRow, _ relation: ContactRow?) -> Bool {
        guard relation?.isBlocked != true else { return false }
        return switch account.privacy.add {
        case .all: true
        case .contacts: relation?.relation == .friend
        case .none, .unknown: false
        }
    }

    private mutating func joinAtOnce(
        _ user: UserKey, _ conversation: ConversationKey, invitedBy: UserKey, via: String, role: MemberRole? = nil
    ) throws(ChatError) -> StoredAnswer {
        guard let row = self.facts.conversations[conversation], let account = self.facts.accounts[user] else { throw .noConversation }
        let cap = row.kind == .channel ? ChatLimits.channelMembers : ChatLimits.groupMembers
        guard row.counters.memberCount < cap else {
            throw ChatError(.limit, message: "A conversation of the kind `\(row.kind.rawValue)` has at most \(cap) members.")
        }
        if self.facts.members[MemberAddress(conversation, user)] == nil { try self.checkRoom(of: user) }
        let answer = self.append(
            .memberJoin, to: conversation, by: user, movesUp: row.kind == .group, body: ChangeBody.join([account.name], via: via))
        self.enter(user, conversation, invitedBy: invitedBy, at: answer.seq, role: role)
        return answer
    }

    /// Stores the request of a user to join.
    ///
    /// - Parameter role: The role of the user after approval.
    private mutating func requestToJoin(_ user: UserKey, _ conversation: ConversationKey, role: MemberRole) throws(ChatError)
        -> StoredAnswer
    {
        if self.facts.members[MemberAddress(conversation, user)] == nil { try self.checkRoom(of: user) }
        self.place(user, in: conversation, as: .requested, by: user)
        self.facts.members.modify(MemberAddress(conversation, user)) { $0.role = role }
        return self.unchanged(conversation)
    }

    /// Makes a user a member. If the user was a member before, the visible range restarts at `seq`,
    /// because it is a single interval.
    private mutating func enter(
        _ user: UserKey, _ conversation: ConversationKey, invitedBy: UserKey, at seq: Int64, role given: MemberRole? = nil
    ) {
        let address = MemberAddress(conversation, user)
        guard let row = self.facts.conversations[conversation] else { return }
        let isBack = (self.facts.members[address]?.leftSeq ?? 0) > 0
        let role: MemberRole = given ?? (row.kind == .channel ? .reader : .member)
        var member = self.facts.members[address] ?? MemberRow(address: address, role: role, state: .joined)
        let showsAll = row.settings.history == .all && !isBack
        member.role = role
        member.state = .joined
        member.since = self.time
        member.minSeq = showsAll ? 1 : seq
        member.leftSeq = 0
        member.floorN = row.counters.lastN
        member.readN = row.counters.lastN
        member.skipped = 0
        member.silencedUntil = 0
        member.bannedUntil = 0
        member.invitedBy = invitedBy
        member.isGone = false
        self.admit(member)
    }

    /// Writes the row of an invitation or of a request to join.
    private mutating func place(
        _ user: UserKey, in conversation: ConversationKey, as state: MemberState, by other: UserKey, isUnseen: Bool = false
    ) {
        let address = MemberAddress(conversation, user)
        if self.facts.members[address]?.isGone ?? true, !isUnseen { self.countConversation(of: user) }
        if state == .invited, !isUnseen { self.facts.accounts.modify(user) { $0.invitationCount += 1 } }
        var member = self.facts.members[address] ?? MemberRow(address: address, role: .member, state: state)
        member.state = state
        member.since = self.time
        member.invitedBy = other
        member.isGone = isUnseen
        self.facts.members.set(address, member)
        self.changeMembers(of: conversation, by: 0)
        if !isUnseen { self.pushes.append(.head(conversation, of: user)) }
    }

    /// Removes an invitation or a request, so that the user no longer sees the conversation.
    mutating func withdraw(_ member: MemberRow) -> StoredAnswer {
        self.facts.members.modify(member.address) { row in
            row.state = .left
            row.isGone = true
        }
        self.changeMembers(of: member.address.conversation, by: 0)
        self.pushes.append(.head(member.address.conversation, of: member.address.user))
        return self.unchanged(member.address.conversation)
    }
}
