import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct MembershipTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let cid: UserKey
    let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.cid = self.world.user("cid")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob, self.cid])
    }

    private func run(_ actor: UserKey, _ action: Command.Action) throws -> Decision {
        try self.world.run(self.world.command(actor, action))
    }

    @Test func aFormerMemberSeesTheLogUpToTheEnd() throws {
        try self.world.run([self.world.text(self.ann, self.group, "a"), self.world.command(self.bob, .leave(self.group, forgets: false))])
        #expect(self.world.pushes.contains(.departed(self.group, self.bob, last: 2)))
        try self.world.run(self.world.text(self.ann, self.group, "b"))
        #expect(self.world.bodies(self.bob, in: self.group) == ["{\"text\":\"a\"}"])
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.last?.seq == 2)
        #expect(self.world.unread(self.bob, in: self.group) == 0)
        #expect(self.world.storage.head(of: self.ann, in: self.group)?.conversation.counters.memberCount == 2)
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == .forbidden)
        #expect(self.world.storage.conversations(of: self.bob).contains(self.group) == false)
    }

    @Test func aRejoinBeginsANewVisibleRange() throws {
        try self.world.run([self.world.text(self.ann, self.group, "a"), self.world.command(self.bob, .leave(self.group, forgets: false))])
        try self.world.run(self.world.text(self.ann, self.group, "secret"))
        try self.world.run(self.world.command(self.ann, .invite(self.group, [self.bob])))
        #expect(self.world.member(self.bob, in: self.group)?.state == .invited)
        try self.world.run(self.world.command(self.bob, .answerInvitation(self.group, accepts: true)))
        try self.world.run(self.world.text(self.ann, self.group, "b"))
        #expect(self.world.bodies(self.bob, in: self.group) == ["{\"text\":\"b\"}"])
        #expect(self.world.unread(self.bob, in: self.group) == 1)
    }

    @Test func anInvitationOfABlockedUserHidesNothing() throws {
        try self.world.run(self.world.command(self.bob, .leave(self.group, forgets: false)))
        _ = try self.run(self.bob, .contact(self.ann, .block(true)))
        try self.world.run(self.world.command(self.ann, .invite(self.group, [self.bob])))
        #expect(self.world.member(self.bob, in: self.group)?.state == .left)
        #expect(self.world.member(self.bob, in: self.group)?.isGone == false, "bob keeps the log that bob can read")
        _ = try self.run(self.bob, .leave(self.group, forgets: true))
        try self.world.run(self.world.command(self.ann, .invite(self.group, [self.bob])))
        #expect(self.world.member(self.bob, in: self.group)?.state == .invited)
        #expect(self.world.member(self.bob, in: self.group)?.isGone == true, "the invitation is not listed")
    }

    @Test func theOwnerWhoLeavesHasASuccessor() throws {
        _ = try self.run(self.ann, .setRole(self.group, [self.cid], .admin))
        _ = try self.run(self.ann, .leave(self.group, forgets: true))
        #expect(self.world.member(self.cid, in: self.group)?.role == .owner)
        #expect(self.world.member(self.ann, in: self.group)?.isGone == true)
    }

    @Test func theSuccessorIsStillAMember() throws {
        try self.world.run([
            self.world.command(self.bob, .leave(self.group, forgets: false)),
            self.world.command(self.ann, .leave(self.group, forgets: false)),
        ])
        #expect(self.world.member(self.cid, in: self.group)?.role == .owner)
        #expect(self.world.member(self.bob, in: self.group)?.role == .member)
    }

    /// A restored or imported conversation can have two owners.
    @Test func anOwnerWhoLeavesToAnotherOwnerHasNoSuccessor() throws {
        self.world.modify(self.cid, in: self.group) { $0.role = .owner }
        self.world.modify(self.bob, in: self.group) { $0.role = .admin }
        _ = try self.run(self.ann, .leave(self.group, forgets: false))
        #expect(self.world.member(self.cid, in: self.group)?.role == .owner)
        #expect(self.world.member(self.bob, in: self.group)?.role == .admin)
    }

    /// The storage returns the candidates from before the batch.
    @Test func theSuccessorMayHaveJoinedInTheSameBatch() throws {
        let group = self.world.conversation(owner: self.ann)
        _ = try self.run(self.ann, .invite(group, [self.bob]))
        try self.world.run([
            self.world.command(self.bob, .answerInvitation(group, accepts: true)),
            self.world.command(self.ann, .leave(group, forgets: false)),
        ])
        #expect(self.world.member(self.bob, in: group)?.role == .owner)
    }

    @Test func theSuccessorHasTheHighestRoleOfTheBatch() throws {
        try self.world.run([
            self.world.command(self.ann, .setRole(self.group, [self.cid], .admin)),
            self.world.command(self.ann, .leave(self.group, forgets: false)),
        ])
        #expect(self.world.member(self.cid, in: self.group)?.role == .owner)
    }

    @Test func rolesAreGivenBelowTheOwn() throws {
        #expect(try self.run(self.bob, .setRole(self.group, [self.cid], .reader)).code == .forbidden)
        #expect(try self.run(self.ann, .setRole(self.group, [self.bob], .owner)).code == .forbidden)
        #expect(try self.run(self.ann, .setRole(self.group, [self.bob], .admin)).answer?.seq == 1)
        #expect(try self.run(self.bob, .setRole(self.group, [self.cid], .admin)).code == .forbidden)
        #expect(try self.run(self.bob, .setRole(self.group, [self.ann], .member)).code == .forbidden)
        #expect(try self.run(self.bob, .setRole(self.group, [self.cid], .reader)).answer?.seq == 2)
        #expect(try self.run(self.bob, .setRole(self.group, [self.cid], .reader)).answer?.seq == 0)
        #expect(try self.world.run(self.world.text(self.cid, self.group)).code == .forbidden)
    }

    @Test func ownershipIsTransferred() throws {
        #expect(try self.run(self.bob, .transfer(self.group, to: self.bob)).code == .forbidden)
        #expect(try self.run(self.ann, .transfer(self.group, to: UserKey(9))).code == .notFound)
        #expect(try self.run(self.ann, .transfer(self.group, to: self.bob)).answer?.seq == 1)
        #expect(self.world.member(self.ann, in: self.group)?.role == .admin)
        #expect(self.world.member(self.bob, in: self.group)?.role == .owner)
    }

    @Test func removalConcernsAllNamedOrNone() throws {
        _ = try self.run(self.ann, .setRole(self.group, [self.bob], .admin))
        #expect(try self.run(self.bob, .remove(self.group, [self.cid, self.ann])).code == .forbidden)
        #expect(self.world.member(self.cid, in: self.group)?.state == .joined)
        #expect(try self.run(self.bob, .remove(self.group, [self.cid, self.cid])).answer?.seq == 2)
        #expect(self.world.member(self.cid, in: self.group)?.state == .removed)
        #expect(self.world.storage.head(of: self.ann, in: self.group)?.conversation.counters.memberCount == 2)
        #expect(self.world.storage.events(in: self.group, .from(1), as: self.cid, limit: 9).last?.seq == 2, "the removal is visible")
    }

    @Test func aBannedUserSeesNothingAndCannotReturn() throws {
        try self.world.run(self.world.text(self.ann, self.group))
        _ = try self.run(self.ann, .ban(self.group, [self.bob], isOn: true))
        #expect(self.world.pushes.contains(.departed(self.group, self.bob, last: 0)), "not even the ban")
        #expect(self.world.bodies(self.bob, in: self.group).isEmpty)
        #expect(try self.run(self.bob, .join(self.group)).code == .notFound)
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == .notFound)
        let dan = self.world.user("dan")
        _ = try self.run(self.ann, .ban(self.group, [dan], isOn: true))
        #expect(self.world.member(dan, in: self.group)?.state == .banned, "also one that never was a member")
        _ = try self.run(self.ann, .ban(self.group, [self.bob, dan], isOn: false))
        #expect(self.world.member(self.bob, in: self.group)?.state == .removed)
        #expect(self.world.member(dan, in: self.group)?.state == .removed)
        #expect(self.world.bodies(dan, in: self.group).isEmpty)
    }

    @Test func aBanEndsAtItsTime() throws {
        var open = ConversationUpdate()
        open.settings.join = .open
        _ = try self.run(self.ann, .set(self.group, open))
        _ = try self.run(self.ann, .ban(self.group, [self.bob], isOn: true, until: self.world.now + 1_000))
        #expect(self.world.member(self.bob, in: self.group)?.bannedUntil == self.world.now + 1_000)
        #expect(try self.run(self.bob, .join(self.group)).code == .notFound)
        // A later time replaces the earlier one.
        _ = try self.run(self.ann, .ban(self.group, [self.bob], isOn: true, until: self.world.now + 2_000))
        self.world.now += 1_999
        #expect(try self.run(self.bob, .join(self.group)).code == .notFound)
        self.world.now += 1
        #expect(self.world.bodies(self.bob, in: self.group).isEmpty)
        #expect(try self.run(self.bob, .join(self.group)).code == nil)
        #expect(self.world.member(self.bob, in: self.group)?.state == .joined)
        #expect(self.world.member(self.bob, in: self.group)?.bannedUntil == 0)
        _ = try self.run(self.ann, .ban(self.group, [self.bob], isOn: true))
        self.world.now += 1_000_000_000
        #expect(try self.run(self.bob, .join(self.group)).code == .notFound)
    }

    @Test func aSilencedMemberReadsOnly() throws {
        _ = try self.run(self.ann, .silence(self.group, [self.bob], until: self.world.now + 1_000))
        guard case .refused(let error) = try self.world.run(self.world.text(self.bob, self.group)) else {
            Issue.record("a refusal expected")
            return
        }
        #expect(error.code == .forbidden)
        #expect(error.retryAfter == 1_000)
        #expect(try self.world.run(self.world.read(self.bob, self.group, 0)).code == nil)
        self.world.now += 1_000
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == nil)
    }

    @Test func aPairDisappearsWithItsLogUntilTheNextMessage() throws {
        let pair = self.world.pair(self.ann, self.bob)
        try self.world.run(self.world.text(self.ann, pair, "a"))
        _ = try self.run(self.bob, .leave(pair, forgets: true))
        #expect(self.world.member(self.bob, in: pair)?.isGone == true)
        #expect(self.world.bodies(self.bob, in: pair).isEmpty)
        try self.world.run(self.world.text(self.ann, pair, "b"))
        #expect(self.world.bodies(self.bob, in: pair) == ["{\"text\":\"b\"}"])
        #expect(self.world.unread(self.bob, in: pair) == 1)
    }

    @Test func messagesSentBeforeAPairDisappearsAreNotPushed() throws {
        let pair = self.world.pair(self.ann, self.bob)
        try self.world.run([self.world.text(self.ann, pair, "a"), self.world.command(self.bob, .leave(pair, forgets: true))])
        #expect(self.world.pushes.contains(.arrived(pair, self.bob, first: 2)))
    }

    @Test func theVersionOfTheMembersMovesWithEachChange() throws {
        func version() -> Int64 { self.world.storage.members(of: self.group, in: .joined, containing: nil, after: nil, limit: 9).version }
        let before = version()
        try self.world.run(self.world.text(self.bob, self.group))
        #expect(version() == before)
        _ = try self.run(self.ann, .setRole(self.group, [self.bob], .reader))
        #expect(version() > before)
    }

    @Test func theEpochChangesWithTheMembers() throws {
        let world = World()
        let (ann, bob) = (world.user("ann"), world.user("bob"))
        let group = world.conversation(owner: ann, members: [bob])
        func epoch() -> Int64? { world.storage.head(of: ann, in: group)?.conversation.counters.epoch }
        #expect(epoch() == 0)
        try world.run(world.command(ann, .setRole(group, [bob], .reader)))
        try world.run(world.text(ann, group))
        #expect(epoch() == 0)
        try world.run(world.command(ann, .remove(group, [bob])))
        #expect(epoch() == 1)
        let send = SendCommand(conversation: group, content: .success(MessageContent(kind: .text, body: "{}")), ifEpoch: 0)
        #expect(try world.run(world.command(ann, .send(send))).code == .epoch)
    }
}
