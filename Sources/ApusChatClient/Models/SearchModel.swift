public import ApusChatProtocol
public import Observation

/// A model of a search for messages, for a view. It shows stored messages immediately, and adds the
/// messages that the server finds.
@MainActor @Observable
public final class SearchModel {
    /// The words to search for. A change starts a new search after 200 milliseconds without a
    /// further change.
    public var query = "" {
        didSet { if self.query != oldValue { self.queryChanged() } }
    }
    /// The restrictions of the search. A change starts a new search after 200 milliseconds without
    /// a further change.
    public var filter: ChatSearchFilter {
        didSet { if self.filter != oldValue { self.queryChanged() } }
    }
    /// The found messages, newest first.
    public private(set) var hits: [ChatSearchHit] = []
    /// Whether a request to the server is pending.
    public private(set) var isSearching = false
    /// Whether the hits come from the local store only, because there is no connection.
    public private(set) var isStoredOnly = false
    /// Whether there are further pages.
    public var hasMore: Bool { self.next != nil }

    private let client: ChatClient
    private var next: PageToken?
    @ObservationIgnored private var task: Task<Void, Never>?
    private static let pause: Duration = .milliseconds(200)

    /// Creates a search without words.
    ///
    /// - Parameters:
    ///   - client: The client that searches its store and the server.
    ///   - conversation: The conversation to search. Default: all conversations.
    public init(client: ChatClient, conversation: ConversationID? = nil) {
        self.client = client
        self.filter = ChatSearchFilter(conversation: conversation)
    }

    // The release of the model ends its timer and its pending request.
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
