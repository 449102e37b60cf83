import ApusChatCore
import ApusChatProtocol

extension ChatEngine {
    /// Sends a request and ignores its answer. A lost request has no lasting effect.
    func tell<Request: WireObject>(_ verb: ChatVerb<Request, WireEmpty>, _ request: Request) {
        guard self.state == .online else { return }
        self.start { _ = try? await self.ask(verb, request) }
    }

    /// Stores the head of a conversation that a request has created or opened.
    func adopt(_ head: ChatHead) -> ConversationID {
        self.carryOut(self.core.pushed(HeadPush(heads: [head])))
        return head.conversation
    }

    /// Changes the user's settings for a conversation, and applies them immediately, because the
    /// event of the change can arrive after the answer.
    func setOwn(_ request: OwnSetRequest) async throws(ChatClientError) {
        let answer = try await self.askPatiently(ChatVerbs.ownSet, request)
        // The event of a later change may have arrived earlier.
        guard let seq = answer.seq, seq >= self.ownChangesSeq else { return }
        let own = OwnSetBody(
            conversation: request.conversation, pinnedAt: request.isPinned.map { $0 ? answer.at : 0 }, isArchived: request.isArchived,
            mutedUntil: request.mutedUntil, notify: request.notify, isMarkedUnread: request.isMarkedUnread, folders: request.folders)
        self.carryOut(self.core.changed(own))
    }

    func search(_ query: StoreQuery) throws(ChatClientError) -> [ChatSearchHit] {
        let words = query.text.split(whereSeparator: \.isWhitespace).map(String.init)
        return try self.store.search(query).map { event in
            let isOwn = event.sender == self.me
            let snippet = ChatStore.snippet(event.searchText ?? "", words: words)
            return ChatSearchHit(
                message: ChatMessage(event: event, delivery: isOwn ? .sent : nil), snippet: snippet,
                ranges: ChatStore.ranges(of: words, in: snippet))
        }
    }
}
