import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The log: sync, history, read positions.
extension VerbTable {
    mutating func addLog() {
        self.read(ChatVerbs.sync) { request, context in try SyncPages(context: context).answer(request) }
        self.read(ChatVerbs.history) { request, context in try HistoryPage(context: context, request: request).answer() }
        self.read(ChatVerbs.readers) { request, context in try context.readers(request) }
        self.change(ChatVerbs.mark) { request, requester in
            var commands: [Command] = []
            // What a device has received is not stored.
            if let read = request.read {
                commands = [requester.command(.mark(MarkCommand(conversation: request.conversation.key, read: read)), nil)]
            }
            return Change(
                commands: { [commands] _, _ in commands }, answer: .reading { _, context in try context.mark(request.conversation).json })
        }
    }
}

extension ReadContext {
    /// The own position in a conversation.
    fileprivate func mark(_ conversation: ConversationID) throws -> MarkAnswer {
        let head = try self.head(conversation.key)
        guard head.member.state == .joined else { throw ChatError.noConversation }
        return MarkAnswer(
            conversation: conversation, read: max(head.member.readN, head.member.floorN), unread: head.unread, mentions: head.mentions,
            n: head.conversation.counters.lastN)
    }

    /// The members that have read a message, where members see the positions of others.
    fileprivate func readers(_ request: ReadersRequest) throws -> ReadersAnswer {
        let key = request.conversation.key
        let head = try self.head(key)
        guard head.member.state == .joined else { throw ChatError.noConversation }
        guard head.conversation.kind != .channel, head.conversation.settings.receipts,
            head.conversation.counters.memberCount <= ChatLimits.receiptMembers
        else { throw ChatError(.forbidden, message: "The conversation does not show who has read a message.") }
        let view = try self.reads.events(in: key, .from(request.seq), as: self.viewer, limit: 1).first
        guard let row = view?.row, row.seq == request.seq, row.isMessage else { throw ChatError.noMessage }
        guard try self.account().privacy.receipts else { return ReadersAnswer(readers: []) }
        let keys = try self.reads.readers(of: key, atLeast: row.n, limit: ChatLimits.receiptMembers)
        let rows = try self.reads.accounts(keys.filter { $0 != row.sender })
        return ReadersAnswer(readers: rows.filter(\.privacy.receipts).map { Reader(user: $0.name, isRead: true, isReceived: true) })
    }
}
