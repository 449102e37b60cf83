import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension VerbTable {
    mutating func addConversations() {
        self.change(ChatVerbs.conversationOpen) { request, requester in
            let identity = try ChatVerbs.conversationOpen.identity(of: request)
            return Change(
                names: [request.user],
                commands: { keys, _ in [requester.command(.openPair(peer: keys[0], new: .random()), identity)] },
                answer: .reading { stored, context in try context.headAnswer(stored).json })
        }
        self.change(ChatVerbs.conversationCreate) { request, requester in
            let identity = try ChatVerbs.conversationCreate.identity(of: request)
            return Change(
                names: request.users,
                commands: { keys, _ in
                    var profile = ConversationProfile()
                    profile.title = request.title
                    profile.about = request.about ?? ""
                    profile.avatar = request.avatar
                    let create = CreateCommand(
                        kind: request.kind, profile: profile, settings: request.settings ?? ConversationSettingsChange(), members: keys,
                        new: .random())
                    return [requester.command(.create(create), identity)]
                },
                answer: .reading { stored, context in
                    var answer = try context.headAnswer(stored)
                    let users = try context.split(request.users, in: stored.conversation)
                    (answer.invited, answer.unknown) = (users.invited, users.unknown)
                    return answer.json
                })
        }
        self.read(ChatVerbs.conversationInfo) { request, context in
            let row = try context.head(request.conversation.key)
            guard row.member.state == .joined else { throw ChatError.noConversation }
            let creation = try context.reads.events(in: row.conversation.key, .from(1), as: context.viewer, limit: 1).first?.row
            let creator = try creation.map { try context.names.names(of: [$0.sender], context.reads)[$0.sender] } ?? nil
            return InfoAnswer(
                head: try context.head(row), about: row.conversation.profile.about.isEmpty ? nil : row.conversation.profile.about,
                createdAt: row.conversation.createdAt, by: creation?.seq == 1 ? creator : nil)
        }
        self.read(ChatVerbs.directory, rate: .search) { request, context in try context.directory(request) }
        self.change(ChatVerbs.conversationDelete) { request, _ in
            request.isForAll ? .delete(request.conversation.key) : .leave(request.conversation.key, forgets: true)
        }
        self.change(ChatVerbs.conversationSet) { request, _ in
            var update = ConversationUpdate()
            update.title = request.title
            update.about = request.about
            if let avatar = request.avatar { update.avatar = .some(avatar.blob) }
            if let settings = request.settings { update.settings = settings }
            return .set(request.conversation.key, update)
        }
    }
}

extension ReadContext {
    func headAnswer(_ stored: StoredAnswer) throws -> HeadAnswer {
        HeadAnswer(head: try self.head(self.head(stored.conversation)))
    }

    fileprivate func directory(_ request: DirectoryRequest) throws -> DirectoryAnswer {
        let cursor = try PageText.key(request.page)
        var (page, entries) = try self.listed(request, after: cursor, limit: ChatLimits.usersPage)
        let count = AnswerSize.fitting(entries)
        if count < entries.count { (page, entries) = try self.listed(request, after: cursor, limit: count) }
        return DirectoryAnswer(conversations: entries, page: try page.next.map { try PageText.token(after: $0) })
    }

    private func listed(_ request: DirectoryRequest, after cursor: Int64?, limit: Int) throws -> (DirectoryPage, [DirectoryEntry]) {
        let page = try self.reads.listedConversations(containing: request.query ?? "", after: cursor, limit: limit)
        let entries = page.conversations.map { row in
            DirectoryEntry(
                conversation: ConversationID(row.key), kind: row.kind, title: row.profile.title,
                about: row.profile.about.isEmpty ? nil : row.profile.about, avatar: row.profile.avatar,
                members: Int64(row.counters.memberCount), join: row.settings.join)
        }
        return (page, entries)
    }

    /// Divides users into members of a conversation, invited users and other users.
    func split(_ users: [UserName], in conversation: ConversationKey) throws -> (
        added: [UserName], invited: [UserName], unknown: [UserName]
    ) {
        let keys = try self.names.keys(of: users, self.reads)
        var (added, invited, unknown): ([UserName], [UserName], [UserName]) = ([], [], [])
        for (user, key) in zip(users, keys) {
            switch try key.flatMap({ try self.reads.head(of: $0, in: conversation)?.member.state }) {
            case .joined: added.append(user)
            case .invited: invited.append(user)
            case .requested, .left, .removed, .banned, .unknown, nil: unknown.append(user)
            }
        }
        return (added, invited, unknown)
    }
}

extension ConversationKey {
    /// Returns a random key that cannot be guessed.
    static func random() -> ConversationKey { ConversationKey(.random(in: 1 ... .max)) }
}
