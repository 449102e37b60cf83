import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct MarkTests {
    let world = World()

    @Test func unreadCountsMessagesOfOthers() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run((1...3).map { _ in self.world.text(ann, group) })
        #expect(self.world.unread(bob, in: group) == 3)
        #expect(self.world.unread(ann, in: group) == 0)
        try self.world.run(self.world.read(bob, group, 2))
        #expect(self.world.unread(bob, in: group) == 1)
        #expect(self.world.pushes == [.head(group, of: bob), .read(group, by: bob, n: 2)])
    }

    @Test func ownMessagesAboveTheReadPositionAreNotUnread() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run([self.world.text(ann, group), self.world.text(bob, group), self.world.text(ann, group)])
        // Bob sent message 2 before reading message 1.
        #expect(self.world.member(bob, in: group)?.readN == 0)
        #expect(self.world.unread(bob, in: group) == 2)
        try self.world.run(self.world.read(bob, group, 1))
        #expect(self.world.unread(bob, in: group) == 1)
        try self.world.run(self.world.read(bob, group, 3))
        #expect(self.world.unread(bob, in: group) == 0)
    }

    @Test func aMarkSeesTheMessagesOfItsOwnBatch() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run([
            self.world.text(ann, group), self.world.text(bob, group), self.world.read(bob, group, 1), self.world.text(ann, group),
        ])
        #expect(self.world.member(bob, in: group)?.readN == 1)
        #expect(self.world.member(bob, in: group)?.skipped == 1)
        #expect(self.world.unread(bob, in: group) == 1)
    }

    @Test func positionsBeyondTheEndAndBehindAreHarmless() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run([self.world.text(ann, group), self.world.text(ann, group)])
        #expect(try self.world.run(self.world.read(bob, group, .max)).answer?.n == 2)
        #expect(try self.world.run(self.world.read(bob, group, -5)).answer?.n == 2)
        #expect(self.world.pushes.isEmpty)
        #expect(self.world.unread(bob, in: group) == 0)
    }

    @Test func anOutsiderCannotMark() throws {
        let (ann, eve) = (self.world.user("ann"), self.world.user("eve"))
        let group = self.world.conversation(owner: ann)
        #expect(try self.world.run(self.world.read(eve, group, 1)).code == .notFound)
        #expect(try self.world.run(self.world.read(ann, ConversationKey(9), 1)).code == .notFound)
    }

    @Test func mentionsAreCountedAboveTheReadPosition() throws {
        let (ann, bob, eve) = (self.world.user("ann"), self.world.user("bob"), self.world.user("eve"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run([
            self.world.text(ann, group, mentions: [bob, eve]), self.world.text(ann, group), self.world.text(ann, group, all: true),
        ])
        #expect(self.world.mentions(bob, in: group) == 2)
        #expect(self.world.mentions(ann, in: group) == 0)
        try self.world.run(self.world.read(bob, group, 1))
        #expect(self.world.mentions(bob, in: group) == 1)
    }

    /// The router pushes a head to each of these users.
    @Test func aBatchNamesTheUsersWhoseMentionsChange() throws {
        let (ann, bob, eve) = (self.world.user("ann"), self.world.user("bob"), self.world.user("eve"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run([self.world.text(ann, group, mentions: [bob, eve])])
        #expect(self.world.mentioned == [group: [bob]])
        try self.world.run(self.world.text(ann, group))
        #expect(self.world.mentioned.isEmpty)
        try self.world.run(self.world.text(ann, group, all: true))
        #expect(self.world.mentioned == [group: [UserKey(0)]])
        try self.world.run(self.world.command(ann, .recall(EventAddress(group, 1))))
        #expect(self.world.mentioned == [group: [bob]])
        #expect(self.world.mentions(bob, in: group) == 1)
    }

    @Test func readPositionsOfOthersDoNotChangeAHead() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        try self.world.run(self.world.text(ann, group))
        let position = self.world.storage.position()
        try self.world.run(self.world.read(bob, group, 1))
        #expect(self.world.storage.changes(of: ann, after: position, cursor: nil, limit: 10) == .page([], next: nil))
        guard case .page(let heads, nil) = self.world.storage.changes(of: bob, after: position, cursor: nil, limit: 10) else {
            Issue.record("one page expected")
            return
        }
        #expect(heads.map(\.unread) == [0])
    }
}
