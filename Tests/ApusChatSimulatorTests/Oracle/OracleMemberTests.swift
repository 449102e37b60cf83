import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The decisions of the oracle on conversations and their members, by the rules of
/// docs/chat-model.md.
@Suite("Oracle: members")
struct OracleMemberTests {
    private let world = OracleWorld()

    /// Makes two users contacts.
    private func befriend(_ one: UserKey, _ other: UserKey) {
        self.world.judge(.contact(other, .request(text: "")), by: one)
        self.world.judge(.contact(one, .request(text: "")), by: other)
    }

    // MARK: Pairs

    @Test func aPairNeedsAnotherUser() {
        let world = self.world
        for peer in [nil, world.ann, UserKey(99)] {
            #expect(world.judge(.openPair(peer: peer, new: ConversationKey(50)), by: world.ann) == .refused(.notFound))
        }
        world.oracle.deleted.insert(world.cid)
        #expect(world.judge(.openPair(peer: world.cid, new: ConversationKey(50)), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.openPair(peer: world.ann, new: ConversationKey(50)), by: world.cid) == .refused(.unauthorized))
        #expect(world.oracle.books[ConversationKey(50)] == nil)
    }

    /// A new pair is in the list of its creator, and in that of the other user with its first
    /// message.
    @Test func aPairAppearsWithItsFirstMessage() {
        let world = self.world
        let key = ConversationKey(50)
        #expect(world.judge(.openPair(peer: world.cid, new: key), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(!world.person(world.ann, key).isGone && world.person(world.cid, key).isGone)
        #expect(world.judge(.openPair(peer: world.cid, new: ConversationKey(51)), by: world.ann) == .unchanged, "there is one")
        #expect(world.judge(.openPair(peer: world.ann, new: ConversationKey(52)), by: world.cid) == .unchanged)
        #expect(!world.person(world.cid, key).isGone && world.oracle.books[ConversationKey(52)] == nil)
        world.judge(.leave(key, forgets: false), by: world.cid)
        #expect(world.person(world.cid, key).isGone && world.person(world.cid, key).first == 2)
        world.send("hello", by: world.ann, in: key)
        #expect(!world.person(world.cid, key).isGone && world.oracle.unread(of: world.cid, in: world.book(key)) == (1, 0))
        // The user who left sees only what came later.
        #expect(world.person(world.cid, key).range(last: 2) == 2...2)
    }

    @Test func aMessageOfABlockedUserDoesNotRestoreThePair() {
        let world = self.world
        world.send("first", by: world.bob, in: world.pair)
        world.judge(.leave(world.pair, forgets: false), by: world.ann)
        world.judge(.contact(world.bob, .block(true)), by: world.ann)
        world.send("hello", by: world.bob, in: world.pair)
        #expect(world.person(world.ann, world.pair).isGone)
        world.judge(.contact(world.bob, .block(false)), by: world.ann)
        world.send("again", by: world.bob, in: world.pair)
        #expect(!world.person(world.ann, world.pair).isGone)
    }

    /// A pair has no settings but the time after which its messages expire.
    @Test func onlyTheExpiryOfAPairIsSet() {
        let world = self.world
        var update = ConversationUpdate()
        update.settings.slow = 5
        #expect(world.judge(.set(world.pair, update), by: world.ann) == .refused(.badRequest))
        update.settings.slow = nil
        update.settings.expire = 60
        #expect(world.judge(.set(world.pair, update), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.judge(.set(world.pair, update), by: world.bob) == .unchanged)
        world.send("hello", by: world.bob, in: world.pair)
        #expect(world.book(world.pair).entries.last?.expiresAt == world.time + 60_000)
        #expect(world.book(world.pair).entries.first?.expiresAt == 0, "a change does not expire")
        update.settings.write = .admins
        #expect(world.judge(.set(world.pair, update), by: world.ann) == .refused(.badRequest))
        #expect(world.judge(.set(world.group, update), by: world.bob) == .refused(.forbidden))
        #expect(world.judge(.set(world.group, update), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.send("x", by: world.bob) == .refused(.forbidden), "only admins write")
    }

    // MARK: Newcomers

    /// Contacts become members at once, and other users are asked.
    @Test func contactsAreAddedAndOthersInvited() {
        let world = self.world
        self.befriend(world.ann, world.bob)
        let create = CreateCommand(
            profile: ConversationProfile(), members: [world.bob, world.cid, world.bob, world.ann, nil], new: ConversationKey(60))
        #expect(world.judge(.create(create), by: world.ann) == .accepted(seq: 1, n: 0))
        let book = world.book(ConversationKey(60))
        #expect(book.people.mapValues(\.state) == [world.ann: .joined, world.bob: .joined, world.cid: .invited])
        #expect(book.people[world.ann]?.role == .owner && book.people[world.bob]?.role == .member)
        #expect(book.entries.map(\.kind.code) == [.conversationCreate, .memberInvite, .memberJoin])
        // Readers of a channel do not write.
        var channel = create
        (channel.kind, channel.new) = (.channel, ConversationKey(61))
        world.judge(.create(channel), by: world.ann)
        #expect(world.person(world.bob, ConversationKey(61)).role == .reader)
    }

    /// The state of a user, and what an invitation of a friend by a member and by an admin makes of
    /// it.
    @Test(
        arguments: [
            (nil, true, MemberState.joined, .joined), (nil, false, .invited, .invited), (.joined, true, .joined, .joined),
            (.invited, true, .invited, .invited), (.left, true, .invited, .invited), (.removed, true, .joined, .joined),
            (.banned, true, .banned, .joined), (.banned, false, .banned, .invited), (.requested, true, .joined, .joined),
        ] as [(MemberState?, Bool, MemberState, MemberState)])
    func anInvitationDependsOnTheState(before: MemberState?, isFriend: Bool, byMember: MemberState, byAdmin: MemberState) {
        for (inviter, after) in [(UserKey(2), byMember), (UserKey(1), byAdmin)] {
            let tests = OracleMemberTests()
            let world = tests.world
            if isFriend { tests.befriend(inviter, world.dan) }
            if let before { world.book().people[world.dan] = Person(state: before, role: .member) }
            let verdict = world.judge(.invite(world.group, [world.dan, world.dan]), by: inviter)
            #expect(world.person(world.dan).state == after, "\(inviter.rawValue)")
            #expect(verdict == (before == after ? .unchanged : .accepted(seq: 1, n: 0)), "\(inviter.rawValue): \(verdict)")
        }
    }

    @Test func aUserWhoBlocksTheInviterLearnsNothing() {
        let world = self.world
        self.befriend(world.bob, world.dan)
        world.judge(.contact(world.bob, .block(true)), by: world.dan)
        #expect(world.judge(.invite(world.group, [world.dan]), by: world.bob) == .accepted(seq: 1, n: 0))
        #expect(world.person(world.dan).state == .invited && world.person(world.dan).isGone)
    }

    @Test func anInvitationIsAnsweredOnce() {
        let world = self.world
        world.judge(.invite(world.group, [world.dan]), by: world.ann)
        #expect(world.send("x", by: world.dan) == .refused(.forbidden))
        #expect(world.judge(.answerInvitation(world.group, accepts: false), by: world.dan) == .unchanged)
        #expect(world.person(world.dan).state == .left && world.person(world.dan).isGone)
        #expect(world.judge(.answerInvitation(world.group, accepts: true), by: world.dan) == .refused(.forbidden))
        world.judge(.invite(world.group, [world.dan]), by: world.ann)
        #expect(world.judge(.leave(world.group, forgets: false), by: world.dan) == .unchanged, "the invitation is declined")
        world.judge(.invite(world.group, [world.dan]), by: world.ann)
        #expect(world.judge(.answerInvitation(world.group, accepts: true), by: world.dan) == .accepted(seq: 4, n: 0))
        #expect(world.judge(.answerInvitation(world.group, accepts: true), by: world.dan) == .refused(.forbidden))
    }

    /// The first visible event of a member, by the setting of the history and the number of the
    /// join.
    @Test(arguments: [(HistoryRule.all, 1, 7), (.join, 5, 7)] as [(HistoryRule, Int64, Int64)])
    func theHistoryBeginsByTheSetting(history: HistoryRule, first: Int64, again: Int64) {
        let world = self.world
        world.book().settings.history = history
        for number in 1...3 { world.send("text \(number)", by: world.ann) }
        world.judge(.createLink(world.group, LinkTerms(code: "x", role: .guest)), by: world.ann)
        world.judge(.pin(world.at(1), isOn: true), by: world.ann)
        #expect(world.judge(.joinByLink("x"), by: world.dan) == .accepted(seq: 5, n: 0))
        #expect(world.person(world.dan).first == first && world.person(world.dan).role == .guest)
        // Nothing before the join is unread.
        #expect(world.person(world.dan).floor == 3 && world.oracle.unread(of: world.dan, in: world.book()) == (0, 0))
        world.judge(.leave(world.group, forgets: false), by: world.dan)
        #expect(world.judge(.joinByLink("x"), by: world.dan) == .accepted(seq: 7, n: 0))
        #expect(world.person(world.dan).first == again, "a user who joins again sees what comes later")
    }

    // MARK: Ends of memberships

    @Test func removedUsersAreMembersOrInvited() {
        let world = self.world
        world.judge(.invite(world.group, [world.dan]), by: world.ann)
        for users in [[], [nil], [UserKey(99)], [world.bob, UserKey(99)]] as [[UserKey?]] {
            #expect(world.judge(.remove(world.group, users), by: world.ann) == .refused(.notFound))
        }
        #expect(world.judge(.remove(world.group, [world.ann]), by: world.ann) == .refused(.forbidden), "the owner leaves instead")
        #expect(world.judge(.remove(world.group, [world.dan]), by: world.ann) == .unchanged, "an invitation ends silently")
        #expect(world.person(world.dan).isGone)
        #expect(world.judge(.remove(world.group, [world.bob, world.cid, world.bob]), by: world.ann) == .accepted(seq: 2, n: 0))
        for user in [world.bob, world.cid] {
            #expect(world.person(user).state == .removed && world.person(user).left == 2 && !world.person(user).isGone)
            #expect(world.person(user).range(last: 9) == 1...2)
        }
        #expect(world.judge(.remove(world.group, [world.bob]), by: world.ann) == .refused(.notFound))
    }

    @Test func aSilenceEndsWithItsTimeOrANewMembership() {
        let world = self.world
        #expect(world.judge(.silence(world.group, [world.bob], until: world.time + 10), by: world.ann) == .accepted(seq: 1, n: 0))
        #expect(world.send("a", by: world.bob) == .refused(.forbidden))
        #expect(world.judge(.mark(MarkCommand(conversation: world.group, read: 0)), by: world.bob) == .accepted(seq: 1, n: 0))
        world.time += 10
        #expect(world.send("b", by: world.bob) == .accepted(seq: 2, n: 1))
        world.judge(.silence(world.group, [world.bob], until: .max), by: world.ann)
        world.judge(.leave(world.group, forgets: true), by: world.bob)
        world.judge(.createLink(world.group, LinkTerms(code: "x")), by: world.ann)
        world.judge(.joinByLink("x"), by: world.bob)
        #expect(world.person(world.bob).silencedUntil == 0)
        #expect(world.judge(.silence(world.group, [world.dan], until: .max), by: world.ann) == .refused(.notFound))
    }

    // MARK: Forwards and previews

    @Test func aForwardIsOfAllMessagesOrNone() {
        let world = self.world
        world.send("one", by: world.ann)
        func forward(_ contents: Result<[MessageContent], ChatError>, to key: ConversationKey, by user: UserKey) -> Verdict {
            world.judge(.forward(key, contents), by: user)
        }
        let contents = ["one", "two"].map { MessageContent(kind: .text, body: Body.forwarded(Body.json($0), from: "ann")) }
        #expect(forward(.success(contents), to: world.pair, by: world.cid) == .refused(.notFound))
        #expect(forward(.failure(ChatError(.notFound, message: "")), to: world.pair, by: world.bob) == .refused(.notFound))
        #expect(forward(.success(contents), to: world.pair, by: world.bob) == .accepted(seq: 1, n: 1))
        #expect(world.book(world.pair).entries.map(\.text) == ["one", "two"] && world.book(world.pair).entries[1].origin == world.ann)
        // A copy may repeat a text, and does not change with its original.
        #expect(world.oracle.faults.isEmpty)
        world.judge(.recall(world.at(1)), by: world.ann)
        #expect(world.book(world.pair).entries[0].text == "one")
        #expect(world.oracle.copies(of: world.at(2, world.pair)).isEmpty && world.oracle.copies(of: world.at(1)).isEmpty)
        world.book().settings.slow = 60
        #expect(forward(.success(contents), to: world.group, by: world.cid) == .accepted(seq: 3, n: 2))
        #expect(world.oracle.copies(of: world.at(1, world.pair)) == [world.at(3)])
        #expect(forward(.success(contents), to: world.group, by: world.cid) == .refused(.tooMany), "slow mode")
    }

    @Test func aPreviewIsOfTheTextForWhichItWasMade() {
        let world = self.world
        world.send("link 1", by: world.bob)
        func set(_ before: String, title: String = "page") -> Verdict {
            let body = Body.json(before)
            return world.judge(
                .setPreview(
                    PreviewCommand(
                        target: world.at(1), before: body, after: Body.adding(title: title, to: body), change: Body.change(title: title))),
                by: UserKey(0))
        }
        #expect(set("link 2") == .unchanged, "another text")
        #expect(set("link 1") == .accepted(seq: 2, n: 0) && world.book().entries[0].preview == "page")
        #expect(set("link 1", title: "other") == .unchanged, "there is a preview")
        #expect(world.judge(.removePreview(world.at(1)), by: world.ann) == .refused(.forbidden))
        #expect(world.judge(.removePreview(world.at(1)), by: world.bob) == .accepted(seq: 3, n: 0))
        #expect(world.judge(.removePreview(world.at(1)), by: world.bob) == .unchanged)
        #expect(set("link 1") == .accepted(seq: 4, n: 0))
        world.judge(.edit(world.at(1), world.text("link 3")), by: world.bob)
        #expect(world.book().entries[0].preview.isEmpty && world.book().entries[0].originalPreview == "page")
        #expect(set("link 1") == .unchanged, "the text was edited")
        world.time += ChatRules().editMilliseconds + 1
        #expect(world.judge(.removePreview(world.at(1)), by: world.bob) == .refused(.tooLate))
        world.judge(.recall(world.at(1)), by: world.ann)
        #expect(set("link 3") == .unchanged, "the text was recalled")
    }

    // MARK: Settings and contacts of a user

    @Test func ownSettingsAreEventsOfTheNotes() {
        let world = self.world
        let notes = ConversationKey(2)
        let changes: [(OwnChange, Verdict)] = [
            (.pin(false), .unchanged), (.pin(true), .accepted(seq: 1, n: 0)), (.pin(true), .unchanged), (.draft(""), .unchanged),
            (.draft("half"), .accepted(seq: 2, n: 0)), (.draft("half"), .accepted(seq: 3, n: 0)), (.draft(""), .accepted(seq: 4, n: 0)),
            (.draft(""), .unchanged), (.archive(true), .accepted(seq: 5, n: 0)), (.mute(until: 9), .accepted(seq: 6, n: 0)),
            (.markUnread(true), .accepted(seq: 7, n: 0)), (.notifyMentionsOnly(true), .accepted(seq: 8, n: 0)),
        ]
        for (change, verdict) in changes {
            #expect(world.judge(.personalize(world.group, change), by: world.bob) == verdict, "\(change)")
        }
        // Earlier drafts are erased.
        #expect(world.book(notes).entries.map { $0.state == .erased } == [false, true, true, false, false, false, false, false])
        #expect(world.book().lastSeq == 0 && world.book(ConversationKey(1)).lastSeq == 0, "no other user learns of it")
        #expect(world.judge(.personalize(world.group, .pin(true)), by: world.dan) == .refused(.notFound))
        // A read position ends the mark.
        world.judge(.mark(MarkCommand(conversation: world.group, read: 0)), by: world.bob)
        #expect(!world.person(world.bob).isMarkedUnread)
    }

    @Test func aContactIsRemovedForBoth() {
        let world = self.world
        #expect(world.judge(.contact(world.bob, .remove), by: world.ann) == .unchanged)
        self.befriend(world.ann, world.bob)
        #expect(world.judge(.contact(world.ann, .remove), by: world.bob) != .unchanged)
        #expect(world.oracle.tie(world.ann, world.bob).relation == .none && world.oracle.tie(world.bob, world.ann).relation == .none)
        // An answer needs a request, and a refusal removes it.
        world.judge(.contact(world.bob, .request(text: "")), by: world.ann)
        #expect(world.judge(.contact(world.bob, .answer(accepts: true)), by: world.ann) == .refused(.notFound), "an own request")
        #expect(world.judge(.contact(world.ann, .answer(accepts: false)), by: world.bob) != .unchanged)
        #expect(world.oracle.tie(world.ann, world.bob).relation == .none)
        world.judge(.contact(world.bob, .request(text: "")), by: world.ann)
        #expect(world.judge(.contact(world.ann, .answer(accepts: true)), by: world.bob) != .refused(.notFound))
        #expect(world.oracle.tie(world.bob, world.ann).relation == .friend)
        #expect(world.judge(.contact(world.bob, .block(false)), by: world.ann) == .unchanged)
    }

    @Test func aDeletedAccountCannotAct() {
        let world = self.world
        world.oracle.deleted = [world.bob, world.dan]
        #expect(world.send("x", by: world.bob) == .refused(.unauthorized))
        #expect(world.judge(.leave(world.group, forgets: true), by: world.bob) == .refused(.unauthorized))
        #expect(world.judge(.contact(world.bob, .request(text: "")), by: world.ann) == .refused(.notFound))
        #expect(world.judge(.invite(world.group, [world.dan]), by: world.ann) == .unchanged)
        #expect(world.book().people[world.dan] == nil)
    }
}
