import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

@MainActor @Suite("Models: threads, receipts and names")
struct ThreadRepliesTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    private func end(_ client: ChatClient) async {
        await client.close()
        self.device.remove()
    }

    @Test func aThreadShowsItsRepliesAndCountsThem() async throws {
        self.server.write("question", by: Value.bob, in: self.pair)
        let client = try await self.device.signIn()
        try await client.isOnline()
        let all = ThreadModel(client: client, conversation: self.pair)
        await all.open()
        try await eventually { all.rows.count == 1 }
        let thread = ThreadModel(client: client, conversation: self.pair, thread: 1)
        await thread.open()
        let composer = ComposerModel(client: client, conversation: self.pair, thread: 1)
        composer.text = "an *answer*"
        await composer.send()
        try await eventually { thread.rows.count == 2 && thread.unsent.isEmpty }
        self.server.write("elsewhere", by: Value.bob, in: self.pair)
        self.server.reply("another answer", by: Value.bob, to: 1, in: self.pair)
        try await eventually { thread.rows.compactMap(\.text) == ["question", "an answer", "another answer"] }
        #expect(thread.rows[1].spans.map(\.kinds) == [[], [.italic]])
        try await eventually { all.rows.first?.event.replies == ThreadSummary(count: 2, seq: 4) }
        #expect(all.rows.count == 4)
        await thread.didShow(try #require(thread.rows.last))
        #expect(all.head?.read == 0)
        await self.end(client)
    }

    @Test func anOldThreadIsRequestedInPages() async throws {
        self.server.write("question", by: Value.bob, in: self.pair)
        for number in 1...260 {
            self.server.write("between \(number)", by: Value.bob, in: self.pair)
            self.server.reply("\(number)", by: Value.bob, to: 1, in: self.pair)
        }
        let client = try await self.device.signIn()
        try await client.isOnline()
        let thread = ThreadModel(client: client, conversation: self.pair, thread: 1, pageSize: 100, maximumRows: 200)
        await thread.open()
        #expect(thread.rows.compactMap(\.text) == (161...260).map { "\($0)" })
        #expect(thread.hasEarlier && !thread.hasLater)
        let requests = self.server.requests(of: "history").filter { $0["thread"] != nil }
        #expect(requests.count == 1 && requests.allSatisfy { $0["from"] == nil }, "the thread is read from its end")
        await thread.loadEarlier()
        #expect(thread.rows.compactMap(\.text) == (61...260).map { "\($0)" })
        await thread.loadEarlier()
        #expect(thread.rows.first?.text == "question" && !thread.hasEarlier && thread.hasLater)
        #expect(thread.rows.count == 161 || thread.rows.count == 200)
        await thread.loadLater()
        #expect(thread.rows.last?.text == "\(thread.rows.count == 200 ? 260 : 239)" || thread.hasEarlier)
        // The replies leave no gap in the rows of the conversation.
        let page = try await client.conversation(self.pair).messages(limit: 5)
        #expect(page.messages.compactMap(\.text) == ["258", "between 259", "259", "between 260", "260"])
        await self.end(client)
    }

    @Test func deliveryFollowsThePositionsOfTheOther() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let thread = ThreadModel(client: client, conversation: self.pair)
        await thread.open()
        let conversation = client.conversation(self.pair)
        try await conversation.send("hello")
        try await eventually { thread.rows.first?.delivery == .sent && thread.unsent.isEmpty }
        let received = ReadMark(conversation: self.pair, user: Value.bob, received: 1)
        self.server.push(ChatPushes.mark.name, MarkPush(marks: [received]).json)
        try await eventually { thread.rows.first?.delivery == .delivered }
        #expect(thread.rows.first?.receipts == MessageReceipts(members: 1, delivered: 1, read: 0))
        // The positions that the other user reached during the disconnection are requested.
        self.server.setRead(1, of: Value.bob)
        self.server.disconnectAll()
        try await eventually { thread.rows.first?.delivery == .read }
        await self.end(client)
    }

    /// A server that started again does not know what was received before.
    @Test func receivedMessagesAreReportedAgainAfterAReconnection() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        self.server.write("hello", by: Value.bob, in: self.pair)
        let report = MarkRequest(conversation: self.pair, received: 1).json
        func reports() -> Int { self.server.requests(of: "mark").filter { $0 == report }.count }
        try await eventually { reports() == 1 }
        self.server.disconnectAll()
        try await eventually { reports() == 2 }
        await self.end(client)
    }

    @Test func aliasesAndLookAlikesAreShown() async throws {
        self.server.set(contacts: [Contact(user: ChatUser(name: Value.bob), state: .friend, alias: "Bobby", at: 1)])
        let client = try await self.device.signIn()
        let list = ConversationListModel(client: client)
        await list.start()
        try await eventually { list.conversations.contains { list.title(of: $0) == "Bobby" } }
        #expect(await client.title(of: Value.bob) == "Bobby")
        let head = try #require(list.conversations.first)
        #expect(list.looksLike(head) == nil)
        #expect(await client.lookalike(of: ChatUser(name: Value.name("b0b"))) == Value.bob)
        #expect(await client.lookalike(of: ChatUser(name: Value.name("eve"), nick: "Воb")) == Value.bob)
        #expect(await client.lookalike(of: ChatUser(name: Value.name("eve"))) == nil)
        await client.close()
        // The client has the aliases without a connection.
        self.server.setReachable(false)
        let account = try #require(self.device.accounts.current)
        let offline = try await self.device.accounts.open(account)
        #expect(await offline.title(of: Value.bob) == "Bobby")
        await self.end(offline)
    }

    @Test func theComposerMentionsSchedulesAndStaysSilent() async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let composer = ComposerModel(client: client, conversation: self.pair)
        composer.text = "hi @bo"
        try await eventually { composer.suggestions.map(\.name) == [Value.bob] }
        composer.complete(with: try #require(composer.suggestions.first))
        #expect(composer.text == "hi @bob ")
        composer.text += "**now**"
        composer.sendAt = 1_800_000_000_000
        composer.isSilent = true
        await composer.send()
        #expect(composer.error == nil && composer.text.isEmpty && composer.sendAt == nil && !composer.isSilent)
        let scheduled = try #require(self.server.scheduled.first)
        #expect(scheduled.sendAt == 1_800_000_000_000 && scheduled.isSilent)
        guard case .text(let body) = try ChatBody(kind: .text, body: scheduled.body) else { throw NeverTrue() }
        #expect(body.text == "hi @bob now")
        #expect(body.entities.map(\.kind) == [.mention, .bold])
        #expect(body.entities.first?.user == Value.bob)
        // An edit begins with the Markdown source of the same text and entities.
        try await client.conversation(self.pair).send(.text(body))
        let thread = ThreadModel(client: client, conversation: self.pair)
        await thread.open()
        try await eventually { thread.rows.first?.seq != nil && thread.unsent.isEmpty }
        composer.edit(try #require(thread.rows.first))
        #expect(composer.text == "hi @bob **now**")
        composer.text = "hi @bob *then*"
        await composer.send()
        try await eventually { thread.rows.first?.spans.map(\.kinds) == [[], [.mention], [], [.italic]] }
        await self.end(client)
    }
}
