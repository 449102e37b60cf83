import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import ApusJSON
import Testing

/// Reads, messages, member searches and mentions in a group of 10,000 members and a channel of
/// 100,000.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct LargeConversationTests {
    private struct Size: CustomTestStringConvertible {
        let kind: ConversationKind
        let members: Int64
        var testDescription: String { "\(self.kind.rawValue) of \(self.members)" }
    }

    private static let messages: Int64 = 1_000
    private static let key: Int64 = 4_000

    /// Runs `body` with a conversation that Alice owns and of which Bob is a member.
    private func with(_ size: Size, _ body: (ServiceFixture, ConversationID) async throws -> Void) async throws {
        try await withService(users: ["alice", "bob"]) { fixture in
            let last = size.members
            try await fixture.service.log.withStorage { storage in
                let rows = LargeRows(storage: storage)
                try rows.addAccounts(3...last, prefix: "m")
                try rows.addConversation(Self.key, size.kind, owner: 1, members: 2...last, messages: Self.messages)
            }
            try await body(fixture, ConversationID(number: Self.key))
        }
    }

    private func check(_ size: Size) async throws {
        try await self.with(size) { fixture, conversation in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            // Bob opens the conversation.
            let sync = try await bob.ask(ChatVerbs.sync, SyncRequest())
            let head = try #require(sync.heads.first { $0.conversation == conversation })
            #expect(head.members == size.members && head.unread == Self.messages && sync.badge == Self.messages)
            let history = try await bob.history(conversation)
            #expect(history.events.count == ChatLimits.historyEvents && history.events.last?.n == Self.messages)
            let members = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: conversation))
            #expect(members.members.count == ChatLimits.membersPage && members.total == size.members && members.page != nil)
            // Write: a member receives the end of the log, and the event if it has subscribed to
            // the conversation.
            let sent = try await alice.send("a rare word: quagga", to: conversation, id: "s1")
            let nudge = try await bob.next(ChatPushes.head) { $0.nudges.contains { $0.conversation == conversation } }
            #expect(nudge.heads.isEmpty, "no head is read for each of the members")
            #expect(nudge.nudges.first?.seq == sent.seq && nudge.nudges.first?.last?.text == "a rare word: quagga")
            _ = try await bob.ask(ChatVerbs.subscribe, SubscribeRequest(conversations: [conversation]))
            _ = try await alice.send("seen", to: conversation, id: "s2")
            _ = try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["text"] == "seen" } }
            // Bob reads the first messages.
            let mark = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: conversation, read: Self.messages))
            #expect(mark.unread == 2)
            await #expect {
                try await bob.ask(ChatVerbs.readers, ReadersRequest(conversation: conversation, seq: sent.seq))
            } throws: { ($0 as? ChatError)?.code == .forbidden }
            // Alice searches for members.
            let found = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: conversation, query: "m77"))
            #expect(found.members.allSatisfy { $0.user.name.rawValue.contains("m77") })
            #expect(found.total == (3...size.members).count { "m\($0)".contains("m77") })
            let one = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: conversation, query: "m\(size.members)"))
            #expect(one.total == 1)
            // A search for a part of all names returns the first page and the total number.
            let all = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: conversation, query: "m"))
            #expect(all.total == size.members - 2 && all.members.count == ChatLimits.membersPage)
            // Page: the pages are in the order of keys and without repetition.
            var names: [String] = []
            var page: PageToken?
            for _ in 0..<10 {
                let answer = try await bob.ask(ChatVerbs.members, MembersRequest(conversation: conversation, page: page))
                #expect(answer.total == size.members)
                names += answer.members.map(\.user.name.rawValue)
                page = answer.page
            }
            #expect(names == ["alice", "bob"] + (3...1_000).map { "m\($0)" } && page != nil)
            // Mention: the beginning of a name finds the member, and its head contains the mention.
            _ = try await bob.ask(ChatVerbs.subscribe, SubscribeRequest(conversations: []))
            let target = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: conversation, query: "bo"))
            #expect(target.members.map(\.user.name.rawValue) == ["bob"])
            let mention: JSONObject = ["text": "@bob", "entities": [["type": "mention", "offset": 0, "length": 4, "user": "bob"]]]
            _ = try await alice.ask(
                ChatVerbs.send, SendRequest(id: .make("s3"), conversation: conversation, kind: .text, body: mention))
            let named = try await bob.next(ChatPushes.head) { $0.heads.contains { $0.conversation == conversation && $0.mentions > 0 } }
            #expect(named.heads.first { $0.conversation == conversation }?.mentions == 1)
            // The head also contains a mention of all members, and the recall of that mention.
            let mentionOfAll: JSONObject = ["text": "@all", "entities": [["type": "all", "offset": 0, "length": 4]]]
            let toAll = try await alice.ask(
                ChatVerbs.send, SendRequest(id: .make("s4"), conversation: conversation, kind: .text, body: mentionOfAll))
            _ = try await bob.next(ChatPushes.head) { $0.heads.contains { $0.conversation == conversation && $0.mentions == 2 } }
            _ = try await alice.ask(ChatVerbs.recall, RecallRequest(id: .make("r4"), conversation: conversation, ref: toAll.seq))
            _ = try await bob.next(ChatPushes.head) { $0.heads.contains { $0.conversation == conversation && $0.mentions == 1 } }
            var hits: [SearchHit] = []
            var isBehind = true
            while isBehind {
                let answer = try await bob.ask(ChatVerbs.search, SearchRequest(query: "quagga", conversation: conversation))
                (hits, isBehind) = (answer.hits, answer.indexedAt != nil)
            }
            #expect(hits.map(\.event.seq) == [sent.seq])
        }
    }

    @Test func aGroupOfTenThousandWorks() async throws { try await self.check(Size(kind: .group, members: 10_000)) }

    @Test func aChannelOfAHundredThousandWorks() async throws { try await self.check(Size(kind: .channel, members: 100_000)) }
}
