import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension VerbTable {
    mutating func addMembers() {
        self.read(ChatVerbs.members) { request, context in try context.members(request) }
        self.change(ChatVerbs.memberAdd) { request, requester in
            let identity = try ChatVerbs.memberAdd.identity(of: request)
            return Change(
                names: request.users,
                commands: { keys, _ in [requester.command(.invite(request.conversation.key, keys), identity)] },
                answer: .reading { stored, context in
                    let (added, invited, unknown) = try context.split(request.users, in: stored.conversation)
                    return MemberAddAnswer(
                        conversation: request.conversation, id: request.id, seq: stored.seq > 0 ? stored.seq : nil, at: stored.at,
                        added: added, invited: invited, unknown: unknown
                    ).json
                })
        }
        self.change(ChatVerbs.memberAnswer) { request, requester in
            let identity = try ChatVerbs.memberAnswer.identity(of: request)
            let command = requester.command(.answerInvitation(request.conversation.key, accepts: request.isAccepted), identity)
            return Change(
                commands: { _, _ in [command] },
                answer: .reading { stored, context in
                    // The answer to a retry contains no head if the invitation was declined or the
                    // user has left since then.
                    let row = try context.reads.head(of: context.viewer, in: stored.conversation)
                    let head = try row.flatMap { $0.member.isGone ? nil : try context.head($0) }
                    return MemberAnswerAnswer(
                        conversation: request.conversation, id: request.id, seq: stored.seq > 0 ? stored.seq : nil, at: stored.at,
                        head: request.isAccepted ? head : nil
                    ).json
                })
        }
        self.change(ChatVerbs.memberJoin) { request, requester in
            let identity = try ChatVerbs.memberJoin.identity(of: request)
            let action: Command.Action
            if let link = request.link {
                action = .joinByLink(link.rawValue)
            } else if let conversation = request.conversation {
                action = .join(conversation.key)
            } else {
                throw ChatError(.badRequest, message: "`conv` or `link` is required.")
            }
            return Change(
                commands: { _, _ in [requester.command(action, identity)] },
                answer: .reading { stored, context in try context.headAnswer(stored).json })
        }
        self.change(ChatVerbs.memberApprove, names: { [$0.user] }) { request, keys in
            .answerRequest(request.conversation.key, keys[0], approves: request.isAccepted)
        }
        self.change(ChatVerbs.memberLeave) { request, _ in .leave(request.conversation.key, forgets: false) }
        self.change(ChatVerbs.memberRemove, names: \.users) { request, keys in .remove(request.conversation.key, keys) }
        self.change(ChatVerbs.memberBan, names: \.users) { request, keys in
            .ban(request.conversation.key, keys, isOn: true, until: request.until ?? 0)
        }
        self.change(ChatVerbs.memberUnban, names: \.users) { request, keys in .ban(request.conversation.key, keys, isOn: false) }
        self.change(ChatVerbs.memberMute, names: \.users) { request, keys in
            .silence(request.conversation.key, keys, until: request.until ?? WireReader.largestInteger)
        }
        self.change(ChatVerbs.memberRole, names: \.users) { request, keys in
            guard request.role == .owner else { return .setRole(request.conversation.key, keys, request.role) }
            guard keys.count == 1 else {
                throw ChatError(.badRequest, message: "`users` must name one user for the role `owner`.", field: "users")
            }
            return .transfer(request.conversation.key, to: keys[0])
        }
    }
}

extension ReadContext {
    fileprivate func members(_ request: MembersRequest) throws -> MembersAnswer {
        let key = request.conversation.key
        let head = try self.head(key)
        try Permissions.check(.seeMembers, of: head.member, in: head.conversation, at: 0)
        let state = request.state ?? .joined
        if state != .joined { try Permissions.check(.approve, of: head.member, in: head.conversation, at: 0) }
        let states: MemberStates =
            switch state {
            case .joined: .joined
            case .invited: .invited
            case .requested: .requested
            case .banned: .banned
            case .left, .removed, .unknown: []
            }
        let cursor = try PageText.key(request.page).map { UserKey($0) }
        let text = request.query.map { $0.hasPrefix("@") && $0.count > 1 ? String($0.dropFirst()) : $0 }
        let page = try self.reads.members(of: key, in: states, containing: text, after: cursor, limit: ChatLimits.membersPage)
        var accounts: [UserKey: AccountRow] = [:]
        for row in try self.reads.accounts(page.members.map(\.address.user)) { accounts[row.key] = row }
        let inviters = try self.names.names(of: Set(page.members.map(\.invitedBy)), self.reads)
        let showsReads =
            head.conversation.settings.receipts && head.conversation.kind != .channel
            && head.conversation.counters.memberCount <= ChatLimits.receiptMembers
        let members = try page.members.compactMap { member -> ChatMember? in
            guard let account = accounts[member.address.user] else { return nil }
            let read = showsReads && account.privacy.receipts ? max(member.readN, member.floorN) : nil
            let received = read.map { max($0, self.received.last(of: member.address)) }
            return ChatMember(
                user: try self.user(account), role: member.role, state: member.state, since: member.since, read: read,
                received: received == read ? nil : received,
                mutedUntil: member.silencedUntil > 0 ? member.silencedUntil : nil,
                bannedUntil: member.state == .banned && member.bannedUntil > 0 ? member.bannedUntil : nil, by: inviters[member.invitedBy])
        }
        return MembersAnswer(
            members: members, version: page.version, total: page.total,
            page: try page.next.map { try PageText.token(after: $0.rawValue) })
    }
}
