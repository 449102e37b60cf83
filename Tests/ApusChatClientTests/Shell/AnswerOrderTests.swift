import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatClient

/// Pushes that arrive together with an answer are applied in the order of their receipt.
@Suite("Client: the order of answers and pushes", .timeLimit(.minutes(5)))
struct AnswerOrderTests {
    private let server = FakeServer()
    private let device: TestDevice
    private let room: ConversationID

    init() throws {
        self.server.user(Value.alice)
        self.server.user(Value.bob)
        self.room = self.server.conversation(.pair, [Value.alice, Value.bob])
        self.device = try TestDevice(self.server)
    }

    private func online() async throws -> ChatClient {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        return alice
    }

    private func head(_ head: ChatHead, isArchived: Bool) -> (String, JSONValue) {
        var head = head
        head.own.isArchived = isArchived
        return (ChatPushes.head.name, HeadPush(heads: [head]).json)
    }

    private func answer(seq: Int64) -> JSONValue {
        ChangeAnswer(conversation: self.room, id: Value.id("change"), seq: seq, at: 1).json
    }

    /// The server pushes heads with the old settings until it stores the change.
    @Test func anAnswerAppliesAfterTheHeadsThatArrivedBeforeIt() async throws {
        let alice = try await self.online()
        let chat = alice.conversation(self.room)
        for round in 1...50 {
            let isOn = round % 2 == 1
            self.server.script("own.set", self.answer(seq: Int64(round)))
            let old = self.head(try await chat.head, isArchived: !isOn)
            self.server.push(around: "own.set", before: Array(repeating: old, count: 20), after: [])
            try await chat.setOwn(isArchived: isOn)
            let isArchived = try await chat.head.own.isArchived
            guard isArchived == isOn else {
                Issue.record("the head of round \(round) has the old settings")
                break
            }
        }
        await alice.close()
        self.device.remove()
    }

    /// Another device changes the settings immediately after this one.
    @Test func aHeadThatArrivesAfterAnAnswerAppliesAfterIt() async throws {
        let alice = try await self.online()
        let chat = alice.conversation(self.room)
        for round in 1...50 {
            let isOn = round % 2 == 1
            self.server.script("own.set", self.answer(seq: Int64(round)))
            self.server.push(around: "own.set", before: [], after: [self.head(try await chat.head, isArchived: !isOn)])
            // The head is applied before the push that follows it.
            let typing = TypingPush(conversation: self.room, user: Value.bob)
            let applied = AsyncStream.makeStream(of: Void.self)
            let observation = alice.observe { update in if case .typing = update { applied.continuation.yield() } }
            try await chat.setOwn(isArchived: isOn)
            self.server.push(ChatPushes.typing.name, typing.json)
            for await _ in applied.stream { break }
            observation.cancel()
            let isArchived = try await chat.head.own.isArchived
            guard isArchived == !isOn else {
                Issue.record("the head of round \(round) has the settings of the earlier change")
                break
            }
        }
        await alice.close()
        self.device.remove()
    }

    @Test func aWaitForAConnectionEndsWithItsTask() async throws {
        let alice = try await self.online()
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await eventually { await alice.state != .online }
        let cancelled = Task { try await alice.settings() }
        cancelled.cancel()
        await #expect { try await cancelled.value } throws: { ($0 as? ChatClientError)?.code == .cancelled }
        await alice.close()
        self.device.remove()
    }

    @Test func aRequestWithoutAnAnswerEndsWithItsTaskOrTheClient() async throws {
        let alice = try await self.online()
        self.server.withhold("settings")
        let cancelled = Task { try await alice.settings() }
        try await eventually { self.server.count(of: "settings") == 1 }
        cancelled.cancel()
        await #expect { try await cancelled.value } throws: { ($0 as? ChatClientError)?.code == .cancelled }
        let waiting = Task { try await alice.settings() }
        try await eventually { self.server.count(of: "settings") == 2 }
        await alice.close()
        await #expect(throws: ChatClientError(.closed, message: "the client was closed")) { try await waiting.value }
        self.device.remove()
    }
}
