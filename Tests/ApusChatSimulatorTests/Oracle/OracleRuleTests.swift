import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The decisions of the oracle on messages, polls, links and the schedule, by the rules of
/// docs/chat-model.md.
@Suite("Oracle: decisions")
struct OracleRuleTests {
    private let world = OracleWorld()
    private var group: ConversationKey { self.world.group }
    private static let day: Int64 = 86_400_000

    // MARK: Requests

    @Test func aRetryHasTheSameAnswer() {
        let world = self.world
        #expect(world.send("hello", by: world.bob, id: "a") == .accepted(seq: 1, n: 1))
        #expect(world.send("hello", by: world.bob, id: "a") == .repeated(seq: 1, n: 1))
        #expect(world.send("hello", by: world.bob, id: "a", hash: 2) == .refused(.conflict))
        // Another user can have the same id.
        #expect(world.send("other", by: world.cid, id: "a") == .accepted(seq: 2, n: 2))
        #expect(world.judge(.react(world.at(1), key: "👍", isOn: true), by: world.ann, id: "b") == .accepted(seq: 3, n: 0))
        #expect(world.judge(.react(world.at(1), key: "👍", isOn: true), by: world.ann, id: "b") == .repeated(seq: 3, n: 0))
        #expect(world.judge(.react(world.at(1), key: "👎", isOn: true), by: world.ann, id: "b", hash: 2) == .refused(.conflict))
        // After a week the answer is forgotten, and the reaction is there already.
        world.time += 7 * Self.day
        #expect(world.judge(.react(world.at(1), key: "👍", isOn: true), by: world.ann, id: "b") == .unchanged)
        #expect(world.send("hello", by: world.bob, id: "a") == .repeated(seq: 1, n: 1))
    }

    @Test func aTextThatIsTwiceInTheLogIsAFault() {
        self.world.send("hello", by: self.world.bob)
        #expect(self.world.oracle.faults.isEmpty)
        self.world.send("hello", by: self.world.cid)
        #expect(self.world.oracle.faults == ["hello of user 3 is in the log twice"])
    }

    @Test(arguments: [(0, 0, true), (1, 0, true), (0, 1, true), (2, 0, false), (0, 2, false), (-1, 0, false), (0, -1, false)])
    func aReplyNeedsItsMessage(ref: Int64, thread: Int64, isAccepted: Bool) {
        self.world.send("hello", by: self.world.bob)
        let verdict = self.world.send("reply", by: self.world.ann, ref: ref, thread: thread)
        #expect(verdict == (isAccepted ? .accepted(seq: 2, n: 2) : .refused(.notFound)))
    }

    @Test func mentionsOfAllRequireThePermission() {
        self.world.book().settings.mentionAll = .admins
        #expect(self.world.send("a", by: self.world.bob, mentionsAll: true) == .refused(.forbidden))
        #expect(self.world.send("b", by: self.world.ann, mentionsAll: true) == .accepted(seq: 1, n: 1))
        self.world.send("c", by: self.world.ann, mentions: [self.world.bob, self.world.dan])
        #expect(self.world.oracle.unread(of: self.world.bob, in: self.world.book()) == (2, 2))
        #expect(self.world.oracle.unread(of: self.world.cid, in: self.world.book()) == (2, 1))
        #expect(self.world.oracle.unread(of: self.world.dan, in: self.world.book()) == (0, 0))
    }

    // MARK: Changes of messages

    @Test func onlyTheSenderEditsForTwoDays() {
        let world = self.world
        world.send("hello", by: world.bob)
        #expect(world.judge(.edit(world.at(1), world.text("x1")), by: world.ann) == .refused(.forbidden))
        #expect(world.judge(.edit(world.at(2), world.text("x2")), by: world.bob) == .refused(.notFound))
        #expect(world.judge(.edit(world.at(1), .failure(ChatError(.badRequest, message: ""))), by: world.bob) == .refused(.badRequest))
        world.time += 2 * Self.day
        #expect(world.judge(.edit(world.at(1), world.text("x3")), by: world.bob) == .accepted(seq: 2, n: 0))
        #expect(world.judge(.edit(world.at(2), world.text("x4")), by: world.bob) == .refused(.notFound))  // not a message
        world.time += 1
        #expect(world.judge(.edit(world.at(1), world.text("x5")), by: world.bob) == .refused(.tooLate))
        #expect(world.book().entries[0].text == "x3" && world.book().entries[0].original == "hello")
    }

    @Test func anAdminRecallsAtAnyTime() {
        let world = self.world
        for number in 1...3 { world.send("text \(number)", by: world.bob) }
        #expect(world.judge(.recall(world.at(1)), by: world.cid) == .refused(.forbidden))
        world.time += 2 * Self.day
        #expect(world.judge(.recall(world.at(1)), by: world.bob) == .accepted(seq: 4, n: 0))
        world.time += 1
        #expect(world.judge(.recall(world.at(2)), by: world.bob) == .refused(.tooLate))
        #expect(world.judge(.recall(world.at(2)), by: world.ann) == .accepted(seq: 5, n: 0))
        #expect(world.judge(.recall(world.at(2)), by: world.ann) == .refused(.notFound))
        #expect(world.book().entries[1].text.isEmpty && world.book().entries[2].text == "text 3")
    }

    @Test func reactionsAreLimited() {
        let world = self.world
        world.send("hello", by: world.bob)
        for (number, key) in ["a", "b", "c"].enumerated() {
            #expect(world.judge(.react(world.at(1), key: key, isOn: true), by: world.ann) == .accepted(seq: Int64(number) + 2, n: 0))
        }
        #expect(world.judge(.react(world.at(1), key: "a", isOn: true), by: world.ann) == .unchanged)
        #expect(world.judge(.react(world.at(1), key: "d", isOn: true), by: world.ann) == .refused(.limit))
        #expect(world.judge(.react(world.at(1), key: "d", isOn: false), by: world.ann) == .unchanged)
        #expect(world.judge(.react(world.at(1), key: "a", isOn: false), by: world.ann) == .accepted(seq: 5, n: 0))
        #expect(world.judge(.react(world.at(1), key: "d", isOn: true), by: world.ann) == .accepted(seq: 6, n: 0))
        // A message has at most 20 different reactions.
        for number in 0..<17 {
            let user = UserKey(100 + Int64(number) / 3)
            world.book().people[user] = Person(state: .joined, role: .member)
            #expect(world.judge(.react(world.at(1), key: "k\(number)", isOn: true), by: user) == .accepted(seq: Int64(number) + 7, n: 0))
        }
        #expect(world.judge(.react(world.at(1), key: "new", isOn: true), by: world.cid) == .refused(.limit))
        #expect(world.judge(.react(world.at(1), key: "b", isOn: true), by: world.cid) == .accepted(seq: 24, n: 0))
    }

    @Test func pinsAreNotRepeated() {
        let world = self.world
        world.send("hello", by: world.bob)
        #expect(world.judge(.pin(world.at(1), isOn: false), by: world.ann) == .unchanged)
        #expect(world.judge(.pin(world.at(1), isOn: true), by: world.ann) == .accepted(seq: 2, n: 0))
        #expect(world.judge(.pin(world.at(1), isOn: true), by: world.ann) == .unchanged)
        #expect(world.judge(.pin(world.at(2), isOn: true), by: world.ann) == .refused(.notFound))
    }

    // MARK: Polls

    @Test func votesAreOfTheOptions() {
        let world = self.world
        world.poll("one", options: 2, by: world.ann)
        world.poll("many", options: 3, many: true, by: world.ann)
        let cases: [(Int64, [Int], Verdict)] = [
            (1, [], .unchanged), (1, [2], .refused(.badRequest)), (1, [-1], .refused(.badRequest)), (1, [0, 1], .refused(.badRequest)),
            (1, [0], .accepted(seq: 3, n: 0)), (1, [0], .unchanged), (1, [1], .accepted(seq: 4, n: 0)), (1, [], .accepted(seq: 5, n: 0)),
            (2, [0, 2], .accepted(seq: 6, n: 0)), (2, [2, 0], .unchanged), (2, [3], .refused(.badRequest)), (3, [0], .refused(.notFound)),
        ]
        for (seq, options, verdict) in cases {
            #expect(world.judge(.vote(world.at(seq), options: options), by: world.bob) == verdict, "\(seq) \(options)")
        }
        #expect(world.book().entries[0].poll?.totals == [0, 0] && world.book().entries[1].poll?.totals == [1, 0, 1])
        world.send("text", by: world.ann)
        #expect(world.judge(.vote(world.at(7), options: [0]), by: world.bob) == .refused(.badRequest))
    }

    @Test func aPollEndsByItsSenderOrItsTime() {
        let world = self.world
        world.poll("timed", options: 2, closesAt: world.time + 1_000, by: world.ann)
        world.poll("open", options: 2, by: world.ann)
        #expect(world.judge(.closePoll(world.at(2)), by: world.bob) == .refused(.forbidden))
        #expect(world.judge(.closePoll(world.at(2)), by: world.ann) == .accepted(seq: 3, n: 0))
        #expect(world.judge(.closePoll(world.at(2)), by: world.ann) == .unchanged)
        #expect(world.judge(.vote(world.at(2), options: [0]), by: world.bob) == .refused(.tooLate))
        world.time += 999
        #expect(world.judge(.vote(world.at(1), options: [0]), by: world.bob) == .accepted(seq: 4, n: 0))
        world.time += 1
        #expect(world.judge(.vote(world.at(1), options: [1]), by: world.bob) == .refused(.tooLate))
        // The server ends polls with an end time, once.
        #expect(world.judge(.closePoll(world.at(1)), by: UserKey(0)) == .accepted(seq: 5, n: 0))
        #expect(world.judge(.closePoll(world.at(1)), by: UserKey(0)) == .unchanged)
        #expect(world.judge(.closePoll(world.at(2)), by: UserKey(0)) == .unchanged)
        #expect(world.book().entries.last?.sender == world.ann)
    }

    // MARK: Members

    /// For each role of the actor and the target, whether the actor may act on the target.
    @Test func rolesActOnLowerOnes() {
        let roles: [MemberRole] = [.guest, .reader, .member, .admin, .owner]
        for (rank, role) in roles.enumerated() {
            for (other, target) in roles.enumerated() {
                let isStaff = rank >= 3
                let expected: ChatError.Code? = isStaff && rank > other ? nil : .forbidden
                let actions: [Command.Action] = [
                    .remove(self.group, [self.world.cid]), .ban(self.group, [self.world.cid], isOn: true),
                    .silence(self.group, [self.world.cid], until: 9_000_000_000), .setRole(self.group, [self.world.cid], .guest),
                ]
                for action in actions {
                    let world = OracleWorld()
                    (world.person(world.bob).role, world.person(world.cid).role) = (role, target)
                    let verdict = world.judge(action, by: world.bob)
                    let isUnchanged = verdict == .unchanged && target == .guest
                    if let expected {
                        #expect(verdict == .refused(expected), "\(role) on \(target)")
                    } else {
                        #expect(verdict == .accepted(seq: 1, n: 0) || isUnchanged, "\(role) on \(target): \(verdict)")
                    }
                }
            }
        }
    }

    @Test func aRoleIsAtMostBelowOnesOwn() {
        let world = self.world
        world.person(world.bob).role = .admin
        for (role, verdict) in [
            (MemberRole.owner, Verdict.refused(.forbidden)), (.admin, .refused(.forbidden)), (.reader, .accepted(seq: 1, n: 0)),
            (.reader, .unchanged), (.member, .accepted(seq: 2, n: 0)),
        ] {
            #expect(world.judge(.setRole(world.group, [world.cid], role), by: world.bob) == verdict, "\(role)")
        }
        #expect(world.judge(.transfer(world.group, to: world.cid), by: world.bob) == .refused(.forbidden))
        #expect(world.judge(.transfer(world.group, to: world.dan), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.transfer(world.group, to: world.cid), by: world.ann) == .accepted(seq: 3, n: 0))
        #expect(world.person(world.ann).role == .admin && world.person(world.cid).role == .owner)
    }

    /// If the owner leaves, the member with the highest role follows, and a guest never does.
    @Test(
        arguments: [
            ([MemberRole.member, .admin], 3), ([.member, .member], 2), ([.guest, .reader], 3), ([.reader, .reader], 2),
            ([.guest, .guest], nil),
            ([.admin, .admin], 2),
        ] as [([MemberRole], Int64?)])
    func theOwnerHasASuccessor(roles: [MemberRole], heir: Int64?) {
        let world = self.world
        (world.person(world.bob).role, world.person(world.cid).role) = (roles[0], roles[1])
        #expect(world.judge(.leave(world.group, forgets: true), by: world.ann) == .accepted(seq: 1, n: 0))
        let owners = world.book().people.filter { $1.role == .owner && $1.state == .joined }.keys.map(\.rawValue)
        #expect(owners == (heir.map { [$0] } ?? []))
        #expect(world.book().lastSeq == (heir == nil ? 1 : 2))
    }

    @Test func aBanEndsAtItsTime() {
        let world = self.world
        let until = world.time + 1_000
        #expect(world.judge(.ban(world.group, [world.ann], isOn: true), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.ban(world.group, [world.cid], isOn: true, until: until), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.judge(.ban(world.group, [world.cid], isOn: true, until: until), by: world.ann) == .unchanged)
        let draft = OwnChange.draft("x")
        #expect(world.judge(.personalize(world.group, draft), by: world.cid) == .refused(.notFound))
        world.time = until
        #expect(world.judge(.personalize(world.group, draft), by: world.cid) != .refused(.notFound))
        #expect(world.send("x", by: world.cid) == .refused(.forbidden))
        #expect(world.judge(.ban(world.group, [world.cid], isOn: false), by: world.ann) == .accepted(seq: 2, n: 0))
        #expect(world.judge(.ban(world.group, [world.cid], isOn: false), by: world.ann) == .unchanged)
        // A user who never was a member can be banned.
        #expect(world.judge(.ban(world.group, [world.dan], isOn: true), by: world.ann) == .accepted(seq: 3, n: 0))
    }

    // MARK: Links

    @Test func aLinkHasItsLimits() {
        let world = self.world
        func link(_ terms: LinkTerms) -> Verdict { world.judge(.createLink(world.group, terms), by: world.ann) }
        #expect(world.judge(.createLink(world.group, LinkTerms(code: "x")), by: world.bob) == .refused(.forbidden))
        #expect(link(LinkTerms(code: "once", uses: 1)) == .unchanged)
        #expect(link(LinkTerms(code: "short", expiresAt: world.time + 1_000)) == .unchanged)
        #expect(link(LinkTerms(code: "asks", role: .reader, needsApproval: true)) == .unchanged)
        #expect(link(LinkTerms(code: "void")) == .unchanged)
        #expect(world.judge(.revokeLink("void"), by: world.bob) == .refused(.notFound))
        #expect(world.judge(.revokeLink("void"), by: world.ann) == .unchanged)
        #expect(world.judge(.joinByLink("void"), by: world.dan) == .refused(.notFound))
        #expect(world.judge(.joinByLink("none"), by: world.dan) == .refused(.notFound))
        // A member who follows a link does not consume one of its uses.
        #expect(world.judge(.joinByLink("once"), by: world.cid) == .unchanged)
        #expect(world.judge(.joinByLink("once"), by: world.dan) == .accepted(seq: 1, n: 0))
        #expect(world.judge(.joinByLink("once"), by: UserKey(5)) == .refused(.notFound))
        world.time += 999
        #expect(world.judge(.joinByLink("short"), by: UserKey(6)) == .accepted(seq: 2, n: 0))
        world.time += 1
        #expect(world.judge(.joinByLink("short"), by: UserKey(7)) == .refused(.notFound))
        // A request to join is answered by an admin.
        #expect(world.judge(.joinByLink("asks"), by: UserKey(8)) == .unchanged)
        #expect(world.send("x", by: UserKey(8)) == .refused(.notFound))
        #expect(world.judge(.answerRequest(world.group, UserKey(8), approves: true), by: world.bob) == .refused(.forbidden))
        #expect(world.judge(.answerRequest(world.group, UserKey(8), approves: true), by: world.ann) == .accepted(seq: 3, n: 0))
        #expect(world.person(UserKey(8)).role == .reader)
        #expect(world.judge(.answerRequest(world.group, UserKey(8), approves: true), by: world.ann) == .refused(.notFound))
    }

    @Test func aConversationHasTwentyLinks() {
        let world = self.world
        for number in 1...20 { #expect(world.judge(.createLink(world.group, LinkTerms(code: "\(number)")), by: world.ann) == .unchanged) }
        #expect(world.judge(.createLink(world.group, LinkTerms(code: "21")), by: world.ann) == .refused(.limit))
        world.judge(.revokeLink("7"), by: world.ann)
        #expect(world.judge(.createLink(world.group, LinkTerms(code: "21")), by: world.ann) == .unchanged)
    }

    // MARK: The schedule

    @Test(arguments: [(0, false), (-1, false), (1, true), (366 * 86_400_000, true), (366 * 86_400_000 + 1, false)] as [(Int64, Bool)])
    func aScheduledMessageIsSentWithinAYear(delay: Int64, isAccepted: Bool) {
        let world = self.world
        let send = SendCommand(conversation: world.group, content: world.text("later"))
        let schedule = ScheduleCommand(send: send, kind: .text, body: Body.json("later"), sendAt: world.time + delay)
        #expect(world.judge(.schedule(schedule), by: world.bob, id: "s") == (isAccepted ? .unchanged : .refused(.badRequest)))
        guard isAccepted, let id = ClientID("s") else { return }
        let address = ScheduledAddress(world.bob, id)
        world.time += delay - 1
        #expect(world.judge(.sendScheduled(address, send), by: world.bob) == .unchanged && world.book().entries.isEmpty)
        world.time += 1
        #expect(world.judge(.sendScheduled(address, send), by: world.bob) == .accepted(seq: 1, n: 1))
        #expect(world.judge(.sendScheduled(address, send), by: world.bob) == .unchanged)
        #expect(world.judge(.unschedule(id), by: world.bob) == .refused(.notFound))
    }

    /// A message that is refused at its time stays in the schedule with the reason, and one that is
    /// too early by slow mode waits.
    @Test func aRefusedScheduledMessageIsKept() throws {
        let world = self.world
        let id = try #require(ClientID("s"))
        let send = SendCommand(conversation: world.group, content: world.text("later"))
        world.judge(
            .schedule(ScheduleCommand(send: send, kind: .text, body: Body.json("later"), sendAt: world.time + 10)), by: world.bob, id: "s")
        world.book().settings.slow = 60
        world.time += 10
        world.send("now", by: world.bob)
        let address = ScheduledAddress(world.bob, id)
        #expect(world.judge(.sendScheduled(address, send), by: world.bob) == .unchanged)
        #expect(world.oracle.plans[address]?.sendAt == world.time + 60_000 && world.oracle.plans[address]?.failure == "")
        world.person(world.bob).role = .reader
        world.time += 60_000
        #expect(world.judge(.sendScheduled(address, send), by: world.bob) == .unchanged)
        #expect(world.oracle.plans[address]?.failure == "forbidden")
        #expect(world.judge(.unschedule(id), by: world.bob) == .unchanged && world.oracle.plans.isEmpty)
    }

    // MARK: People

    @Test func twoRequestsMakeContacts() {
        let world = self.world
        #expect(world.judge(.contact(world.ann, .request(text: "")), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.contact(nil, .request(text: "")), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.contact(world.bob, .answer(accepts: true)), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.contact(world.bob, .request(text: "")), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.judge(.contact(world.bob, .request(text: "")), by: world.ann) == .unchanged)
        #expect(world.judge(.contact(world.ann, .request(text: "")), by: world.bob) == .accepted(seq: 2, n: 0))
        #expect(world.oracle.tie(world.ann, world.bob).relation == .friend && world.oracle.tie(world.bob, world.ann).relation == .friend)
        // A user who blocks the sender receives no request, and the block is not disclosed.
        world.judge(.contact(world.cid, .block(true)), by: world.dan)
        #expect(world.judge(.contact(world.dan, .request(text: "")), by: world.cid) == .accepted(seq: 1, n: 0))
        #expect(world.oracle.tie(world.dan, world.cid).relation == .none && world.book(ConversationKey(4)).lastSeq == 1)
    }

    @Test func invitationsAreLimitedByTheDay() {
        let world = self.world
        let strangers = (100..<151).map { UserKey(Int64($0)) }
        #expect(world.judge(.invite(world.group, strangers), by: world.ann) == .refused(.tooMany))
        #expect(world.judge(.invite(world.group, Array(strangers.prefix(50))), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.judge(.invite(world.group, [strangers[50]]), by: world.ann) == .refused(.tooMany))
        #expect(world.judge(.contact(world.bob, .request(text: "")), by: world.ann) == .refused(.tooMany))
        #expect(world.judge(.invite(world.group, [strangers[50]]), by: world.bob) == .accepted(seq: 2, n: 0))
        world.time += Self.day
        #expect(world.judge(.contact(world.bob, .request(text: "")), by: world.ann) == .accepted(seq: 1, n: 0))
    }

    @Test func anErasureThatLeftMessagesIsAFault() {
        let world = self.world
        world.send("hello", by: world.bob)
        #expect(world.judge(.finishErasure(world.bob), by: UserKey(0)) == .unchanged)
        #expect(
            world.oracle.faults == ["the deleted account 2 has the message 1 in 10", "the deleted account 2 is a member of 10"])
        world.oracle.faults = []
        world.judge(.blank([world.at(1)], .erased), by: UserKey(0))
        world.judge(.leave(world.group, forgets: true), by: world.bob)
        world.judge(.finishErasure(world.bob), by: UserKey(0))
        #expect(world.oracle.faults.isEmpty)
    }
}
