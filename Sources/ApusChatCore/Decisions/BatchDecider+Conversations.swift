import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Creation of conversations, and changes of their settings.
extension BatchDecider {
    /// Returns the conversation of two users, and creates it if it does not exist.
    ///
    /// The list of the other user does not show the conversation before the first message.
    mutating func openPair(with peer: UserKey?, new: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let peer, peer != actor, let account = self.facts.accounts[peer], account.state == .active else { throw .noUser }
        let address = PairAddress(actor, peer)
        if let existing = self.facts.pairs[address] {
            self.facts.members.modify(MemberAddress(existing, actor)) { $0.isGone = false }
            self.pushes.append(.head(existing, of: actor))
            return self.unchanged(existing)
        }
        let relation = self.facts.contacts[ContactAddress(owner: peer, peer: actor)]
        guard Self.admits(account.privacy.messages, relation) else {
            throw ChatError(.forbidden, message: "The settings of the user do not permit you to open a conversation.")
        }
        try self.checkRoom(of: actor)
        let mine = self.facts.contacts[ContactAddress(owner: actor, peer: peer)]
        try self.begin(ConversationRow(key: new, kind: .pair, pair: address, createdAt: self.time, settings: ConversationSettings()))
        for (user, row) in [(actor, mine), (peer, relation)] {
            var member = MemberRow(address: MemberAddress(new, user), role: .member, state: .joined)
            member.since = self.time
            member.isGone = user == peer
            // The creation of the pair is its event 1.
            member.blockSeq = row?.isBlocked == true ? 1 : 0
            self.admit(member)
        }
        self.facts.pairs.set(address, new)
        return self.append(
            .conversationCreate, to: new, by: actor, body: ChangeBody.text(["kind": .string(ConversationKind.pair.rawValue)]))
    }

    mutating func create(_ create: CreateCommand, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard create.kind == .group || create.kind == .channel else {
            throw ChatError(.badRequest, message: "`kind` must be `group` or `channel`.", field: "kind")
        }
        guard self.facts.accounts[actor]?.state == .active else { throw .noUser }
        try self.checkRoom(of: actor)
        let newcomers = self.newcomers(create.members.compactMap { $0 }, to: create.new, by: actor)
        try self.checkInvitations(newcomers.invited.count, of: actor)
        var settings = create.kind == .channel ? ConversationSettings.channel : ConversationSettings()
        settings.apply(create.settings)
        try self.begin(
            ConversationRow(key: create.new, kind: create.kind, createdAt: self.time, settings: settings, profile: create.profile))
        var owner = MemberRow(address: MemberAddress(create.new, actor), role: .owner, state: .joined)
        owner.since = self.time
        self.admit(owner)
        let answer = self.append(
            .conversationCreate, to: create.new, by: actor, movesUp: true, body: ChangeBody.create(create))
        self.bring(newcomers, to: create.new, by: actor)
        return answer
    }

    mutating func set(_ conversation: ConversationKey, _ update: ConversationUpdate, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let kind = self.facts.conversations[conversation]?.kind
        if update.changesProfile { _ = try self.authorize(.setProfile, actor, in: conversation) }
        if kind == .pair || kind == .own {
            guard update.changesExpiryOnly else {
                throw ChatError(
                    .badRequest, message: "A conversation of the kind `\(kind?.rawValue ?? "self")` has no setting other than `expire`.",
                    field: "settings")
            }
            _ = try self.authorize(.configureExpiry, actor, in: conversation)
        } else if !update.settings.isEmpty || !update.changesProfile {
            _ = try self.authorize(.configure, actor, in: conversation)
        }
        guard update.settings.isKnown else {
            throw ChatError(.unsupported, message: "A setting has a value that this server does not support.", field: "settings")
        }
        if case .some(.some(let avatar)) = update.avatar, !self.facts.readableBlobs.contains(BlobNeed(user: actor, blob: avatar)) {
            throw ChatError(.notFound, message: "The upload `\(avatar)` does not exist, or you may not read it.", field: "avatar")
        }
        var isChanged = false
        self.facts.conversations.modify(conversation) { row in
            let before = (row.profile, row.settings)
            if let title = update.title { row.profile.title = title }
            if let about = update.about { row.profile.about = about }
            if let avatar = update.avatar { row.profile.avatar = avatar }
            row.settings.apply(update.settings)
            isChanged = before != (row.profile, row.settings)
        }
        guard isChanged else { return self.unchanged(conversation) }
        self.wholeRows.insert(conversation)
        let answer = self.append(.conversationSet, to: conversation, by: actor, movesUp: true, body: ChangeBody.update(update))
        if case .some(.some(let avatar)) = update.avatar {
            self.blobReferences.append(BlobReference(event: EventAddress(conversation, answer.seq), blob: avatar))
        }
        return answer
    }
}

extension BatchDecider {
    /// Adds an empty conversation.
    private mutating func begin(_ row: ConversationRow) throws(ChatError) {
        guard self.facts.conversations[row.key] == nil else {
            throw ChatError(.internal, message: "The random id of the new conversation is already used. Send the request again.")
        }
        self.facts.conversations.set(row.key, row)
        self.newRows.insert(row.key)
    }

    /// Adds a joined member, or changes a member row to joined.
    mutating func admit(_ member: MemberRow) {
        let address = member.address
        let isNew = self.facts.members[address] == nil
        self.facts.members.set(address, member)
        self.changeMembers(of: address.conversation, by: 1)
        if isNew { self.countConversation(of: address.user) }
        self.pushes.append(.arrived(address.conversation, address.user, first: member.minSeq))
    }

    /// Counts a new member row of a user, in any state.
    mutating func countConversation(of user: UserKey) {
        self.facts.accounts.modify(user) { $0.conversationCount += 1 }
    }

    /// Checks the maximum number of conversations of one account, which bounds the work of a sync.
    func checkRoom(of user: UserKey) throws(ChatError) {
        guard (self.facts.accounts[user]?.conversationCount ?? 0) < ChatLimits.conversations else {
            throw ChatError(.limit, message: "An account has at most \(ChatLimits.conversations) conversations. Delete one.")
        }
    }

    /// Returns whether an audience setting of a user includes another user.
    ///
    /// - Parameter relation: The contact row in which the first user lists the other one.
    static func admits(_ audience: Audience, _ relation: ContactRow?) -> Bool {
        switch audience {
        case .all: true
        case .contacts: relation?.relation == .friend
        case .none, .unknown: false
        }
    }
}

extension ChatError {
    static let noUser = ChatError(.notFound, message: "The user does not exist.")
    static let noInvitation = ChatError(.notFound, message: "The invitation does not exist.")
    static let noLink = ChatError(.notFound, message: "The link does not exist or is no longer valid.")
}
