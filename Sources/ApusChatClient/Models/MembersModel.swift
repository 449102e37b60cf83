public import ApusChatProtocol
public import Observation

/// A model of the members of a conversation, for a view, loaded in pages.
@MainActor @Observable
public final class MembersModel {
    /// The loaded members.
    public private(set) var members: [ChatMember] = []
    /// The number of members who match the query, including those not loaded.
    public private(set) var total: Int64 = 0
    /// Whether there are further pages.
    public var hasMore: Bool { self.next != nil }
    /// Whether a page is being loaded.
    public private(set) var isLoading = false
    /// The error of the last request; nil if it succeeded.
    public private(set) var error: ChatClientError?

    private let conversation: ChatConversation
    /// The state of the listed users.
    public let state: MemberState
    private var query: String?
    private var next: PageToken?
    /// The number of the current query. It identifies late answers to an earlier query.
    @ObservationIgnored private var generation = 0

    /// Creates an empty list, which ``load(matching:)`` fills.
    ///
    /// - Parameters:
    ///   - client: The client that requests the members.
    ///   - conversation: The conversation.
    ///   - state: The state of the listed users. Default: `joined`.
    public init(client: ChatClient, conversation: ConversationID, state: MemberState = .joined) {
        self.conversation = client.conversation(conversation)
        self.state = state
    }

    /// Loads the first page.
    ///
    /// - Parameter query: A part of an account name or of a shown name; nil for all members.
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
