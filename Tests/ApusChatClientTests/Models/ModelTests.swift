import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatClient

@MainActor @Suite("Models")
struct ModelTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    private func end(_ client: ChatClient) async {
        await client.close()
        self.device.remove()
    }

    @Test func theListIsOrderedAndFiltered() async throws {
        let group = self.server.conversation(.group, [Value.bob, Value.alice])
        let client = try await self.device.signIn()
        let list = ConversationListModel(client: client)
        await list.start()
        try await eventually { list.connection == .online && list.conversations.count >= 2 }
        self.server.write("to the group", by: Value.bob, in: group)
        try await eventually { list.conversations.first?.conversation == group }
        self.server.write("to alice", by: Value.bob, in: self.pair)
        try await eventually { list.conversations.first?.conversation == self.pair && list.badge == 2 }
        #expect(list.title(of: try #require(list.conversations.first)) == "bob")
        list.filter = .groups
        #expect(list.conversations.map(\.conversation) == [group])
        list.filter = .unread
        #expect(list.conversations.count == 2)
        list.filter = .archived
        #expect(list.conversations.isEmpty)
        await self.end(client)
    }

    @Test func aThreadOpensAtItsFirstUnreadMessageAndPagesBothWays() async throws {
        for number in 1...300 { self.server.write("\(number)", by: Value.bob, in: self.pair) }
        self.server.change(.mark(MarkCommand(conversation: ConversationKey(self.pair.number), read: 280)), by: Value.alice)
        let client = try await self.device.signIn()
        try await client.isOnline()
        try await eventually { try await client.conversation(self.pair).storedMessages(limit: 10).messages.last?.text == "300" }
        let thread = ThreadModel(client: client, conversation: self.pair, pageSize: 20, maximumRows: 60)
        await thread.open()
        #expect(thread.firstUnread == 281)
        #expect(thread.rows.compactMap(\.text) == (272...291).map { "\($0)" })
        #expect(thread.hasEarlier && thread.hasLater)
        await thread.loadLater()
        #expect(thread.rows.last?.text == "300" && !thread.hasLater)
        for _ in 0..<3 { await thread.loadEarlier() }
        #expect(thread.rows.count == 60 && thread.hasLater)
        #expect(thread.rows.first?.text == "212")
        await thread.jumpToEnd()
        #expect(thread.rows.last?.text == "300")
        await thread.didShow(try #require(thread.rows.last))
        try await eventually { thread.head?.unread == 0 }
        await thread.close()
        await self.end(client)
    }

    @Test func aThreadFollowsTheLogAndItsUnsentMessages() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let thread = ThreadModel(client: client, conversation: self.pair)
        await thread.open()
        let composer = ComposerModel(client: client, conversation: self.pair)
        #expect(!composer.canSend)
        composer.text = "  hello  "
        await composer.send()
        #expect(composer.text.isEmpty)
        try await eventually { thread.rows.compactMap(\.text) == ["hello"] && thread.unsent.isEmpty }
        composer.edit(try #require(thread.rows.first))
        #expect(composer.text == "hello")
        composer.text = "hello again"
        await composer.send()
        try await eventually { thread.rows.first?.text == "hello again" }
        self.server.write("answer", by: Value.bob, in: self.pair)
        try await eventually { thread.rows.compactMap(\.text) == ["hello again", "answer"] }
        self.server.fail("send", with: ChatError(.forbidden, message: "no"))
        composer.reply(to: try #require(thread.rows.last))
        composer.text = "refused"
        await composer.send()
        try await eventually { if case .failed = thread.rows.last?.delivery { true } else { false } }
        #expect(thread.rows.last?.event.ref == 3)
        await self.end(client)
    }

    @Test func draftsAreRestored() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let composer = ComposerModel(client: client, conversation: self.pair)
        composer.text = "unfinished"
        await composer.leave()
        try await eventually { self.server.count(of: "draft") >= 1 }
        let again = ComposerModel(client: client, conversation: self.pair)
        await again.restore()
        #expect(again.text == "unfinished")
        await self.end(client)
    }

    @Test func membersAndSearch() async throws {
        self.server.write("needle in the hay", by: Value.bob, in: self.pair)
        let client = try await self.device.signIn()
        try await client.isOnline()
        try await eventually { try await client.conversation(self.pair).texts.count == 1 }
        let members = MembersModel(client: client, conversation: self.pair)
        await members.load()
        #expect(members.members.map(\.user.name) == [Value.alice, Value.bob])
        #expect(!members.hasMore)
        let search = SearchModel(client: client)
        search.query = "needle"
        try await eventually { search.hits.first?.snippet == "needle in the hay" && search.isStoredOnly }
        search.query = ""
        #expect(search.hits.isEmpty)
        await self.end(client)
    }

    @Test func modelsAreReleased() async throws {
        let client = try await self.device.signIn()
        weak var list: ConversationListModel?
        weak var thread: ThreadModel?
        await {
            let one = ConversationListModel(client: client)
            let two = ThreadModel(client: client, conversation: self.pair)
            await one.start()
            await two.open()
            (list, thread) = (one, two)
        }()
        try await eventually { list == nil && thread == nil }
        try await eventually { client.engine.broadcaster.count == 0 }
        await self.end(client)
    }
}
