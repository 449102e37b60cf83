import ApusChatClient
import ApusChatProtocol
import ApusEventLoop
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

    @Test func aCutConnectionInMidSendSendsOnce() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            let updates = alice.updates(bufferingPolicy: .unbounded)
            fixture.relay.silence()
            for text in ["one", "two", "three"] { try await pair.send(text) }
            // The server has the first message at the latest with the next update of another user.
            for await update in updates { if case .outgoing(let message) = update, message.delivery == .sending { break } }
            await fixture.relay.cut()
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts)?.count == 3 }
            try await alice.wait { try await pair.unsent.isEmpty }
            #expect(try await there.texts == ["one", "two", "three"])
            #expect(try await pair.texts == ["one", "two", "three"])
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
