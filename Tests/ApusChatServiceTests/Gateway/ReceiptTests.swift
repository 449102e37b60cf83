import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The received and read positions that the server sends to members.
@Suite(.timeLimit(.minutes(5)))
struct ReceiptTests {
    private func group(_ fixture: ServiceFixture, _ owner: ChatPeer, _ others: [(String, ChatPeer)]) async throws -> ConversationID {
        let group = try await owner.ask(
            ChatVerbs.conversationCreate,
            CreateRequest(id: .make("c"), kind: .group, title: "Rowing", users: others.map { UserName(prepared: $0.0) })
        ).head.conversation
        for (_, peer) in others {
            _ = try await peer.ask(ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: true))
        }
        return group
    }

    @Test func aReceivedMessageIsReportedToTheOthersAndListed() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let first = try await alice.send("one", to: pair, id: "m1")
            let second = try await alice.send("two", to: pair, id: "m2")
            #expect(try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: pair, seq: first.seq)).readers.isEmpty)
            let answer = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 1))
            #expect(answer == MarkAnswer(conversation: pair), "answered without a read")
            let push = try await alice.next(ChatPushes.mark)
            #expect(push.marks == [ReadMark(conversation: pair, user: UserName(prepared: "bob"), received: 1)])
            #expect(
                try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: pair, seq: first.seq)).readers
                    == [Reader(user: UserName(prepared: "bob"), isRead: false, isReceived: true)])
            #expect(try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: pair, seq: second.seq)).readers.isEmpty)
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: 2, received: 2))
            let next = try await alice.next(ChatPushes.mark) { $0.marks.contains { $0.read == 2 } }
            #expect(next.marks.first?.received == nil || next.marks.first?.received == 2)
            #expect(
                try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: pair, seq: second.seq)).readers
                    == [Reader(user: UserName(prepared: "bob"), isRead: true, isReceived: true)])
        }
    }

    /// A client that was not connected when the others reported learns their positions from the
    /// members.
    @Test func theMembersHaveTheirReceivedPositions() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            func position() async throws -> [Int64?] {
                let members = try await alice.ask(ChatVerbs.members, MembersRequest(conversation: pair)).members
                let bob = try #require(members.first { $0.user.name.rawValue == "bob" })
                return [bob.read, bob.received]
            }
            for number in 1...3 { _ = try await alice.send("text", to: pair, id: "m\(number)") }
            #expect(try await position() == [0, nil])
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 2))
            _ = try await alice.next(ChatPushes.mark)
            #expect(try await position() == [0, 2])
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: 3))
            #expect(try await position() == [3, nil])
        }
    }

    @Test func oneDeviceOfAMemberSuffices() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let (phone, laptop) = (try await fixture.client("bob"), try await fixture.client("bob", device: 1))
            let pair = try await alice.open("bob")
            _ = try await alice.send("one", to: pair, id: "m1")
            _ = try await laptop.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 1))
            _ = try await phone.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 1))
            _ = try await alice.next(ChatPushes.mark)
            _ = try await phone.ask(ChatVerbs.mark, MarkRequest(conversation: pair, read: 1))
            let push = try await alice.next(ChatPushes.mark)
            #expect(push.marks.map(\.received) == [nil], "the second device told nothing new")
        }
    }

    @Test func theSettingsOfTheReaderHideBoth() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let group = try await self.group(fixture, alice, [("bob", bob), ("carol", carol)])
            _ = try await bob.ask(ChatVerbs.settingsSet, SettingsSetRequest(id: .make("s"), settings: UserSettings(receipts: false)))
            let sent = try await alice.send("one", to: group, id: "m1")
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: group, received: 1))
            _ = try await carol.ask(ChatVerbs.mark, MarkRequest(conversation: group, received: 1))
            let push = try await alice.next(ChatPushes.mark)
            #expect(push.marks.map(\.user.rawValue) == ["carol"])
            #expect(
                try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: group, seq: sent.seq)).readers.map(\.user.rawValue)
                    == ["carol"])
            #expect(try await bob.ask(ChatVerbs.readers, ReadersRequest(conversation: group, seq: sent.seq)).readers.isEmpty)
        }
    }

    @Test func aReportOfANonMemberIsIgnored() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let carol = try await fixture.client("carol")
            let pair = try await alice.open("bob")
            let sent = try await alice.send("one", to: pair, id: "m1")
            _ = try await carol.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 1))
            _ = try await bob.ask(ChatVerbs.mark, MarkRequest(conversation: pair, received: 1))
            let push = try await alice.next(ChatPushes.mark)
            #expect(push.marks.map(\.user.rawValue) == ["bob"])
            #expect(
                try await alice.ask(ChatVerbs.readers, ReadersRequest(conversation: pair, seq: sent.seq)).readers.map(\.user.rawValue)
                    == ["bob"])
        }
    }
}
