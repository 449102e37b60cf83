public import ApusChatProtocol
public import Observation

/// A search for messages, for a view: what is stored at once, then what the server finds.
@MainActor @Observable
public final class SearchModel {
    /// The words. A change searches after a short pause.
    public var query = "" {
        didSet { if self.query != oldValue { self.queryChanged() } }
    }
    /// Which messages are found. A change searches after a short pause.
    public var filter: ChatSearchFilter {
        didSet { if self.filter != oldValue { self.queryChanged() } }
    }
    /// The messages, newest first.
    public private(set) var hits: [ChatSearchHit] = []
    /// Whether the server is being asked.
    public private(set) var isSearching = false
    /// Whether the hits are those of the store only, for lack of a connection.
    public private(set) var isStoredOnly = false
    /// Whether there are further pages.
    public var hasMore: Bool { self.next != nil }

    private let client: ChatClient
    private var next: PageToken?
    @ObservationIgnored private var task: Task<Void, Never>?
    private static let pause: Duration = .milliseconds(200)

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - client: The client whose store is searched.
    ///   - conversation: Restricts the search to a conversation. Default: all conversations.
    public init(client: ChatClient, conversation: ConversationID? = nil) {
        self.client = client
        self.filter = ChatSearchFilter(conversation: conversation)
    }

    deinit { self.task?.cancel() }

    private func queryChanged() {
        self.task?.cancel()
        self.next = nil
        guard self.query.contains(where: { !$0.isWhitespace }) else {
            self.hits = []
            self.isSearching = false
            return
        }
        let sleep = self.client.engine.environment.sleep
        self.task = Task { [weak self] in
            guard (try? await sleep(Self.pause)) != nil else { return }
            await self?.search()
        }
    }

    private func search() async {
        let (query, filter) = (self.query, self.filter)
        let stored = (try? await self.client.searchStored(query, filter)) ?? []
        guard query == self.query, filter == self.filter, !Task.isCancelled else { return }
        self.hits = stored
        self.isSearching = true
        let found = try? await self.client.searchAll(query, filter)
        guard query == self.query, filter == self.filter, !Task.isCancelled else { return }
        self.isSearching = false
        self.isStoredOnly = found?.isStoredOnly ?? true
        guard let found else { return }
        self.hits = found.hits
        self.next = found.next
    }

    /// Loads the next page.
    public func loadMore() async {
        guard let next = self.next, !self.isSearching else { return }
        let (query, filter) = (self.query, self.filter)
        self.isSearching = true
        defer { if query == self.query, filter == self.filter { self.isSearching = false } }
        guard let found = try? await self.client.search(query, filter, after: next), query == self.query, filter == self.filter else {
            return
        }
        let known = Set(self.hits.map(\.id))
        self.hits += found.hits.filter { !known.contains($0.id) }
        self.next = found.next
    }
}
