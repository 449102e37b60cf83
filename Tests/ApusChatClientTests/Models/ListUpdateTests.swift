import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

/// Lists of conversations and members, and searches, after failures and replaced data.
@MainActor @Suite("Lists after changes", .timeLimit(.minutes(5)))
struct ListUpdateTests {
    private let server = FakeServer()

    // MARK: Conversations

    @Test func theListShowsTheStateOfTheConnection() async throws {
        try await self.server.withPair { client, _ in
            let list = ConversationListModel(client: client)
            #expect(list.connection == .connecting && list.conversations.isEmpty, "before the start")
            await list.start()
            #expect(list.connection == .online)
            self.server.setReachable(false)
            self.server.disconnectAll()
            try await eventually { list.connection == .connecting }
            #expect(!list.conversations.isEmpty, "the stored conversations remain")
            self.server.setReachable(true)
            try await eventually { list.connection == .online }
            await client.close()
            try await eventually { list.connection == .closed }
        }
    }

    /// After a restore of the server, the list has the conversations of the server.
    @Test func replacedDataAreShown() async throws {
        try await self.server.withPair { client, pair in
            let old = ChatHead(conversation: Value.other, kind: .group, title: "Old", seq: 1, n: 1, minSeq: 1, at: 1)
            self.server.push("head", HeadPush(heads: [old]).json)
            let list = ConversationListModel(client: client)
            await list.start()
            try await eventually { list.conversations.contains { $0.title == "Old" } }
            self.server.renewEpoch()
            self.server.disconnectAll()
            try await eventually {
                !list.conversations.contains { $0.title == "Old" } && list.conversations.contains { $0.conversation == pair }
            }
        }
    }

    /// The number of unread messages is that of the list, whatever the list shows.
    @Test func theBadgeOfTheClientIsThatOfTheList() async throws {
        try await self.server.withPair { client, pair in
            let list = ConversationListModel(client: client)
            await list.start()
            for number in 1...3 { self.server.write("\(number)", by: Value.bob, in: pair) }
            try await eventually { list.badge == 3 }
            #expect(await client.badge == 3)
            list.filter = .archived
            #expect(list.badge == 3 && list.conversations.isEmpty)
            var head = try await client.conversation(pair).head
            head.own.mutedUntil = .max >> 12
            let muted = head
            self.server.push("head", HeadPush(heads: [muted]).json)
            try await eventually { list.badge == 0 }
            #expect(await client.badge == 0)
        }
    }

    /// A preview whose message has expired is shown without its content.
    @Test func anExpiredPreviewHasNoContent() async throws {
        try await self.server.withPair { client, pair in
            let now = ChatEnvironment.test.now()
            var head = try await client.conversation(pair).head
            (head.seq, head.n) = (1, 1)
            head.last = EventPreview(seq: 1, n: 1, sender: Value.bob, at: now - 60_000, kind: .text, text: "secret")
            head.settings = ConversationSettings()
            head.settings?.expire = 60
            let list = ConversationListModel(client: client)
            await list.start()
            let pushed = head
            self.server.push("head", HeadPush(heads: [pushed]).json)
            try await eventually { list.conversations.contains { $0.last != nil } }
            let last = list.conversations.first { $0.conversation == pair }?.last
            #expect(last?.text == nil && last?.state == .expired)
        }
    }

    // MARK: Members

    /// A failed page keeps the shown members. The next request removes the error.
    @Test func aFailedListOfMembersIsReported() async throws {
        try await self.server.withPair { client, pair in
            let members = MembersModel(client: client, conversation: pair)
            await members.load()
            let shown = members.members
            #expect(shown.count == 2 && members.total == 2 && members.error == nil)
            self.server.fail("members", with: ChatError(.forbidden, message: "Not you."))
            await members.load(matching: "bo")
            #expect(members.error?.message == "Not you." && members.members == shown && !members.isLoading)
            await members.load(matching: "bo")
            #expect(members.error == nil && members.members.map(\.user.name) == [Value.bob] && members.total == 1)
        }
    }

    @Test func aListWithoutFurtherPagesLoadsNone() async throws {
        try await self.server.withPair { client, pair in
            let members = MembersModel(client: client, conversation: pair, state: .banned)
            #expect(!members.hasMore)
            let before = self.server.count(of: "members")
            await members.loadMore()
            #expect(self.server.count(of: "members") == before)
            await members.load(matching: "")
            let request = self.server.requests(of: "members").last
            #expect(request?["state"] == "banned" && request?["query"] == nil, "an empty text is no query")
            await members.loadMore()
            #expect(self.server.count(of: "members") == before + 1)
        }
    }

    // MARK: Search

    /// Only the last of several quick changes is requested.
    @Test func aSearchWaitsForTheEndOfTheInput() async throws {
        try await self.server.withPair { client, _ in
            self.server.script("search", SearchAnswer(hits: []).json)
            let search = SearchModel(client: client)
            for query in ["n", "ne", "nee", "need", "needle"] { search.query = query }
            try await eventually { self.server.count(of: "search") >= 1 && !search.isSearching }
            #expect(self.server.requests(of: "search").map { $0["query"] } == ["needle"])
        }
    }

    @Test func aFilterWithoutWordsRequestsNothing() async throws {
        try await self.server.withPair { client, pair in
            let search = SearchModel(client: client, conversation: pair)
            search.filter.kinds = [.image]
            search.query = " \n"
            for _ in 0..<200 { await Task.yield() }
            #expect(self.server.count(of: "search") == 0 && search.hits.isEmpty && !search.isSearching)
            await search.loadMore()
            #expect(self.server.count(of: "search") == 0)
            self.server.script("search", SearchAnswer(hits: []).json)
            search.query = "x"
            try await eventually { self.server.count(of: "search") == 1 }
            let request = self.server.requests(of: "search").last
            #expect(request?["conv"]?.stringValue == pair.rawValue && request?["kinds"] == ["image"])
        }
    }

    /// The stored hits remain if the server refuses the search.
    @Test func aRefusedSearchShowsTheStore() async throws {
        try await self.server.withPair { client, pair in
            self.server.write("the harbour", by: Value.bob, in: pair)
            try await eventually { try await client.conversation(pair).texts.count == 1 }
            self.server.script("search", ChatError(.limit, message: "Too many words.").json)
            let search = SearchModel(client: client)
            search.query = "harbour"
            try await eventually { self.server.count(of: "search") == 1 && !search.isSearching }
            #expect(search.hits.map(\.snippet) == ["the harbour"] && search.isStoredOnly && !search.hasMore)
        }
    }
}
