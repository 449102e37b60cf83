import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatClient

@Suite("Client")
struct ChatClientTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    @Test func messagesGoBothWays() async throws {
        let other = try TestDevice(self.server)
        let alice = try await self.device.signIn()
        let bob = try await other.signIn(Value.bob)
        try await alice.isOnline()
        try await bob.isOnline()
        try await alice.conversation(self.pair).send("hello")
        try await eventually { try await bob.conversation(self.pair).texts == ["hello"] }
        try await bob.conversation(self.pair).send("hi")
        try await eventually { try await alice.conversation(self.pair).texts == ["hello", "hi"] }
        try await eventually { try await alice.conversation(self.pair).unsent.isEmpty }
        await alice.close()
        await bob.close()
        self.device.remove()
        other.remove()
    }

    @Test func theLimitsOfTheServerApply() async throws {
        var limits = HelloLimits()
        limits.blobBytes = 3
        self.server.setLimits(limits)
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data([1, 2, 3, 4]).write(to: file)
        await #expect { try await alice.conversation(self.pair).send(file: file.path, type: "image/png") } throws: { error in
            (error as? ChatClientError)?.code == .invalidUse && "\(error)".contains("accepts at most 3 bytes")
        }
        #expect(self.server.count(of: "upload") == 0)
        try FileManager.default.removeItem(at: file)
        await alice.close()
        self.device.remove()
    }

    @Test func helloListsTheFeaturesOfTheClient() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let hello = try HelloRequest(json: try #require(self.server.requests(of: "hello").first))
        #expect(Set(hello.features) == Set(ChatFeature.all).subtracting(["calls"]))
        #expect(hello.omittedPushes == [.calls])
        await alice.close()
        self.device.remove()
    }

    @Test func aMessageGoesThroughItsStates() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let states = Recorder()
        let observation = alice.observe { update in
            switch update {
            case .outgoing(let message): states.add(message.delivery)
            case .messages(_, let messages): for message in messages { states.add(message.delivery) }
            default: break
            }
        }
        let message = try await alice.conversation(self.pair).send("hello")
        #expect(message.delivery == .queued)
        try await eventually { states.all.contains(.sent) }
        #expect(states.all.prefix(3) == [.queued, .sending, .sent])
        self.server.change(.mark(MarkCommand(conversation: ConversationKey(self.pair.number), read: 1)), by: Value.bob)
        try await eventually { try await alice.conversation(self.pair).storedMessages().messages.last?.delivery == .read }
        observation.cancel()
        await alice.close()
        self.device.remove()
    }

    @Test func lostAnswersRepeatedPushesAndReconnectionsLoseNothing() async throws {
        self.server.repeatPushes()
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        var expected: [String] = []
        for round in 0..<12 {
            if round % 3 == 0 { self.server.loseAnswers(2) }
            if round % 4 == 1 { self.server.losePushes(2) }
            if round % 5 == 2 { self.server.disconnectAll() }
            try await alice.conversation(self.pair).send("text \(round)")
            expected.append("text \(round)")
        }
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == expected }
        try await eventually { try await alice.conversation(self.pair).unsent.isEmpty }
        #expect(try await alice.conversation(self.pair).texts == expected)
        await alice.close()
        self.device.remove()
    }

    @Test func messagesWrittenWithoutAConnectionSurviveARestart() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.setReachable(false)
        self.server.disconnectAll()
        for text in ["one", "two"] { try await alice.conversation(self.pair).send(text) }
        #expect(try await alice.conversation(self.pair).texts == ["one", "two"])
        await alice.close()
        self.server.setReachable(true)
        let again = try TestDevice(self.server, folder: self.device.folder)
        let account = try #require(again.accounts.current)
        let client = try await again.accounts.open(account)
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["one", "two"] }
        await client.close()
        self.device.remove()
    }

    @Test func aRefusedMessageFailsAloneAndIsSentAgain() async throws {
        self.server.fail("send", with: ChatError(.forbidden, message: "no"))
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let chat = alice.conversation(self.pair)
        try await chat.send("refused")
        try await chat.send("accepted")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["accepted"] }
        let failed = try #require(try await chat.unsent.first)
        guard case .failed(let error) = failed.delivery else { throw NeverTrue() }
        #expect(error.code == .forbidden)
        try await chat.retry(try #require(failed.event.id))
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["accepted", "refused"] }
        await alice.close()
        self.device.remove()
    }

    @Test func aTemporaryFailureIsRepeated() async throws {
        for _ in 0..<3 { self.server.fail("send", with: ChatError(.storage, message: "full")) }
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        try await alice.conversation(self.pair).send("hello")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["hello"] }
        await alice.close()
        self.device.remove()
    }

    @Test func changesReachAllDevices() async throws {
        let other = try TestDevice(self.server)
        let alice = try await self.device.signIn()
        let bob = try await other.signIn(Value.bob)
        try await alice.isOnline()
        try await bob.isOnline()
        let chat = alice.conversation(self.pair)
        try await chat.send("helo")
        try await eventually { try await bob.conversation(self.pair).texts == ["helo"] }
        self.server.loseAnswers(1)
        try await chat.edit(1, text: "hello")
        try await bob.conversation(self.pair).react(to: 1, with: "👍")
        try await eventually {
            let messages = try await alice.conversation(self.pair).storedMessages().messages
            return messages.first?.text == "hello" && messages.first?.event.reactions == [ReactionCount(key: "👍", count: 1)]
        }
        try await eventually { try await bob.conversation(self.pair).storedMessages().messages.first?.ownReactions == ["👍"] }
        try await chat.recall(1)
        try await eventually { try await bob.conversation(self.pair).storedMessages().messages.first?.event.state == .recalled }
        await alice.close()
        await bob.close()
        self.device.remove()
        other.remove()
    }

    @Test func aLongAbsenceLeavesAGapThatPagesFill() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.write("first", by: Value.bob, in: self.pair)
        try await eventually { try await alice.conversation(self.pair).texts == ["first"] }
        self.server.setReachable(false)
        self.server.disconnectAll()
        for number in 0..<1_200 { self.server.write("\(number)", by: Value.bob, in: self.pair) }
        self.server.setReachable(true)
        let chat = alice.conversation(self.pair)
        try await eventually { try await chat.storedMessages(limit: 10).messages.last?.text == "1199" }
        var page = try await chat.messages(limit: 100)
        var texts = page.messages.compactMap(\.text)
        while page.hasEarlier {
            page = try await chat.messages(before: page.messages.first?.event.seq, limit: 100)
            texts = page.messages.compactMap(\.text) + texts
        }
        #expect(texts == ["first"] + (0..<1_200).map { "\($0)" })
        await alice.close()
        self.device.remove()
    }

    /// After a long absence, an acknowledged message can be in the gap. It is shown once.
    @Test @MainActor func anAcknowledgedMessageInAGapIsShownOnce() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.write("first", by: Value.bob, in: self.pair)
        let chat = alice.conversation(self.pair)
        try await eventually { try await chat.texts == ["first"] }
        self.server.losePushes(2)
        try await chat.send("mine")
        try await eventually { try await chat.unsent.map(\.delivery) == [.sent] }
        self.server.setReachable(false)
        self.server.disconnectAll()
        for number in 0..<1_200 { self.server.write("\(number)", by: Value.bob, in: self.pair) }
        self.server.losePushes(0)
        self.server.setReachable(true)
        let thread = ThreadModel(client: alice, conversation: self.pair, pageSize: 100, maximumRows: 2_000)
        await thread.open()
        try await eventually { thread.messages.last?.text == "1199" && !thread.isLoading }
        #expect(thread.unsent.map(\.text) == ["mine"])
        for _ in 0..<40 where thread.hasEarlier { await thread.loadEarlier() }
        try await eventually { thread.unsent.isEmpty }
        #expect(thread.rows.compactMap(\.text) == ["first", "mine"] + (0..<1_200).map { "\($0)" })
        #expect(try await chat.unsent.isEmpty)
        await thread.close()
        await alice.close()
        self.device.remove()
    }

    @Test func aJumpShowsBothSidesOfAMessage() async throws {
        for number in 1...600 { self.server.write("\(number)", by: Value.bob, in: self.pair) }
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let chat = alice.conversation(self.pair)
        try await eventually { try await chat.storedMessages(limit: 10).messages.last?.text == "600" }
        let around = try await chat.messages(around: 300, limit: 20)
        #expect(around.messages.compactMap(\.text) == (291...310).map { "\($0)" })
        #expect(around.hasEarlier && around.hasLater)
        var page = around
        var texts = around.messages.compactMap(\.text)
        while page.hasLater {
            page = try await chat.messages(after: try #require(page.messages.last?.event.seq), limit: 100)
            texts += page.messages.compactMap(\.text)
        }
        #expect(texts == (291...600).map { "\($0)" })
        await alice.close()
        self.device.remove()
    }

    @Test func theFirstUnreadMessageIsFoundBelowTheStoredWindow() async throws {
        for number in 1...400 { self.server.write("\(number)", by: Value.bob, in: self.pair) }
        let key = ConversationKey(self.pair.number)
        for seq in 1...250 { self.server.change(.react(EventAddress(key, Int64(seq)), key: "👍", isOn: true), by: Value.bob) }
        self.server.change(.mark(MarkCommand(conversation: key, read: 30)), by: Value.alice)
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let chat = alice.conversation(self.pair)
        try await eventually { await alice.heads.contains { $0.n == 400 } }
        #expect(try await chat.firstUnread == 31)
        await alice.close()
        self.device.remove()
    }

    @Test func anotherEpochDropsTheCacheAndKeepsTheOutbox() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.write("old", by: Value.bob, in: self.pair)
        try await eventually { try await alice.conversation(self.pair).texts == ["old"] }
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await alice.conversation(self.pair).send("unsent")
        self.server.renewEpoch()
        self.server.setReachable(true)
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["old", "unsent"] }
        try await eventually { try await alice.conversation(self.pair).texts == ["old", "unsent"] }
        await alice.close()
        self.device.remove()
    }

    @Test func filesAreUploadedAndTextsOvertakeThem() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".png")
        try Data(repeating: 7, count: 700_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let chat = alice.conversation(self.pair)
        try await chat.send(file: file.path, type: "image/png", caption: "picture")
        try await chat.send("text")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob).count == 2 }
        #expect(self.server.count(of: "upload") == 3)
        try await eventually { try await chat.unsent.isEmpty }
        let image = try await chat.storedMessages().messages.first { $0.event.kind == .image }
        guard case .image(let body) = image?.body else { throw NeverTrue() }
        #expect(body.width == 40 && body.text == "picture")
        await alice.close()
        self.device.remove()
    }

    @Test func unknownSendersGetTheirNames() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        let carol = Value.name("carol")
        self.server.user(carol)
        let group = self.server.conversation(.group, [carol, Value.alice])
        self.server.write("hi", by: carol, in: group)
        try await eventually { await alice.user(carol)?.nick == "CAROL" }
        await alice.close()
        self.device.remove()
    }
}

/// Collects delivery states.
final class Recorder: @unchecked Sendable {  // `lock` guards the list
    private let lock = NSLock()
    private var list: [DeliveryState] = []
    var all: [DeliveryState] { self.lock.withLock { self.list } }
    func add(_ state: DeliveryState?) { self.lock.withLock { if let state { self.list.append(state) } } }
}
