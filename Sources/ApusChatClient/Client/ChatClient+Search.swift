public import ApusChatProtocol

/// Which messages a search finds. Nil and empty values restrict nothing.
public struct ChatSearchFilter: Sendable, Hashable {
    /// The conversation.
    public var conversation: ConversationID?
    /// The sender.
    public var sender: UserName?
    /// The kinds of messages.
    public var kinds: [EventKind]
    /// The earliest time, in milliseconds since 1970.
    public var from: Int64?
    /// The latest time, in milliseconds since 1970.
    public var until: Int64?

    /// Creates a filter. The default values restrict nothing.
    ///
    /// - Parameters:
    ///   - conversation: The conversation.
    ///   - sender: The sender.
    ///   - kinds: The kinds of messages.
    ///   - from: The earliest time, in milliseconds since 1970.
    ///   - until: The latest time, in milliseconds since 1970.
    public init(
        conversation: ConversationID? = nil, sender: UserName? = nil, kinds: [EventKind] = [], from: Int64? = nil, until: Int64? = nil
    ) {
        self.conversation = conversation
        self.sender = sender
        self.kinds = kinds
        self.from = from
        self.until = until
    }
}

/// A page of messages that a search found, newest first.
public struct ChatSearchPage: Sendable, Hashable {
    /// The messages.
    public var hits: [ChatSearchHit]
    /// The position of the next page; nil on the last one.
    public var next: PageToken?
    /// Whether the hits are those of the local store only, because the server could not be asked.
    public var isStoredOnly: Bool
}

extension ChatClient {
    /// Finds stored messages that contain all words, also without a connection; Chinese words from
    /// one character.
    ///
    /// - Parameters:
    ///   - text: The words.
    ///   - filter: Which messages are found. Default: all.
    ///   - limit: The maximum number of messages. Default: 30.
    public func searchStored(
        _ text: String, _ filter: ChatSearchFilter = .init(), limit: Int = 30
    ) async throws(ChatClientError) -> [ChatSearchHit] {
        try await self.engine.search(
            StoreQuery(
                text: text, conversation: filter.conversation, sender: filter.sender, kinds: filter.kinds, from: filter.from,
                until: filter.until, limit: limit))
    }

    /// Finds messages on the server.
    ///
    /// - Parameters:
    ///   - text: The words; all must occur. A word in quotes occurs as it is.
    ///   - filter: Which messages are found. Default: all.
    ///   - page: The position that the page before ended at; nil for the first page.
    public func search(
        _ text: String, _ filter: ChatSearchFilter = .init(), after page: PageToken? = nil
    ) async throws(ChatClientError) -> ChatSearchPage {
        let request = SearchRequest(
            query: text, conversation: filter.conversation, sender: filter.sender, kinds: filter.kinds, fromAt: filter.from,
            untilAt: filter.until, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.search, request)
        let me = self.user
        let hits = answer.hits.map { hit in
            let message = ChatMessage(event: hit.event, delivery: hit.event.sender == me ? .sent : nil)
            return ChatSearchHit(message: message, snippet: hit.snippet, ranges: hit.ranges)
        }
        return ChatSearchPage(hits: hits, next: answer.page, isStoredOnly: false)
    }

    /// Finds messages on the server, if there is a connection, and those of the store that the
    /// server's index does not have yet.
    ///
    /// - Parameters:
    ///   - text: The words; all must occur.
    ///   - filter: Which messages are found. Default: all.
    public func searchAll(_ text: String, _ filter: ChatSearchFilter = .init()) async throws(ChatClientError) -> ChatSearchPage {
        let stored = try await self.searchStored(text, filter)
        guard await self.state == .online else { return ChatSearchPage(hits: stored, next: nil, isStoredOnly: true) }
        do throws(ChatClientError) {
            var page = try await self.search(text, filter)
            // Stored hits beyond the page come with the next pages.
            let oldest = page.next == nil ? nil : page.hits.last?.message.event.at
            page.hits = ChatSearchHit.merged(page.hits, stored: stored.filter { $0.message.event.at >= oldest ?? .min })
            return page
        } catch {
            guard [.notConnected, .timeout, .unreachable].contains(error.code) else { throw error }
            return ChatSearchPage(hits: stored, next: nil, isStoredOnly: true)
        }
    }

    /// Finds messages on the server, if there is a connection, and stored ones.
    package func searchReachable(_ text: String) async throws(ChatClientError) -> (hits: [ChatSearchHit], isStoredOnly: Bool) {
        let page = try await self.searchAll(text)
        return (page.hits, page.isStoredOnly)
    }

    /// Downloads a file or picture of a message.
    ///
    /// ``avatar(of:size:)`` and ``ChatConversation/avatar(size:)`` download pictures of users and
    /// conversations.
    ///
    /// - Parameters:
    ///   - blob: The id of the file.
    ///   - size: The greatest side of a smaller picture, in pixels.
    public func download(_ blob: BlobID, size: Int? = nil) async throws(ChatClientError) -> [UInt8] {
        try await self.engine.http.download(blob, size: size, owner: nil, access: try await self.engine.tokens.access())
    }
}
