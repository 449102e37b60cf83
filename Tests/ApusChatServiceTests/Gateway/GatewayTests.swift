import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The chat over Socket.IO, from a client to the log and to the other clients.
@Suite(.timeLimit(.minutes(5)))
struct GatewayTests {
    @Test func aMessageReachesTheOtherAndTheOwnDevices() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let tablet = try await fixture.client("alice", device: 1)
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let sent = try await alice.send("hello", to: pair, id: "m1")
            #expect(sent.n == 1)
            for peer in [alice, tablet, bob] {
                let push = try await peer.next(ChatPushes.event) { $0.events.contains { $0.kind == .text } }
                let event = try #require(push.events.last)
                #expect(event.sender?.rawValue == "alice")
                #expect(event.body["text"] == "hello")
                #expect(event.seq == sent.seq)
            }
            let sync = try await bob.ask(ChatVerbs.sync, SyncRequest())
            let head = try #require(sync.heads.first { $0.conversation == pair })
            #expect(head.unread == 1)
            #expect(head.last?.text == "hello")
            #expect(head.peer?.name.rawValue == "alice")
        }
    }

    @Test func aRetryGetsTheFirstAnswerAndAnotherRequestAConflict() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            let first = try await alice.send("once", to: pair, id: "m1")
            #expect(try await alice.send("once", to: pair, id: "m1") == first)
            await #expect { try await alice.send("twice", to: pair, id: "m1") } throws: { ($0 as? ChatError)?.code == .conflict }
            let history = try await alice.history(pair)
            #expect(history.events.filter { $0.kind == .text }.count == 1)
        }
    }

    @Test func messagesKeepTheirOrderAlthoughSomeNeedARead() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            let mention = alice.begin(
                ChatVerbs.send,
                SendRequest(
                    id: .make("m1"), conversation: pair, kind: .text,
                    body: ["text": "@carol 1", "entities": [["type": "mention", "offset": 0, "length": 6, "user": "carol"]]]))
            let plain = alice.begin(
                ChatVerbs.send, SendRequest(id: .make("m2"), conversation: pair, kind: .text, body: ["text": "2"]))
            #expect(try await [mention().n, plain().n] == [1, 2])
        }
    }

    @Test func requestsBeforeHelloAreRefused() async throws {
        try await withService { fixture in
            let peer = ChatPeer(url: fixture.url, token: "alice:0")
            try await peer.connect()
            await #expect { try await peer.ask(ChatVerbs.sync, SyncRequest()) } throws: { ($0 as? ChatError)?.code == .unauthorized }
            let hello = HelloRequest(device: HelloDevice(name: "Test", platform: "test"), sync: SyncRequest())
            let answer = try await peer.ask(ChatVerbs.hello, hello)
            #expect(answer.user.name.rawValue == "alice")
            #expect(answer.sync?.heads.count == 1)  // the self conversation
            await #expect { try await peer.ask(ChatVerbs.hello, hello) } throws: { ($0 as? ChatError)?.code == .badRequest }
        }
    }

    @Test func unknownVerbsAndKindsAreUnsupported() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            await #expect { try await alice.raw("teleport", [:]) } throws: { ($0 as? ChatError)?.code == .unsupported }
            await #expect {
                try await alice.ask(
                    ChatVerbs.send, SendRequest(id: .make("x"), conversation: pair, kind: EventKind(rawValue: "hologram"), body: [:]))
            } throws: { ($0 as? ChatError)?.code == .unsupported }
        }
    }

    @Test func aWrongTokenIsRefused() async throws {
        try await withService { fixture in
            let peer = ChatPeer(url: fixture.url, token: "mallory:0")
            await #expect(throws: (any Error).self) { try await peer.connect() }
        }
    }

    @Test func signingOutClosesTheConnection() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let tablet = try await fixture.client("alice", device: 1)
            fixture.gateway.end([101])
            #expect(try await tablet.next(ChatPushes.bye).reason == .signedOut)
            await tablet.waitUntilClosed()
            #expect(try await alice.ask(ChatVerbs.sync, SyncRequest()).heads.count == 1)
        }
    }

    @Test func readPositionsAreDurableForTheOwnerAndReportedToOthers() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            _ = try await alice.send("one", to: pair, id: "m1")
            _ = try await alice.send("two", to: pair, id: "m2")
            let mark = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: 2))
            #expect(mark.read == 2 && mark.unread == 0)
            let push = try await alice.next(ChatPushes.mark)
            #expect(push.marks.contains { $0.user.rawValue == "bob" && $0.read == 2 })
            let head = try await bob.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }
            #expect(head?.unread == nil || head?.unread == 0)
        }
    }

    @Test func changesSinceAPositionAreSynced() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let token = try await bob.ask(ChatVerbs.sync, SyncRequest()).token
            #expect(try await bob.ask(ChatVerbs.sync, SyncRequest(since: token)).heads.isEmpty)
            _ = try await alice.send("new", to: pair, id: "m1")
            let changed = try await bob.ask(ChatVerbs.sync, SyncRequest(since: token))
            #expect(changed.heads.map(\.conversation) == [pair])
            let foreign = try #require(PageToken("other.1"))
            await #expect { try await bob.ask(ChatVerbs.sync, SyncRequest(since: foreign)) } throws: {
                ($0 as? ChatError)?.code == .resync
            }
        }
    }

    @Test func groupsLinksAndMembers() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let created = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(id: .make("c"), kind: .group, title: "Rowing", users: [UserName(prepared: "bob")]))
            // A user who is not a contact is invited instead of added.
            #expect(created.invited.map(\.rawValue) == ["bob"])
            let group = created.head.conversation
            let invitation = try await bob.next(ChatPushes.head) { $0.heads.contains { $0.conversation == group } }
            let head = try #require(invitation.heads.first { $0.conversation == group })
            #expect(head.state == .invited && head.title == "Rowing" && head.peer?.name.rawValue == "alice" && head.seq == 0)
            _ = try await bob.ask(ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: true))
            let arrival = try await bob.next(ChatPushes.head) { push in
                push.heads.contains { $0.conversation == group && $0.state == .joined }
            }
            #expect(arrival.heads.first?.members == 2)
            let link = try await alice.ask(ChatVerbs.linkCreate, LinkCreateRequest(id: .make("l"), conversation: group)).link
            let info = try await carol.ask(ChatVerbs.linkInfo, LinkInfoRequest(code: link.code))
            #expect(info.title == "Rowing" && info.members == 2)
            let joined = try await carol.ask(ChatVerbs.memberJoin, MemberJoinRequest(id: .make("j"), link: link.code))
            #expect(joined.head.conversation == group && joined.head.members == 3)
            let members = try await carol.ask(ChatVerbs.members, MembersRequest(conversation: group))
            #expect(Set(members.members.map(\.user.name.rawValue)) == ["alice", "bob", "carol"])
            _ = try await carol.send("hi", to: group, id: "m1")
            _ = try await bob.next(ChatPushes.event) { $0.events.contains { $0.body["text"] == "hi" } }
        }
    }

    @Test func typingIsReportedToMembersOnly() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let pair = try await alice.open("bob")
            _ = try await alice.send("x", to: pair, id: "m1")
            _ = try await bob.next(ChatPushes.event)
            _ = try await carol.ask(ChatVerbs.typing, TypingRequest(conversation: pair))
            _ = try await alice.ask(ChatVerbs.typing, TypingRequest(conversation: pair))
            let push = try await bob.next(ChatPushes.typing)
            #expect(push.user.rawValue == "alice")
        }
    }
}
