import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop

extension VerbTable {
    mutating func addLinks() {
        self.change(ChatVerbs.linkCreate) { request, requester in
            let identity = try ChatVerbs.linkCreate.identity(of: request)
            let terms = LinkTerms(
                code: RandomID.random().description, expiresAt: request.expiresAt ?? 0, uses: request.uses, role: request.role ?? .member,
                needsApproval: request.needsApproval)
            return Change(
                commands: { _, _ in [requester.command(.createLink(request.conversation.key, terms), identity)] },
                answer: .reading { stored, context in
                    // The answer to a retry contains the link even if it has been revoked since.
                    guard let link = try context.reads.link(stored.text).flatMap({ try context.link($0.link) }) else {
                        throw ChatError.noLink
                    }
                    return LinkAnswer(link: link).json
                })
        }
        self.read(ChatVerbs.linkList) { request, context in
            let head = try context.head(request.conversation.key)
            try Permissions.check(.manageLinks, of: head.member, in: head.conversation, at: 0)
            let rows = try context.reads.links(of: request.conversation.key, limit: ChatLimits.links)
            return LinkListAnswer(links: try rows.compactMap { try context.link($0) })
        }
        self.change(ChatVerbs.linkRevoke) { request, _ in .revokeLink(request.code.rawValue) }
        self.read(ChatVerbs.linkInfo, rate: .search) { request, context in
            guard let (link, conversation) = try context.reads.link(request.code.rawValue), !conversation.counters.isDeleted,
                !link.isRevoked, link.usesLeft != 0, link.expiresAt == 0 || link.expiresAt > context.now
            else {
                throw ChatError.noLink
            }
            let viewer = try context.reads.head(of: context.viewer, in: conversation.key)?.member
            guard viewer?.isBanned(at: context.now) != true else { throw ChatError.noLink }
            guard let creator = try context.users([link.creator]).first else { throw ChatError.noLink }
            return LinkInfoAnswer(
                title: conversation.profile.title, kind: conversation.kind, avatar: conversation.profile.avatar,
                members: Int64(conversation.counters.memberCount), join: link.needsApproval ? .approval : .open, by: creator)
        }
    }
}

extension ReadContext {
    fileprivate func link(_ row: LinkRow) throws -> InviteLink? {
        guard let code = LinkCode(row.code), let creator = try self.names.names(of: [row.creator], self.reads)[row.creator] else {
            return nil
        }
        return InviteLink(
            code: code, role: row.role, by: creator, at: row.createdAt, expiresAt: row.expiresAt > 0 ? row.expiresAt : nil,
            uses: row.usesLeft >= 0 ? row.usesLeft + row.used : nil, used: row.used,
            needsApproval: row.needsApproval)
    }
}

extension ChatError {
    static let noLink = ChatError(.notFound, message: "The link does not exist or is no longer valid.")
}
