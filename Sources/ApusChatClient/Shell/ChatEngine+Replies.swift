import ApusChatCore
import ApusChatProtocol

// Reading of threads.
extension ChatEngine {
    /// Returns the oldest rows of a thread after a position. Position 0 is before the message that
    /// began the thread.
    func replies(to root: Int64, in conversation: ConversationID, after seq: Int64, limit: Int) async throws(ChatClientError) -> ThreadPage
    {
        let limit = min(max(1, limit), ChatLimits.historyEvents)
        let range = (max(seq, 0) + 1)..<Int64.max
        let stored = try self.store.thread(root, of: conversation, in: range, limit: limit, isNewest: false, me: self.me)
        if stored.isComplete || self.state == .connecting {
            return ThreadPage(messages: stored.messages, hasEarlier: seq >= root, hasLater: stored.messages.count == limit)
        }
        let messages = try await self.requestReplies(to: root, in: conversation, .from(max(seq + 1, root)), limit: limit)
        return ThreadPage(
            messages: messages, hasEarlier: seq >= root, hasLater: try self.hasReplies(to: root, in: conversation, after: messages))
    }

    /// Returns the newest rows of a thread before a position, or its newest rows if `seq` is nil.
    func replies(
        to root: Int64, in conversation: ConversationID, before seq: Int64?, limit: Int
    ) async throws(ChatClientError) -> ThreadPage {
        let limit = min(max(1, limit), ChatLimits.historyEvents)
        let end = seq ?? .max
        let stored = try self.store.thread(root, of: conversation, in: 1..<end, limit: limit, isNewest: true, me: self.me)
        if stored.isComplete || self.state == .connecting {
            return ThreadPage(messages: stored.messages, hasEarlier: stored.messages.first?.event.seq ?? root > root, hasLater: seq != nil)
        }
        let rows = try await self.requestReplies(to: root, in: conversation, seq.map { .before($0) } ?? .newest, limit: limit)
        return ThreadPage(messages: rows, hasEarlier: rows.first?.event.seq ?? root > root, hasLater: seq != nil)
    }

    /// Returns the stored rows at the given positions, in the order of the log.
    func stored(_ seqs: [Int64], in conversation: ConversationID) throws(ChatClientError) -> [ChatMessage] {
        try self.store.messages(Set(seqs), in: conversation, me: self.me)
    }

    /// Returns the messages at the given positions, in the order of `seqs`. Requests the messages
    /// that are not stored.
    func messages(_ seqs: [Int64], in conversation: ConversationID) async throws(ChatClientError) -> [ChatMessage] {
        var found: [Int64: ChatMessage] = [:]
        for message in try self.store.messages(Set(seqs), in: conversation, me: self.me) { found[message.event.seq] = message }
        for seq in seqs where found[seq] == nil {
            guard self.state == .online else { break }
            let request = HistoryRequest(conversation: conversation, range: .from(seq), limit: 1)
            let answer = try await self.askPatiently(ChatVerbs.history, request)
            let events = answer.events.filter { $0.seq == seq }
            self.announceFound(try self.store.insertThread(events, mine: answer.mine, asOf: answer.seq), in: conversation)
            found[seq] = try self.store.messages([seq], in: conversation, me: self.me).first
        }
        return seqs.compactMap { found[$0] }
    }

    /// Requests a page of a thread and stores it.
    private func requestReplies(
        to root: Int64, in conversation: ConversationID, _ range: HistoryRequest.Range, limit: Int
    ) async throws(ChatClientError) -> [ChatMessage] {
        let request = HistoryRequest(conversation: conversation, range: range, limit: limit, thread: root)
        let answer = try await self.askPatiently(ChatVerbs.history, request)
        let events = answer.events.filter { event in
            let isInRange =
                switch range {
                case .from(let seq): event.seq >= seq
                case .before(let seq): event.seq < seq
                case .newest, .around: true
                }
            return isInRange && event.conversation == conversation && (event.seq == root || event.thread == root)
        }
        self.announceFound(try self.store.insertThread(events, mine: answer.mine, asOf: answer.seq), in: conversation)
        self.want(events.compactMap(\.sender))
        return try self.store.messages(Set(events.map(\.seq)), in: conversation, me: self.me)
    }

    /// Returns whether the thread summary of the first message counts replies after the page.
    private func hasReplies(to root: Int64, in conversation: ConversationID, after page: [ChatMessage]) throws(ChatClientError) -> Bool {
        guard let last = page.last?.event.seq else { return false }
        let first = try self.store.messages([root], in: conversation, me: self.me).first
        return first?.event.replies.map { $0.seq > last } ?? false
    }
}
