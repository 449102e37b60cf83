import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatClient

/// An open conversation when its data are replaced, when the log grows faster than it is read, and
/// when the user loses access to the conversation.
@MainActor @Suite("Threads and changed data", .timeLimit(.minutes(5)))
struct ThreadResetTests {
    let fixture: ThreadFixture
    private var server: FakeServer { self.fixture.server }
    private var pair: ConversationID { self.fixture.pair }

    init() throws { self.fixture = try ThreadFixture() }

    private func renewEpoch() {
        self.server.renewEpoch()
        self.server.disconnectAll()
    }

    // MARK: Another epoch

    @Test func anotherEpochShowsTheNewestRowsAndLetsTheUserPage() async throws {
        self.fixture.write(1...300)
        self.fixture.read(300)
        try await self.fixture.with { client, thread in
            await thread.open()
            #expect(thread.rows.compactMap(\.text) == self.fixture.texts(281...300))
            let hellos = self.server.count(of: "hello")
            self.renewEpoch()
            // The client can be online again before a check of its state.
            try await eventually { self.server.count(of: "hello") > hellos }
            try await client.isOnline()
            // The model learns of the message after it learned that the data were replaced.
            self.fixture.write(301...301)
            try await eventually { thread.rows.last?.text == "301" && !thread.isLoading && thread.hasEarlier }
            let first = try #require(thread.rows.first?.text.flatMap { Int($0) })
            #expect(thread.rows.compactMap(\.text) == self.fixture.texts(first...301))
            await thread.loadEarlier()
            #expect(thread.rows.first?.text == "\(first - 20)", "earlier rows can be loaded")
        }
    }

    @Test func anotherEpochEndsTheSeparatorOfUnreadMessages() async throws {
        self.fixture.write(1...30)
        try await self.fixture.with { client, thread in
            try await eventually { try await client.conversation(self.pair).storedMessages(limit: 40).messages.count == 30 }
            await thread.open()
            #expect(thread.firstUnread == 1)
            self.renewEpoch()
            try await eventually { thread.firstUnread == nil }
            try await eventually { thread.rows.compactMap(\.text).suffix(10) == self.fixture.texts(21...30)[...].suffix(10) }
        }
    }

    /// A conversation without messages has no earlier rows, before and after its data are replaced.
    @Test func anEmptyConversationStaysEmpty() async throws {
        try await self.fixture.with { client, thread in
            await thread.open()
            #expect(thread.rows.isEmpty && !thread.hasEarlier)
            let count = self.server.count(of: "hello")
            self.renewEpoch()
            try await eventually { self.server.count(of: "hello") > count }
            try await client.isOnline()
            try await eventually { !thread.hasEarlier && !thread.isLoading }
            #expect(thread.rows.isEmpty && thread.error == nil)
            self.fixture.write(1...1)
            try await eventually { thread.rows.compactMap(\.text) == ["1"] }
        }
    }

    @Test func unsentMessagesStayAtTheEndDuringAReset() async throws {
        self.fixture.write(1...3)
        try await self.fixture.with { client, thread in
            await thread.open()
            self.server.setReachable(false)
            self.server.disconnectAll()
            try await client.conversation(self.pair).send("unsent")
            try await eventually { thread.unsent.count == 1 }
            self.server.renewEpoch()
            self.server.fail("send", with: ChatError(.forbidden, message: "no"))
            self.server.setReachable(true)
            try await eventually { if case .failed = thread.unsent.first?.delivery { true } else { false } }
            try await eventually { thread.rows.compactMap(\.text) == ["1", "2", "3", "unsent"] }
        }
    }

    // MARK: The window

    @Test func rowsThatArriveWhileTheUserReadsAboveAreNotShown() async throws {
        self.fixture.write(1...100)
        self.fixture.read(100)
        try await self.fixture.with { client, thread in
            try await eventually { try await client.conversation(self.pair).storedMessages(limit: 30).messages.last?.text == "100" }
            await thread.open()
            await thread.jump(to: 50)
            #expect(thread.hasEarlier && thread.hasLater && thread.rows.contains { $0.text == "50" })
            let before = thread.rows
            self.fixture.write(101...103)
            try await eventually { thread.head?.n == 103 }
            try await eventually { try await client.conversation(self.pair).storedMessages(limit: 3).messages.last?.text == "103" }
            #expect(thread.rows == before, "the window does not reach the end of the log")
            var loads = 0
            while thread.hasLater, loads < 20 {
                await thread.loadLater()
                loads += 1
            }
            #expect(thread.rows.last?.text == "103")
            let numbers = thread.rows.compactMap { $0.text.flatMap { Int($0) } }
            #expect(numbers == Array((numbers.first ?? 0)...103), "no row is missing or shown twice")
        }
    }

    @Test func theWindowIsBoundedAtTheEndOfTheLog() async throws {
        try await self.fixture.with { _, thread in
            await thread.open()
            self.fixture.write(1...150)
            try await eventually { thread.rows.last?.text == "150" }
            #expect(thread.rows.count <= 60 && thread.hasEarlier && !thread.hasLater)
            await thread.loadEarlier()
            #expect(thread.rows.count == 60 && thread.hasLater)
            await thread.jumpToEnd()
            #expect(thread.rows.last?.text == "150" && !thread.hasLater)
        }
    }

    @Test func aJumpToNoMessageReportsAnErrorAndKeepsTheRows() async throws {
        self.fixture.write(1...5)
        try await self.fixture.with { _, thread in
            await thread.open()
            try await eventually { thread.rows.count == 5 }
            // In the meantime the client may request a part of its log; this request then fails.
            while thread.error == nil {
                self.server.fail("history", with: ChatError(.notFound, message: "gone"))
                await thread.jump(to: 999)
            }
            #expect(thread.error?.code == .notFound && thread.rows.count == 5 && !thread.isLoading)
            await thread.jump(to: 3)
            #expect(thread.error == nil && thread.rows.contains { $0.text == "3" })
        }
    }

    // MARK: Receipts and typing

    @Test func typingEndsWithTheMessageTheStopAndTheTime() async throws {
        try await self.fixture.with { _, thread in
            await thread.open()
            @MainActor func push(_ isStopped: Bool) {
                self.server.push("typing", TypingPush(conversation: self.pair, user: Value.bob, isStopped: isStopped).json)
            }
            // In the test environment the notification expires after a few turns of other tasks.
            push(false)
            try await eventually { thread.typing.isEmpty }
            push(true)
            self.fixture.write(1...1)
            try await eventually { thread.rows.count == 1 && thread.typing.isEmpty }
        }
    }

    /// A member who can no longer write does not appear as writing, also in a thread.
    @Test(arguments: [false, true], [EventKind.memberRemove, .memberBan, .memberMute, .memberLeave])
    func typingEndsWithTheRightToWrite(isThread: Bool, kind: EventKind) async throws {
        let server = FakeServer()
        for name in [Value.alice, Value.bob] { server.user(name) }
        let group = server.conversation(.group, [Value.alice, Value.bob])
        server.write("root", by: Value.alice, in: group)
        var environment = ChatEnvironment.test
        // The notice does not expire during the test.
        environment.sleep = { delay in
            guard delay == .seconds(6) else { return try await ChatEnvironment.test.sleep(delay) }
            try await Task.sleep(for: .seconds(600))
        }
        let device = try TestDevice(server, environment: environment)
        let client = try await device.signIn()
        try await client.isOnline()
        let thread = ThreadModel(client: client, conversation: group, thread: isThread ? 1 : nil)
        await thread.open()
        for user in [Value.bob, Value.name("carol")] {
            server.push("typing", TypingPush(conversation: group, user: user, isStopped: false).json)
        }
        try await eventually { thread.typing == [Value.bob, Value.name("carol")] }
        func push(_ seq: Int64, _ body: JSONObject) {
            let change = ChatEvent(
                conversation: group, seq: seq, n: nil, sender: kind == .memberLeave ? Value.bob : Value.alice, id: nil, at: 1_000 + seq,
                kind: kind, body: body)
            server.push("event", EventPush(events: [change]).json)
        }
        switch kind {
        case .memberLeave: push(2, [:])
        case .memberMute:
            push(2, ["users": ["carol"]])  // carol may write again
            push(3, ["users": ["bob"], "until": 1_800_000_000_000])
        default: push(2, ["users": ["bob"]])
        }
        try await eventually { thread.typing == [Value.name("carol")] }
        await thread.close()
        await client.close()
        device.remove()
    }

    @Test func ownMessagesAndReadOnesDoNotMoveThePosition() async throws {
        self.fixture.write(1...3)
        try await self.fixture.with { client, thread in
            try await eventually { try await client.conversation(self.pair).storedMessages().messages.count == 3 }
            await thread.open()
            let rows = thread.rows
            await thread.didShow(rows[1])
            try await eventually { thread.head?.read == 2 && thread.head?.unread == 1 }
            await thread.didShow(rows[0])
            #expect(thread.head?.read == 2)
            try await client.conversation(self.pair).send("mine")
            try await eventually { thread.rows.last?.text == "mine" && thread.unsent.isEmpty }
            let own = try #require(thread.rows.last)
            await thread.didShow(own)
            #expect(thread.head?.read == 2 && thread.head?.unread == 1, "an own message does not read those before it")
            await thread.didShow(rows[2])
            try await eventually { thread.head?.unread == 0 }
        }
    }
}
