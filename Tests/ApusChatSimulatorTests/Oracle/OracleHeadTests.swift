import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// Each check of a head and of an end of a log accepts the correct value and finds every wrong one.
@Suite("Oracle: heads")
struct OracleHeadTests {
    private let world = OracleWorld()

    /// The head of bob after three messages of ann, of which bob read the first; the third mentions
    /// bob.
    private func head() -> ChatHead {
        for number in 1...2 { self.world.send("text \(number)", by: self.world.ann) }
        self.world.send("text 3", by: self.world.ann, mentions: [self.world.bob])
        self.world.judge(.mark(MarkCommand(conversation: self.world.group, read: 1)), by: self.world.bob)
        return ChatHead(
            conversation: ConversationID(number: 10), kind: .group, role: .member, members: 3, seq: 3, n: 3, minSeq: 1, read: 1, unread: 2,
            mentions: 1, at: 1)
    }

    private static let wrong: [(fault: String, change: @Sendable (inout ChatHead) -> Void)] = [
        ("the user does not have the conversation", { $0.conversation = ConversationID(number: 99) }),
        ("says left member instead of joined member", { $0.state = .left }),
        ("says joined admin instead of joined member", { $0.role = .admin }),
        ("says 1...4 instead of 1...3", { $0.seq = 4 }), ("says 1...2 instead of 1...3", { $0.seq = 2 }),
        ("says 2...3 instead of 1...3", { $0.minSeq = 2 }), ("has 1 unread instead of 2", { $0.unread = 1 }),
        ("has 3 unread instead of 2", { $0.unread = 3 }), ("has 0 mentions instead of 1", { $0.mentions = 0 }),
        ("has 2 mentions instead of 1", { $0.mentions = 2 }), ("is read up to 1 of 2 instead of 1 of 3", { $0.n = 2 }),
        ("is read up to 2 of 3 instead of 1 of 3", { $0.read = 2 }), ("the settings of", { $0.own.isArchived = true }),
        ("the settings of", { $0.own.pinnedAt = 5 }), ("the settings of", { $0.own.mutedUntil = 5 }),
        ("the settings of", { $0.own.isMarkedUnread = true }),
    ]

    @Test(arguments: Self.wrong.indices) func aWrongHeadIsFound(index: Int) {
        var head = self.head()
        #expect(self.world.oracle.fault(of: head, to: self.world.bob) == nil)
        Self.wrong[index].change(&head)
        let fault = self.world.oracle.fault(of: head, to: self.world.bob)
        #expect(fault?.contains(Self.wrong[index].fault) == true, "\(fault ?? "no fault")")
    }

    @Test func ownSettingsAreInTheHead() {
        var head = self.head()
        let changes: [(OwnChange, (inout ChatHead) -> Void)] = [
            (.pin(true), { $0.own.pinnedAt = 9 }), (.archive(true), { $0.own.isArchived = true }),
            (.mute(until: 77), { $0.own.mutedUntil = 77 }), (.markUnread(true), { $0.own.isMarkedUnread = true }),
        ]
        for (change, apply) in changes {
            self.world.judge(.personalize(self.world.group, change), by: self.world.bob)
            #expect(self.world.oracle.fault(of: head, to: self.world.bob)?.hasPrefix("the settings of") == true, "\(change)")
            apply(&head)
            #expect(self.world.oracle.fault(of: head, to: self.world.bob) == nil, "\(change)")
        }
    }

    @Test func aDraftBelongsToTheUser() {
        let head = self.head()
        let body = "{\"conv\":\"\(head.conversation)\",\"draft\":{\"text\":\"half\"}}"
        #expect(self.world.oracle.fault(of: head, to: self.world.bob, draft: "") == nil)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob, draft: body)?.hasPrefix("the draft of") == true)
        self.world.judge(.personalize(self.world.group, .draft("{\"text\":\"half\"}")), by: self.world.bob)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob, draft: body) == nil)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob, draft: "")?.hasPrefix("the draft of") == true)
        self.world.judge(.personalize(self.world.group, .draft("")), by: self.world.bob)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob, draft: "") == nil)
    }

    /// Own messages, hidden ones and those before a join are not unread.
    @Test func unreadMessagesAreFromOthers() {
        let world = self.world
        world.send("a", by: world.ann)
        world.send("b", by: world.bob)
        // A user who has read all before it writes has read its own message.
        #expect(world.oracle.unread(of: world.bob, in: world.book()) == (1, 0))
        #expect(world.oracle.unread(of: world.ann, in: world.book()) == (1, 0))
        #expect(world.oracle.unread(of: world.cid, in: world.book()) == (2, 0))
        world.judge(.hide(world.group, [1]), by: world.cid)
        #expect(world.oracle.unread(of: world.cid, in: world.book()) == (1, 0))
        world.judge(.mark(MarkCommand(conversation: world.group, read: 99)), by: world.cid)
        #expect(world.oracle.unread(of: world.cid, in: world.book()) == (0, 0))
        world.judge(.createLink(world.group, LinkTerms(code: "x")), by: world.ann)
        world.judge(.joinByLink("x"), by: world.dan)
        #expect(world.oracle.unread(of: world.dan, in: world.book()) == (0, 0))
        world.send("c", by: world.ann)
        #expect(world.oracle.unread(of: world.dan, in: world.book()) == (1, 0))
        // A recalled message mentions no user, but still counts as unread.
        world.send("d", by: world.ann, mentionsAll: true)
        #expect(world.oracle.unread(of: world.dan, in: world.book()) == (2, 1))
        world.judge(.recall(world.at(world.book().lastSeq)), by: world.ann)
        #expect(world.oracle.unread(of: world.dan, in: world.book()) == (2, 0))
    }

    /// The head of a former member has no unread messages, and ends where the member left.
    @Test func theHeadOfAFormerMemberEndsWithIt() {
        var head = self.head()
        self.world.judge(.leave(self.world.group, forgets: false), by: self.world.bob)
        self.world.send("after", by: self.world.ann)
        (head.state, head.seq) = (.left, 4)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob) == nil)
        head.seq = 5
        #expect(self.world.oracle.fault(of: head, to: self.world.bob)?.contains("says 1...5 instead of 1...4") == true)
        self.world.judge(.leave(self.world.group, forgets: true), by: self.world.bob)
        #expect(self.world.oracle.fault(of: head, to: self.world.bob)?.hasPrefix("the user does not have") == true)
        // An invited user sees no part of the log.
        self.world.book().people[self.world.dan] = Person(state: .invited, role: .member)
        var invitation = ChatHead(conversation: ConversationID(number: 10), kind: .group, state: .invited, seq: 0, n: 0, at: 1)
        #expect(self.world.oracle.fault(of: invitation, to: self.world.dan) == nil)
        invitation.unread = 1
        #expect(self.world.oracle.fault(of: invitation, to: self.world.dan)?.hasSuffix("counts what the user may not see") == true)
    }

    @Test func aWrongEndOfALogIsFound() {
        _ = self.head()
        func fault(_ seq: Int64, _ n: Int64, last: EventPreview? = nil, to user: UserKey, in number: Int64 = 10) -> String? {
            self.world.oracle.fault(
                of: HeadNudge(conversation: ConversationID(number: number), seq: seq, n: n, at: 1, last: last), to: user)
        }
        let (bob, cid) = (self.world.bob, self.world.cid)
        #expect(fault(3, 3, to: bob) == nil && fault(2, 2, to: bob) == nil)
        #expect(fault(4, 3, to: bob)?.hasSuffix("is ahead") == true && fault(3, 4, to: bob)?.hasSuffix("is ahead") == true)
        #expect(fault(1, 1, to: self.world.dan)?.hasPrefix("there is no conversation") == true)
        #expect(fault(1, 1, to: bob, in: 99)?.hasPrefix("there is no conversation") == true)
        func preview(_ text: String?) -> EventPreview { EventPreview(seq: 3, n: 3, sender: nil, at: 1, kind: .text, text: text) }
        #expect(fault(3, 3, last: preview("text 3"), to: bob) == nil)
        self.world.judge(.hide(self.world.group, [3]), by: cid)
        #expect(fault(3, 3, last: preview("text 3"), to: cid)?.hasSuffix("shows event 3, which is hidden") == true)
        #expect(fault(3, 3, last: preview(nil), to: cid) == nil && fault(3, 3, last: preview("text 3"), to: bob) == nil)
        self.world.judge(.recall(self.world.at(3)), by: self.world.ann)
        #expect(fault(3, 3, last: preview("text 3"), to: bob)?.hasSuffix("shows event 3, which is blank") == true)
    }
}
