import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// Search, reactions and the directory over Socket.IO.
@Suite(.timeLimit(.minutes(5)))
struct SearchTests {
    /// Repeats a search until the index is complete, without a time limit, and returns the hits.
    private func hits(_ query: String, as peer: ChatPeer, in conversation: ConversationID? = nil) async throws -> [SearchHit] {
        while true {
            let answer = try await peer.ask(ChatVerbs.search, SearchRequest(query: query, conversation: conversation))
            guard answer.indexedAt != nil else { return answer.hits }
        }
    }

    @Test func aMessageIsFoundByItsMembers() async throws {
        try await withService { fixture in
            let (alice, bob, carol) = (
                try await fixture.client("alice"), try await fixture.client("bob"), try await fixture.client("carol")
            )
            let pair = try await alice.open("bob")
            let sent = try await alice.send("明天在上海见面, Meet me there", to: pair, id: "m1")
            _ = try await alice.send("something else", to: pair, id: "m2")
            let found = try await self.hits("上海", as: bob)
            #expect(found.map(\.event.seq) == [sent.seq])
            #expect(found.first?.event.sender?.rawValue == "alice")
            #expect(found.first?.snippet == "明天在上海见面, Meet me there")
            #expect(found.first?.ranges == [TextRange(offset: 3, length: 2)])
            #expect(try await self.hits("mee THERE", as: alice, in: pair).count == 1)
            #expect(try await self.hits("上海", as: carol).isEmpty)
            await #expect { try await self.hits("上海", as: carol, in: pair) } throws: { ($0 as? ChatError)?.code == .notFound }
            await #expect { try await self.hits("!?", as: alice) } throws: { ($0 as? ChatError)?.code == .badRequest }
            let nobody = try await alice.ask(ChatVerbs.search, SearchRequest(query: "else", sender: UserName(prepared: "nobody")))
            #expect(nobody.hits.isEmpty)
        }
    }

    /// Messages without a text are listed by their kind, in one conversation.
    @Test func messagesOfAKindAreListed() async throws {
        try await withService { fixture in
            let (alice, bob) = (try await fixture.client("alice"), try await fixture.client("bob"))
            let pair = try await alice.open("bob")
            _ = try await alice.send("a text", to: pair, id: "m1")
            let place: JSONObject = ["latitude": 54.5, "longitude": 10.25]
            let sent = try await alice.ask(
                ChatVerbs.send, SendRequest(id: .make("m2"), conversation: pair, kind: .location, body: place))
            while true {
                let answer = try await bob.ask(ChatVerbs.search, SearchRequest(conversation: pair, kinds: [.location]))
                guard answer.indexedAt == nil else { continue }
                #expect(answer.hits.map(\.event.seq) == [sent.seq] && answer.hits.first?.snippet == "")
                break
            }
            for request in [SearchRequest(kinds: [.location]), SearchRequest(conversation: pair)] {
                await #expect { try await bob.ask(ChatVerbs.search, request) } throws: { ($0 as? ChatError)?.code == .badRequest }
            }
        }
    }

    @Test func recalledMessagesAreNotFound() async throws {
        try await withService { fixture in
            let (alice, bob) = (try await fixture.client("alice"), try await fixture.client("bob"))
            let pair = try await alice.open("bob")
            let sent = try await alice.send("a secret", to: pair, id: "m1")
            #expect(try await self.hits("secret", as: bob).count == 1)
            _ = try await alice.ask(ChatVerbs.recall, RecallRequest(id: .make("r1"), conversation: pair, ref: sent.seq))
            #expect(try await self.hits("secret", as: bob).isEmpty)
        }
    }

    /// A search does not find the messages and edits of a blocked user.
    @Test func aBlockedUserIsNotFound() async throws {
        try await withService(isFrozen: true) { fixture in
            let (alice, bob) = (try await fixture.client("alice"), try await fixture.client("bob"))
            let pair = try await alice.open("bob")
            let sent = try await bob.send("kind words", to: pair, id: "m1")
            fixture.pass(milliseconds: 5)
            _ = try await alice.ask(ChatVerbs.block, ContactUserRequest(id: .make("b1"), user: UserName(prepared: "bob")))
            fixture.pass(milliseconds: 5)
            _ = try await bob.ask(
                ChatVerbs.edit, EditRequest(id: .make("e1"), conversation: pair, ref: sent.seq, body: ["text": "an insult"]))
            _ = try await bob.ask(ChatVerbs.react, ReactRequest(id: .make("x1"), conversation: pair, ref: sent.seq, key: "💩"))
            _ = try await bob.send("another insult", to: pair, id: "m2")
            #expect(try await self.hits("insult", as: alice).isEmpty)
            #expect(try await self.hits("insult", as: bob).count == 2)
            let shown = try await alice.history(pair).events.first { $0.seq == sent.seq }
            #expect(shown?.body["text"] == "kind words" && shown?.state == .normal && shown?.reactions.isEmpty == true)
            #expect(try await alice.ask(ChatVerbs.reactions, ReactionsRequest(conversation: pair, ref: sent.seq)).reactions.isEmpty)
            #expect(try await bob.ask(ChatVerbs.reactions, ReactionsRequest(conversation: pair, ref: sent.seq)).reactions.count == 1)
        }
    }

    @Test func reactionsHaveTheirUsers() async throws {
        try await withService { fixture in
            let (alice, bob, carol) = (
                try await fixture.client("alice"), try await fixture.client("bob"), try await fixture.client("carol")
            )
            let pair = try await alice.open("bob")
            let sent = try await alice.send("hello", to: pair, id: "m1")
            for (index, (peer, key)) in [(alice, "👍"), (bob, "👍"), (bob, "🎉")].enumerated() {
                _ = try await peer.ask(ChatVerbs.react, ReactRequest(id: .make("r\(index)"), conversation: pair, ref: sent.seq, key: key))
            }
            let all = try await bob.ask(ChatVerbs.reactions, ReactionsRequest(conversation: pair, ref: sent.seq))
            #expect(all.reactions.map { "\($0.user) \($0.key)" } == ["alice 👍", "bob 👍", "bob 🎉"] && all.page == nil)
            let one = try await bob.ask(ChatVerbs.reactions, ReactionsRequest(conversation: pair, ref: sent.seq, key: "🎉"))
            #expect(one.reactions.map(\.user.rawValue) == ["bob"])
            for (peer, ref) in [(carol, sent.seq), (bob, sent.seq + 1), (bob, 99)] {
                await #expect { try await peer.ask(ChatVerbs.reactions, ReactionsRequest(conversation: pair, ref: ref)) } throws: {
                    ($0 as? ChatError)?.code == .notFound
                }
            }
        }
    }

    @Test func aListedChannelIsInTheDirectory() async throws {
        try await withService { fixture in
            let (alice, bob) = (try await fixture.client("alice"), try await fixture.client("bob"))
            var settings = ConversationSettingsChange()
            (settings.listed, settings.join) = (true, .open)
            let created = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(id: .make("c1"), kind: .channel, title: "Harbour news", users: [], settings: settings))
            _ = try await alice.ask(ChatVerbs.conversationCreate, CreateRequest(id: .make("c2"), kind: .group, title: "Private", users: []))
            let found = try await bob.ask(ChatVerbs.directory, DirectoryRequest(query: "HARBOUR"))
            #expect(found.conversations.map(\.conversation) == [created.head.conversation])
            #expect(found.conversations.first?.members == 1 && found.conversations.first?.join == .open)
            #expect(try await bob.ask(ChatVerbs.directory, DirectoryRequest()).conversations.count == 1)
            let joined = try await bob.ask(
                ChatVerbs.memberJoin, MemberJoinRequest(id: .make("j1"), conversation: created.head.conversation))
            #expect(joined.head.conversation == created.head.conversation)
        }
    }
}
