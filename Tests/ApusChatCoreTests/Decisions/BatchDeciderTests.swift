import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// The changes and pushes of a batch.
@Suite struct BatchDeciderTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob])
    }

    private func decide(_ commands: [Command]) throws -> DecidedBatch {
        var needs = Needs()
        for command in commands { command.addNeeds(to: &needs) }
        var decider = BatchDecider(facts: try self.world.storage.begin(needs), at: self.world.now)
        for command in commands { _ = decider.decide(command) }
        self.world.storage.abandon()
        return decider.finish()
    }

    @Test func countersAreWrittenOncePerConversation() throws {
        let other = self.world.conversation(owner: self.ann)
        let batch = try self.decide([
            self.world.text(self.ann, self.group), self.world.text(self.ann, other), self.world.text(self.bob, self.group),
            self.world.text(self.ann, self.group),
        ])
        #expect(batch.changes.conversations.map(\.key) == [self.group, other])
        #expect(batch.changes.conversations.map(\.counters.lastSeq) == [3, 1])
        #expect(batch.changes.conversations.allSatisfy { $0.row == nil }, "messages write numbers only")
        #expect(batch.changes.members.count == 3)
        #expect(batch.pushes == [.events(self.group, first: 1, last: 3), .events(other, first: 1, last: 1)])
    }

    @Test func aSettingWritesTheWholeRow() throws {
        var update = ConversationUpdate()
        update.title = "New"
        let batch = try self.decide([self.world.command(self.ann, .set(self.group, update))])
        #expect(batch.changes.conversations.first?.row?.profile.title == "New")
        #expect(batch.changes.conversations.first?.isNew == false)
    }

    @Test func aNewConversationIsMarkedNew() throws {
        let create = CreateCommand(profile: ConversationProfile(), new: ConversationKey(77))
        let batch = try self.decide([self.world.command(self.ann, .create(create))])
        #expect(batch.changes.conversations.map(\.isNew) == [true])
        #expect(batch.changes.requests.count == 1)
    }

    @Test func refusalsAndRepetitionsWriteNothing() throws {
        let message = self.world.text(self.ann, self.group)
        try self.world.run(message)
        let eve = self.world.user("eve")
        let batch = try self.decide([message, self.world.text(eve, self.group), self.world.read(self.ann, self.group, 1)])
        #expect(batch.changes.isEmpty)
        #expect(batch.pushes.isEmpty)
    }

    @Test func anAbandonedBatchLeavesNoTrace() throws {
        let before = self.world.storage.head(of: self.ann, in: self.group)
        _ = try self.decide([self.world.text(self.ann, self.group)])
        #expect(self.world.storage.head(of: self.ann, in: self.group) == before)
        #expect(try self.world.run(self.world.text(self.ann, self.group)).answer?.seq == 1)
    }

    @Test func hiddenMessagesAreNamedForThePushes() throws {
        let pair = self.world.pair(self.ann, self.bob)
        self.world.modify(self.bob, in: pair) { $0.blockSeq = 1 }
        let batch = try self.decide([self.world.text(self.ann, pair), self.world.text(self.bob, pair)])
        #expect(batch.hidden == [AnnotationAddress(EventAddress(pair, 1), self.bob)])
    }

    @Test func twoBatchesFollowEachOther() throws {
        try self.world.run([self.world.text(self.ann, self.group), self.world.text(self.bob, self.group)])
        let batch = try self.decide([self.world.text(self.bob, self.group)])
        #expect(batch.changes.events.map(\.seq) == [3])
        #expect(batch.changes.events.map(\.n) == [3])
        #expect(batch.changes.events.map(\.at) == [self.world.now])
    }
}
