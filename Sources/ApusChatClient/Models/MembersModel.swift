public import ApusChatProtocol
public import Observation

/// The members of a conversation, for a view, in pages.
@MainActor @Observable
public final class MembersModel {
    /// The members that were loaded.
    public private(set) var members: [ChatMember] = []
    /// The number of members that match.
    public private(set) var total: Int64 = 0
    /// Whether there are further pages.
    public var hasMore: Bool { self.next != nil }
    /// Whether a page is being loaded.
    public private(set) var isLoading = false
    /// Why the last page could not be loaded.
    public private(set) var error: ChatClientError?

    private let conversation: ChatConversation
    /// The state of the members that are listed.
    public let state: MemberState
    private var query: String?
    private var next: PageToken?
    /// The number of the search, by which answers to an earlier one are recognized.
    @ObservationIgnored private var generation = 0

    /// Creates the list of a conversation. It is filled by ``load(matching:)``.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - conversation: The conversation.
    ///   - state: The state of the members. Default: those that have joined.
    public init(client: ChatClient, conversation: ConversationID, state: MemberState = .joined) {
        self.conversation = client.conversation(conversation)
        self.state = state
    }

    /// Loads the first page.
    /// - Parameter query: The start of a name; nil for all members.
    public func load(matching query: String? = nil) async {
        self.generation += 1
        self.query = query.flatMap { $0.isEmpty ? nil : $0 }
        self.next = nil
        await self.loadPage(replaces: true)
    }

    /// Loads the next page.
    public func loadMore() async {
        guard self.hasMore, !self.isLoading else { return }
        await self.loadPage(replaces: false)
    }

    private func loadPage(replaces: Bool) async {
        let generation = self.generation
        self.isLoading = true
        defer { if generation == self.generation { self.isLoading = false } }
        do throws(ChatClientError) {
            let page = try await self.conversation.members(matching: self.query, state: self.state, after: self.next)
            guard generation == self.generation else { return }
            self.members = replaces ? page.members : self.members + page.members
            self.total = page.total
            self.next = page.next
            self.error = nil
        } catch {
            if generation == self.generation { self.error = error }
        }
    }
}
