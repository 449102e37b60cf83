import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// A server that was restored from a backup and lacks messages that it has acknowledged.
@Suite("Restored server")
struct RestoredServerTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID

    init() throws { (self.device, self.pair) = try self.server.pair() }

    /// Sends messages that the server acknowledges and loses, and disconnects the client.
    private func lose(_ texts: [String], of client: ChatClient) async throws {
        try await client.isOnline()
        self.server.forgetSends(texts.count)
        for text in texts { try await client.conversation(self.pair).send(text) }
        try await eventually { try await client.conversation(self.pair).unsent.map(\.delivery) == texts.map { _ in .sent } }
        try await self.disconnect(client)
    }

    private func disconnect(_ client: ChatClient) async throws {
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await eventually { await client.state == .connecting }
    }

    /// Signs in, and waits for a message of the other user.
    private func signIn(reading text: String) async throws -> ChatClient {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.write(text, by: Value.bob, in: self.pair)
        try await eventually { try await alice.conversation(self.pair).texts == [text] }
        return alice
    }

    private func restore() {
        self.server.renewEpoch()
        self.server.setReachable(true)
    }

    private func reopen(_ client: ChatClient) async throws -> ChatClient {
        await client.close()
        let again = try TestDevice(self.server, folder: self.device.folder)
        return try await again.accounts.open(try #require(again.accounts.current))
    }

    /// Checks that the server and the client have the messages, in order and once.
    private func check(_ texts: [String], of client: ChatClient) async throws {
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == texts }
        try await eventually { try await client.conversation(self.pair).unsent.isEmpty }
        #expect(try await client.conversation(self.pair).texts == texts)
        await client.close()
        self.device.remove()
    }

    @Test func lostMessagesAreSentAgainBeforeLaterOnes() async throws {
        let alice = try await self.device.signIn()
        try await self.lose(["one", "two"], of: alice)
        try await alice.conversation(self.pair).send("three")
        self.restore()
        try await self.check(["one", "two", "three"], of: alice)
    }

    @Test func lostMessagesAreSentAgainAfterARestart() async throws {
        var alice = try await self.device.signIn()
        try await self.lose(["one", "two"], of: alice)
        alice = try await self.reopen(alice)
        try await alice.conversation(self.pair).send("three")
        self.restore()
        try await self.check(["one", "two", "three"], of: alice)
    }

    /// The program ends after the cache was dropped and before the messages are sent.
    @Test func lostMessagesAreSentAgainAfterARestartThatFollowsTheReset() async throws {
        var alice = try await self.device.signIn()
        try await self.lose(["one", "two"], of: alice)
        let sends = self.server.count(of: "send")
        self.server.fail("send", with: ChatError(.unavailable, message: "busy", retryAfter: 3_600_000))
        self.restore()
        try await eventually {
            let states = try await alice.conversation(self.pair).unsent.map(\.delivery)
            return self.server.count(of: "send") == sends + 1 && states == [.queued, .queued]
        }
        alice = try await self.reopen(alice)
        try await self.check(["one", "two"], of: alice)
    }

    /// Without another epoch, the server has what it has acknowledged.
    @Test func aReconnectionToTheSameDataSendsNothingAgain() async throws {
        let alice = try await self.device.signIn()
        try await self.lose(["one"], of: alice)
        let sends = self.server.count(of: "send")
        self.server.setReachable(true)
        try await alice.isOnline()
        try await alice.conversation(self.pair).send("two")
        try await eventually { self.server.texts(in: self.pair, as: Value.bob) == ["two"] }
        #expect(self.server.count(of: "send") == sends + 1)
        await alice.close()
        self.device.remove()
    }

    /// The backup can be newer than the messages.
    @Test func aServerThatHasTheMessageKeepsOne() async throws {
        let alice = try await self.device.signIn()
        try await alice.isOnline()
        self.server.losePushes(2)
        try await alice.conversation(self.pair).send("one")
        try await eventually { try await alice.conversation(self.pair).unsent.map(\.delivery) == [.sent] }
        self.server.renewEpoch()
        self.server.disconnectAll()
        try await eventually { self.server.count(of: "send") == 2 }
        try await self.check(["one"], of: alice)
    }

    // MARK: Replies

    /// Writes a reply to the message at `ref` while there is no connection.
    private func reply(to ref: Int64, of client: ChatClient) async throws {
        try await self.disconnect(client)
        try await client.conversation(self.pair).send("answer", replyTo: ref)
    }

    @Test func aReplyToAMessageThatTheServerHasStaysOne() async throws {
        let alice = try await self.signIn(reading: "question")
        try await self.reply(to: 1, of: alice)
        self.restore()
        try await eventually { self.server.events(in: self.pair, as: Value.bob).map(\.ref) == [nil, 1] }
        try await self.check(["question", "answer"], of: alice)
    }

    /// The position is that of a message that the server has acknowledged and lost.
    @Test func aReplyToALostMessageIsAMessageOfItsOwn() async throws {
        let alice = try await self.device.signIn()
        try await self.lose(["one"], of: alice)
        let lost = try #require(try await alice.conversation(self.pair).unsent.first?.event.seq)
        try await alice.conversation(self.pair).send("answer", replyTo: lost)
        try await alice.conversation(self.pair).setDraft("half", replyTo: lost)
        self.restore()
        try await eventually { self.server.events(in: self.pair, as: Value.bob).count == 2 }
        #expect(self.server.events(in: self.pair, as: Value.bob).map(\.ref) == [nil, nil])
        #expect(try await alice.conversation(self.pair).draft?.ref == nil)
        try await self.check(["one", "answer"], of: alice)
    }

    /// In the restored log, another message has the position of the target.
    @Test(arguments: [false, true]) func aReplyDoesNotMoveToAnotherMessage(isKnown: Bool) async throws {
        let alice = try await self.signIn(reading: "question")
        try await self.reply(to: 1, of: alice)
        let other = ChatEvent(
            conversation: self.pair, seq: 1, n: 1, sender: Value.bob, id: ClientID("other"), at: 5, kind: .text,
            body: ["text": "another question"])
        self.server.script("history", HistoryAnswer(conversation: self.pair, events: [other], seq: 1).json)
        // A server that has stored the reply with its target refuses another request with its id.
        if isKnown { self.server.fail("send", with: ChatError(.conflict, message: "The id was used for another request.")) }
        self.restore()
        try await eventually { try await alice.conversation(self.pair).unsent.isEmpty }
        let request = try #require(self.server.requests(of: "send").last)
        #expect(request["body"]?["text"]?.stringValue == "answer" && request["ref"] == nil)
        #expect(self.server.texts(in: self.pair, as: Value.bob) == (isKnown ? ["question"] : ["question", "answer"]))
        await alice.close()
        self.device.remove()
    }

    /// A reply without its thread would be a message without context. It is not sent, also if the
    /// user sends it again, and the user can discard it.
    @Test func aReplyInALostThreadFails() async throws {
        let alice = try await self.signIn(reading: "root")
        try await self.disconnect(alice)
        try await alice.conversation(self.pair).send("reply", thread: 1)
        try await alice.conversation(self.pair).send("later")
        let other = ChatEvent(
            conversation: self.pair, seq: 1, n: 1, sender: Value.bob, id: ClientID("other"), at: 5, kind: .text,
            body: ["text": "another root"])
        self.server.script("history", HistoryAnswer(conversation: self.pair, events: [other], seq: 1).json)
        self.restore()
        func failed() async throws -> ChatMessage? {
            let unsent = try await alice.conversation(self.pair).unsent
            guard unsent.count == 1, case .failed(let error) = unsent[0].delivery else { return nil }
            #expect(error.code == .notFound && unsent[0].text == "reply" && unsent[0].event.thread == 1)
            return unsent[0]
        }
        try await eventually { try await failed() != nil && self.server.count(of: "send") == 1 }
        let first = try #require(try await failed()?.event.id)
        try await alice.conversation(self.pair).retry(first)
        try await eventually { try await failed().map { $0.event.id != first } ?? false }
        #expect(self.server.texts(in: self.pair, as: Value.bob) == ["root", "later"] && self.server.count(of: "send") == 1)
        try await alice.conversation(self.pair).discard(try #require(try await failed()?.event.id))
        #expect(try await alice.conversation(self.pair).unsent.isEmpty)
        await alice.close()
        self.device.remove()
    }

    @Test func aReplyStaysInAThreadThatTheServerHas() async throws {
        let alice = try await self.signIn(reading: "root")
        try await self.disconnect(alice)
        try await alice.conversation(self.pair).send("reply", thread: 1)
        self.restore()
        try await eventually { self.server.events(in: self.pair, as: Value.bob).map(\.thread) == [nil, 1] }
        try await self.check(["root", "reply"], of: alice)
    }

    /// The restored server no longer permits the message.
    @Test func aMessageThatTheRestoredServerRefusesIsShownAsFailed() async throws {
        let alice = try await self.device.signIn()
        try await self.lose(["one"], of: alice)
        self.server.fail("send", with: ChatError(.forbidden, message: "no"))
        self.restore()
        try await eventually {
            try await alice.conversation(self.pair).unsent.map(\.delivery) == [.failed(ChatError(.forbidden, message: "no"))]
        }
        await alice.close()
        self.device.remove()
    }
}
