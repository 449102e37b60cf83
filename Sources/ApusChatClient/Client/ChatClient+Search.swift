public import ApusChatProtocol

/// Restricts the messages that a search finds. Nil and empty values do not restrict the search.
public struct ChatSearchFilter: Sendable, Hashable {
    /// Only messages of this conversation.
    public var conversation: ConversationID?
    /// Only messages of this sender.
    public var sender: UserName?
    /// Only messages of these kinds.
    public var kinds: [EventKind]
    /// The earliest time, in milliseconds since 1970.
    public var from: Int64?
    /// The latest time, in milliseconds since 1970.
    public var until: Int64?

    /// Creates a filter. The default values do not restrict the search.
    ///
    /// - Parameters:
    ///   - conversation: Only messages of this conversation.
    ///   - sender: Only messages of this sender.
    ///   - kinds: Only messages of these kinds.
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
    /// The messages that were found.
    public var hits: [ChatSearchHit]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
    /// Whether the hits come from the local store only, because the server was not reachable.
    public var isStoredOnly: Bool
}

extension ChatClient {
    /// Searches the local store, even without a connection. Finds messages that contain all words;
    /// a Chinese word can be a single character.
    ///
    /// - Parameters:
    ///   - text: The words, separated by spaces.
    ///   - filter: The restrictions of the search. Default: none.
    ///   - limit: The maximum number of messages. Default: 30.
    public func searchStored(
        _ text: String, _ filter: ChatSearchFilter = .init(), limit: Int = 30
    ) async throws(ChatClientError) -> [ChatSearchHit] {
        try await self.engine.search(
            StoreQuery(
                text: text, conversation: filter.conversation, sender: filter.sender, kinds: filter.kinds, from: filter.from,
                until: filter.until, limit: limit))
    }

    /// Searches on the server.
    ///
    /// - Parameters:
    ///   - text: The words. A message must contain all of them; text in quotes must occur
    ///     literally. Without words, lists the messages of the kinds and the conversation in the
    ///     filter.
    ///   - filter: The restrictions of the search. Default: none.
    ///   - page: The token that the previous page returned; nil for the first page.
    public func search(
        _ text: String, _ filter: ChatSearchFilter = .init(), after page: PageToken? = nil
    ) async throws(ChatClientError) -> ChatSearchPage {
        let request = SearchRequest(
            query: text, conversation: filter.conversation, sender: filter.sender, kinds: filter.kinds,
            fromAt: filter.from,
            untilAt: filter.until, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.search, request)
        let me = self.user
        let hits = answer.hits.map { hit in
            let message = ChatMessage(event: hit.event, delivery: hit.event.sender == me ? .sent : nil)
            return ChatSearchHit(message: message, snippet: hit.snippet, ranges: hit.ranges)
        }
        return ChatSearchPage(hits: hits, next: answer.page, isStoredOnly: false)
    }

    /// Searches on the server, if there is a connection, and adds the hits of the local store that
    /// the server's index does not contain yet.
    ///
    /// - Parameters:
    ///   - text: The words. A message must contain all of them.
    ///   - filter: The restrictions of the search. Default: none.
    public func searchAll(_ text: String, _ filter: ChatSearchFilter = .init()) async throws(ChatClientError) -> ChatSearchPage {
        let stored = try await self.searchStored(text, filter)
        guard await self.state == .online else { return ChatSearchPage(hits: stored, next: nil, isStoredOnly: true) }
        do throws(ChatClientError) {
            var page = try await self.search(text, filter)
            // Stored hits that are older than this page belong to the next pages.
            let oldest = page.next == nil ? nil : page.hits.last?.message.event.at
            page.hits = ChatSearchHit.merged(page.hits, stored: stored.filter { $0.message.event.at >= oldest ?? .min })
            return page
        } catch {
            guard [.notConnected, .timeout, .unreachable].contains(error.code) else { throw error }
            return ChatSearchPage(hits: stored, next: nil, isStoredOnly: true)
        }
    }

    /// Returns the first page of ``searchAll(_:_:)``, and whether only the local store was
    /// searched.
    package func searchReachable(
        _ text: String, _ filter: ChatSearchFilter = .init()
    ) async throws(ChatClientError) -> (hits: [ChatSearchHit], isStoredOnly: Bool) {
        let page = try await self.searchAll(text, filter)
        return (page.hits, page.isStoredOnly)
    }

    /// Downloads a file or picture of a message.
    ///
    /// To download the pictures of users and conversations, use ``avatar(of:size:)-(UserName,_)``
    /// and ``ChatConversation/avatar(size:)``.
    ///
    /// - Parameters:
    ///   - blob: The id of the file.
    ///   - size: The maximum width and height of a smaller version of a picture, in pixels.
    ///     Default: the uploaded file.
    public func download(_ blob: BlobID, size: Int? = nil) async throws(ChatClientError) -> [UInt8] {
        try await self.engine.http.download(blob, size: size, owner: nil, access: try await self.engine.tokens.access())
    }
}
