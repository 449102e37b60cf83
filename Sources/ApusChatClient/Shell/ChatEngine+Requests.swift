import ApusChatCore
import ApusChatProtocol

extension ChatEngine {
    /// Sends a request whose loss is harmless.
    func tell<Request: WireObject>(_ verb: ChatVerb<Request, WireEmpty>, _ request: Request) {
        guard self.state == .online else { return }
        self.start { _ = try? await self.ask(verb, request) }
    }

    /// Takes the head of a conversation that a request has created or opened.
    func adopt(_ head: ChatHead) -> ConversationID {
        self.carryOut(self.core.pushed(HeadPush(heads: [head])))
        return head.conversation
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
