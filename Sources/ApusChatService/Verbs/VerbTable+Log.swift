import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The log: sync, history, read positions.
extension VerbTable {
    mutating func addLog() {
        self.read(ChatVerbs.sync) { request, context in try SyncPages(context: context).answer(request) }
        self.read(ChatVerbs.history) { request, context in try HistoryPage(context: context, request: request).answer() }
        self.read(ChatVerbs.readers) { request, context in try context.readers(request) }
        self.read(ChatVerbs.reactions) { request, context in try context.reactions(request) }
        self.change(ChatVerbs.mark) { (request, requester) throws -> Change in
            // A received position is not stored, so the request is answered without a read.
            var tell: (@Sendable (Hub) -> Void)?
            if let n = request.received { tell = { hub in hub.received(n, in: request.conversation.key, by: requester) } }
            guard let read = request.read else {
                let answer = MarkAnswer(conversation: request.conversation).json
                return Change(tell: tell, commands: { _, _ in [] }, answer: .place { _ in answer })
            }
            let command = requester.command(.mark(MarkCommand(conversation: request.conversation.key, read: read)), nil)
            return Change(
                tell: tell, commands: { _, _ in [command] }, answer: .reading { _, context in try context.mark(request.conversation).json })
        }
    }
}

extension ReadContext {
    /// Returns the user's read position in a conversation.
    fileprivate func mark(_ conversation: ConversationID) throws -> MarkAnswer {
        let head = try self.head(conversation.key)
        guard head.member.state == .joined else { throw ChatError.noConversation }
        return MarkAnswer(
            conversation: conversation, read: max(head.member.readN, head.member.floorN), unread: head.unread, mentions: head.mentions,
            n: head.conversation.counters.lastN)
    }

    /// Returns the users who reacted to a message. In a pair, a user blocked by the viewer is
    /// omitted.
    fileprivate func reactions(_ request: ReactionsRequest) throws -> ReactionsAnswer {
        let key = request.conversation.key
        let head = try self.head(key)
        let view = try self.reads.events(in: key, .from(request.ref), as: self.viewer, limit: 1).first
        guard let row = view?.row, row.seq == request.ref, row.isMessage, !row.state.isBlank else { throw ChatError.noMessage }
        let cursor = try PageText.key(request.page).map { UserKey($0) }
        // A user has at most `ownReactions` reactions to a message, so the reactions of `limit`
        // users fit into one page.
        let limit = ChatLimits.membersPage / ChatLimits.ownReactions
        let found = try self.reads.reactions(to: row.address, of: request.key, after: cursor, limit: limit)
        let rows = head.member.blocksPeer ? found.filter { $0.address.user == self.viewer } : found
        let names = try self.names.names(of: Set(rows.map(\.address.user)), self.reads)
        let reactions = rows.flatMap { row in
            row.reactions.filter { request.key == nil || request.key == $0 }.compactMap { reaction in
                names[row.address.user].map { Reaction(user: $0, key: reaction) }
            }
        }
        let next = found.count == limit ? try found.last.map { try PageText.token(after: $0.address.user.rawValue) } : nil
        return ReactionsAnswer(reactions: reactions, page: next)
    }

    /// Returns the members who have read or received a message. Throws an error if members do not
    /// see the positions of other members.
    fileprivate func readers(_ request: ReadersRequest) throws -> ReadersAnswer {
        let key = request.conversation.key
        let head = try self.head(key)
        guard head.member.state == .joined else { throw ChatError.noConversation }
        guard head.conversation.kind != .channel else { throw ChatError(.forbidden, message: "A channel has no list of readers.") }
        guard head.conversation.settings.receipts else {
            throw ChatError(.forbidden, message: "The list of readers is off in this conversation (its setting `receipts`).")
        }
        let count = head.conversation.counters.memberCount
        guard count <= ChatLimits.receiptMembers else {
            let message =
                "The list of readers is available for at most \(ChatLimits.receiptMembers) members; the conversation has \(count)."
            throw ChatError(.forbidden, message: message)
        }
        let view = try self.reads.events(in: key, .from(request.seq), as: self.viewer, limit: 1).first
        guard let row = view?.row, row.seq == request.seq, row.isMessage else { throw ChatError.noMessage }
        guard try self.account().privacy.receipts else { return ReadersAnswer(readers: []) }
        let members = try self.reads.members(of: key, in: .joined, after: nil, limit: ChatLimits.receiptMembers).members
        var reads: [UserKey: Bool] = [:]
        for member in members where member.address.user != row.sender && member.minSeq <= row.seq {
            let isRead = max(member.readN, member.floorN) >= row.n
            if isRead || self.received.last(of: member.address) >= row.n { reads[member.address.user] = isRead }
        }
        let accounts = try self.reads.accounts(reads.keys.sorted())
        return ReadersAnswer(
            readers: accounts.filter(\.privacy.receipts).map { Reader(user: $0.name, isRead: reads[$0.key] == true, isReceived: true) })
    }
}
