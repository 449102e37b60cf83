import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

/// Contact requests, invitations and requests to join: how they are listed, answered and withdrawn.
@MainActor @Suite("Requests of commands", .timeLimit(.minutes(5)))
struct ChatCommanderRequestTests {
    private nonisolated static let club = ConversationID(number: 4_242)
    private nonisolated static let choir = ConversationID(number: 4_243)

    /// Runs `body` with an invitation to the club, a pending request to join the choir, a contact
    /// request of dave, and one to erin.
    private func with(_ body: (CommandFixture) async throws -> Void) async throws {
        let fixture = try await CommandFixture()
        // The client requests its contacts once it is online.
        try await eventually { fixture.server.count(of: "contacts") >= 1 }
        let invitation = ChatHead(
            conversation: Self.club, kind: .group, state: .invited, title: "Rowing Club", peer: ChatUser(name: Value.bob), seq: 0, n: 0,
            at: 2)
        let asked = ChatHead(conversation: Self.choir, kind: .group, state: .requested, title: "Choir", seq: 0, n: 0, at: 1)
        fixture.server.push("head", HeadPush(heads: [invitation, asked]).json)
        let incoming = Contact(user: ChatUser(name: Value.name("dave")), state: .asked, text: "We \"met\"", at: 1)
        let outgoing = Contact(user: ChatUser(name: Value.name("erin")), state: .asking, at: 1)
        fixture.server.script(
            "contacts", ContactsAnswer(contacts: [incoming]).json, ContactsAnswer(contacts: [outgoing]).json)
        let result: Result<Void, any Error>
        do {
            try await eventually { await fixture.client.heads.contains { $0.state == .requested } }
            result = .success(try await body(fixture))
        } catch { result = .failure(error) }
        await fixture.end()
        try result.get()
    }

    /// Makes the server answer `contacts` with the request of dave from now on.
    private func repeatIncoming(_ fixture: CommandFixture) {
        let incoming = Contact(user: ChatUser(name: Value.name("dave")), state: .asked, at: 1)
        fixture.server.script("contacts", ContactsAnswer(contacts: [incoming]).json)
    }

    @Test func allRequestsAreListedWithTheCommandsThatAnswerThem() async throws {
        try await self.with { fixture in
            await fixture.perform("/requests")
            let commands = fixture.host.said.map(\.command)
            #expect(
                fixture.told() == [
                    "1. Rowing Club: invitation from @bob", "2. @dave asks to become a contact: \"We \"met\"\"", "You asked to join Choir.",
                    "You asked @erin to become a contact.",
                ])
            #expect(commands == ["/accept 1", "/accept 2", "/withdraw Choir", "/withdraw erin"])
        }
    }

    /// A line of the list is answered by its number, in the order of the last list.
    @Test func aRequestIsAnsweredByItsNumber() async throws {
        try await self.with { fixture in
            await fixture.perform("/requests")
            _ = fixture.told()
            self.repeatIncoming(fixture)
            await fixture.perform("/decline 2")
            #expect(fixture.request("contact.answer") == ["user": "dave", "accept": false])
            #expect(fixture.told() == ["The request of @dave is declined."])
            await fixture.perform("/decline 1")
            let conversation = JSONValue.string(Self.club.rawValue)
            #expect(fixture.request("member.answer") == ["conv": conversation, "accept": false])
            #expect(fixture.told() == ["The invitation to Rowing Club is declined."])
        }
    }

    @Test func anInvitationIsAnsweredByItsTitleWithoutRegardToCase() async throws {
        try await self.with { fixture in
            self.repeatIncoming(fixture)
            await fixture.perform("/decline rowing CLUB")
            #expect(fixture.request("member.answer")?["conv"]?.stringValue == Self.club.rawValue)
            #expect(fixture.server.count(of: "contact.answer") == 0)
        }
    }

    /// The conversation is joined when the next line is performed, so that `/open` finds it.
    @Test func anAcceptedInvitationIsAwaited() async throws {
        try await self.with { fixture in
            self.repeatIncoming(fixture)
            let joined = ChatHead(
                conversation: Self.club, kind: .group, title: "Rowing Club", members: 3, seq: 1, n: 0, minSeq: 1, at: 3)
            fixture.server.push(around: "member.answer", before: [], after: [("head", HeadPush(heads: [joined]).json)])
            await fixture.perform("/accept Rowing Club")
            #expect(fixture.request("member.answer")?["accept"] == true)
            #expect(fixture.told() == ["You joined Rowing Club. /open Rowing Club shows it."])
            await fixture.perform("/open rowing club")
            #expect(fixture.host.shown == [Self.club])
        }
    }

    @Test(arguments: ["Choir", "choir", "@choir", choir.rawValue])
    func aRequestToJoinIsWithdrawnByItsTitleOrItsID(name: String) async throws {
        try await self.with { fixture in
            await fixture.perform("/withdraw \(name)")
            #expect(fixture.request("member.leave")?["conv"]?.stringValue == Self.choir.rawValue)
            #expect(fixture.told() == ["The request to join Choir is withdrawn."])
            #expect(fixture.server.count(of: "contact.remove") == 0)
        }
    }

    /// Neither a member nor a user who asked this one is a request of the user.
    @Test(arguments: ["Rowing Club", "bob", "dave", "no one", "\u{1B}[2J"])
    func whatTheUserHasNotRequestedIsNotWithdrawn(name: String) async throws {
        try await self.with { fixture in
            let outgoing = Contact(user: ChatUser(name: Value.name("erin")), state: .asking, at: 1)
            fixture.server.script("contacts", ContactsAnswer(contacts: [outgoing]).json)
            await fixture.perform("/withdraw \(name)")
            let shown = name.replacing("\u{1B}", with: "\u{FFFD}")
            #expect(fixture.told() == ["you have no pending request to \(shown); /requests lists your requests"])
            #expect(fixture.server.count(of: "contact.remove") == 0 && fixture.server.count(of: "member.leave") == 0)
        }
    }

    /// A refused invitation is not reported as joined, and the command does not wait.
    @Test func aRefusedAnswerIsReported() async throws {
        try await self.with { fixture in
            self.repeatIncoming(fixture)
            fixture.server.script("member.answer", ChatError(.limit, message: "The group is full.").json)
            await fixture.perform("/accept Rowing Club")
            #expect(fixture.host.said.map(\.style) == [.warning] && fixture.told() == ["The group is full."])
        }
    }

    /// An invitation without a title and a sender has words for both.
    @Test func anInvitationOfAnUnknownUserHasWords() async throws {
        try await self.with { fixture in
            self.repeatIncoming(fixture)
            let bare = ChatHead(conversation: Self.club, kind: .group, state: .invited, seq: 0, n: 0, at: 3)
            fixture.server.push("head", HeadPush(heads: [bare]).json)
            try await eventually { await fixture.client.heads.contains { $0.conversation == Self.club && $0.title == nil } }
            let pending = try await fixture.commander.pendingRequests()
            #expect(pending.map(\.words) == ["a group: invitation from a user", "@dave asks to become a contact"])
            #expect(pending.map(\.0) == [.invitation(Self.club, title: "a group"), .contact(Value.name("dave"))])
        }
    }

    /// A join that needs the approval of an admin opens no conversation.
    @Test func aJoinThatNeedsApprovalIsReported() async throws {
        try await self.with { fixture in
            let head = ChatHead(conversation: Self.choir, kind: .group, state: .requested, title: "Ch\u{1B}oir", seq: 0, n: 0, at: 1)
            fixture.server.script("member.join", ["conv": .string(Self.choir.rawValue), "id": "x", "at": 1, "head": head.json])
            await fixture.perform("/join k7Qm2ZtX9bVw4NsA")
            #expect(fixture.told() == ["An admin of Ch\u{FFFD}oir has to approve the request."])
            #expect(fixture.host.shown.isEmpty)
        }
    }
}
