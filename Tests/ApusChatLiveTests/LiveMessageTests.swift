import ApusChatClient
import ApusChatCore
import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import Testing

/// Messages of the client with a complete server.
@Suite(.timeLimit(.minutes(5)))
struct LiveMessageTests {
    @Test func messagesAndReadPositionsGoBothWays() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            try await pair.send("在吗？")
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["在吗？"] }
            let message = try #require(try await there.storedMessages().messages.last { $0.text != nil })
            await there.markRead(message)
            try await there.send("hi")
            try await alice.wait { try await pair.texts == ["在吗？", "hi"] }
            try await alice.wait {
                try await pair.storedMessages().messages.first { $0.text == "在吗？" }?.delivery == .read
            }
            #expect(try await there.head.unread == 0)
            let late = try await fixture.signIn("bob", device: "tablet")
            let texts = try await late.conversation(pair.id).messages().messages.compactMap(\.text)
            #expect(texts == ["在吗？", "hi"])
        }
    }

    @Test func aConnectionLostDuringASendSendsOnce() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            let updates = alice.updates(bufferingPolicy: .unbounded)
            fixture.relay.silence()
            for text in ["one", "two", "three"] { try await pair.send(text) }
            // The server has stored the first message before it sends the next update of another
            // user.
            for await update in updates { if case .outgoing(let message) = update, message.delivery == .sending { break } }
            await fixture.relay.cut()
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts)?.count == 3 }
            try await alice.wait { try await pair.unsent.isEmpty }
            #expect(try await there.texts == ["one", "two", "three"])
            #expect(try await pair.texts == ["one", "two", "three"])
        }
    }

    /// The data folder of the server is replaced with an earlier copy. The program of the sender
    /// had ended between the acknowledgement of a message and its event.
    @Test func aRestoredServerGetsAnAcknowledgedMessageAgain() async throws {
        try await withLiveServer { fixture in
            let device = try fixture.device("laptop")
            let alice = try await device.signUp(server: fixture.relay.url, name: "alice", password: "correct horse").client
            try await fixture.online(alice)
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            let there = bob.conversation(pair.id)
            try await pair.send("before")
            try await bob.wait { (try? await there.texts) == ["before"] }
            await fixture.stopServer()
            try fixture.backUp()
            try await fixture.startServer()
            try await pair.send("received")
            try await bob.wait { (try? await there.texts) == ["before", "received"] }
            await alice.close()
            let store = try ChatStore(path: try fixture.store(of: "laptop"))
            let id = try #require(ClientID("acknowledged"))
            let request = SendRequest(id: id, conversation: pair.id, kind: .text, body: ["text": "acknowledged"])
            try store.enqueue(OutboxEntry(request: request, at: fixture.clock.now))
            let answer = SendAnswer(conversation: pair.id, id: id, seq: 99, n: 99, at: fixture.clock.now)
            _ = try store.apply([.sent(id, answer)], of: alice.user)
            store.close()
            await fixture.stopServer()
            try fixture.restoreBackup()
            try await fixture.startServer()
            let again = try await device.open(try #require(device.current))
            try await fixture.online(again)
            // A message that the sender had received in the log is lost with the newer data.
            try await bob.wait { (try? await there.texts) == ["before", "acknowledged"] }
            try await again.wait { try await again.conversation(pair.id).unsent.isEmpty }
            #expect(try await again.conversation(pair.id).texts == ["before", "acknowledged"])
        }
    }

    @Test func messagesWrittenWhileTheServerIsAwayArriveAfterItsReturn() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            try await pair.send("before")
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["before"] }
            await fixture.stopServer()
            try await alice.wait { await alice.state != .online }
            try await pair.send("during")
            #expect(try await pair.texts == ["before", "during"])
            try await fixture.startServer()
            try await bob.wait { try await there.texts == ["before", "during"] }
        }
    }

    @Test func editsReactionsPinsAndRecallsReachTheOther() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            let there = bob.conversation(pair.id)
            try await pair.send("frist")
            try await pair.send("wrong")
            try await bob.wait { (try? await there.texts) == ["frist", "wrong"] }
            let rows = try await there.storedMessages().messages.filter { $0.text != nil }
            let seqs = rows.compactMap(\.seq)
            try #require(seqs.count == 2)
            try await pair.edit(seqs[0], text: "first")
            try await there.react(to: seqs[0], with: "👍")
            try await there.pin(seqs[0])
            try await pair.recall(seqs[1])
            try await bob.wait { try await there.texts == ["first"] }
            try await alice.wait {
                let row = try await pair.storedMessages().messages.first { $0.seq == seqs[0] }
                let pins = try await pair.head.pins
                return row?.event.reactions.first?.key == "👍" && pins == [seqs[0]]
            }
        }
    }

    @Test func aGroupIsMadeJoinedAndLeft() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let group = try await alice.create(title: "Swifts", users: [bob.user])
            let there = bob.conversation(group.id)
            try await bob.wait { await bob.heads.contains { $0.conversation == group.id } }
            if try await there.head.state == .invited { try await there.answerInvitation(accepts: true) }
            try await there.send("here")
            try await alice.wait { try await group.texts.contains("here") }
            #expect(Set(try await group.members().members.map(\.user.name)) == [alice.user, bob.user])
            try await there.leave()
            try await bob.wait { (try? await there.head.state) != .joined }
        }
    }
}
