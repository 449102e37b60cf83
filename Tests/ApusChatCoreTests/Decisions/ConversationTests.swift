import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// The creation and the settings of conversations, and joins.
@Suite struct ConversationTests {
    let world = World()

    private func befriend(_ one: UserKey, _ other: UserKey) throws {
        try self.world.run([
            self.world.command(one, .contact(other, .request(text: ""))), self.world.command(other, .contact(one, .request(text: ""))),
        ])
    }

    private func create(
        _ owner: UserKey, _ members: [UserKey?] = [], key: Int64 = 77, kind: ConversationKind = .group,
        configure: (inout ConversationSettingsChange) -> Void = { _ in }
    ) -> Command {
        var profile = ConversationProfile()
        profile.title = "Title"
        var settings = ConversationSettingsChange()
        configure(&settings)
        return self.world.command(
            owner, .create(CreateCommand(kind: kind, profile: profile, settings: settings, members: members, new: ConversationKey(key))))
    }

    private let key = ConversationKey(77)

    @Test func aPairIsOpenedOnceForBoth() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let first = self.world.command(ann, .openPair(peer: bob, new: ConversationKey(77)))
        let second = self.world.command(bob, .openPair(peer: ann, new: ConversationKey(78)))
        let decisions = try self.world.run([first, second])
        #expect(decisions.compactMap(\.answer?.conversation) == [self.key, self.key])
        #expect(
            try self.world.run(self.world.command(ann, .openPair(peer: bob, new: ConversationKey(79)))).answer?.conversation == self.key)
        #expect(self.world.storage.pair(PairAddress(bob, ann)) == self.key)
    }

    @Test func aPairIsNotInTheOtherListBeforeAMessage() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(self.world.command(ann, .openPair(peer: bob, new: self.key)))
        #expect(self.world.storage.heads(of: ann, after: nil, limit: 9).heads.contains { $0.conversation.key == self.key })
        #expect(!self.world.storage.heads(of: bob, after: nil, limit: 9).heads.contains { $0.conversation.key == self.key })
        try self.world.run(self.world.text(ann, self.key))
        #expect(self.world.storage.heads(of: bob, after: nil, limit: 9).heads.contains { $0.conversation.key == self.key })
    }

    @Test func aPairWithABlockingUserLooksAsAnyOther() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(self.world.command(bob, .contact(ann, .block(true))))
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: bob, new: self.key))).answer?.seq == 1)
        #expect(try self.world.run(self.world.text(ann, self.key)).answer?.n == 1)
        #expect(self.world.unread(bob, in: self.key) == 0)
        #expect(!self.world.storage.heads(of: bob, after: nil, limit: 9).heads.contains { $0.conversation.key == self.key })
        // After the end of the block, later messages are shown and earlier ones stay hidden.
        try self.world.run(self.world.command(bob, .contact(ann, .block(false))))
        try self.world.run(self.world.text(ann, self.key, "later"))
        #expect(self.world.bodies(bob, in: self.key) == ["hidden", "{\"text\":\"later\"}"])
    }

    @Test func privacyMayRestrictPairsToContacts() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        var update = ProfileUpdate()
        update.settings = UserSettings(messages: .contacts)
        try self.world.run(self.world.command(bob, .updateProfile(update)))
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: bob, new: self.key))).code == .forbidden)
        try self.befriend(ann, bob)
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: bob, new: self.key))).answer?.seq == 1)
    }

    @Test func aPairRequiresAnotherUser() throws {
        let ann = self.world.user("ann")
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: ann, new: self.key))).code == .notFound)
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: nil, new: self.key))).code == .notFound)
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: UserKey(9), new: self.key))).code == .notFound)
    }

    @Test func contactsAreAddedOthersInvited() throws {
        let (ann, bob, cid, dan) = (self.world.user("ann"), self.world.user("bob"), self.world.user("cid"), self.world.user("dan"))
        try self.befriend(ann, bob)
        try self.world.run(self.world.command(dan, .contact(ann, .block(true))))
        try self.world.run(self.create(ann, [bob, cid, dan, nil, ann]))
        #expect(self.world.member(bob, in: self.key)?.state == .joined)
        #expect(self.world.member(cid, in: self.key)?.state == .invited)
        #expect(self.world.member(dan, in: self.key)?.isGone == true, "a user who blocks the inviter sees no invitation")
        #expect(!self.world.pushes.contains(.head(self.key, of: dan)))
        #expect(self.world.member(ann, in: self.key)?.role == .owner)
        #expect(self.world.storage.head(of: ann, in: self.key)?.conversation.counters.memberCount == 2)
        #expect(self.world.storage.events(in: self.key, .from(1), as: cid, limit: 9).isEmpty, "invited: title and inviter only")
        #expect(self.world.storage.head(of: cid, in: self.key)?.last == nil)
        #expect(self.world.storage.head(of: cid, in: self.key)?.member.invitedBy == ann)
    }

    @Test func aUserWhoPermitsItIsAddedByStrangers() throws {
        let (ann, bob, cid) = (self.world.user("ann"), self.world.user("bob"), self.world.user("cid"))
        for user in [bob, cid] {
            var update = ProfileUpdate()
            update.settings = UserSettings(add: .all)
            try self.world.run(self.world.command(user, .updateProfile(update)))
        }
        try self.world.run(self.world.command(cid, .contact(ann, .block(true))))
        try self.world.run(self.create(ann, [bob, cid]))
        #expect(self.world.member(bob, in: self.key)?.state == .joined)
        #expect(self.world.member(cid, in: self.key)?.state != .joined, "a blocked user cannot add the blocker")
    }

    @Test func aRetriedCreationIsTheSameConversation() throws {
        let ann = self.world.user("ann")
        var create = self.create(ann)
        let answer = try #require(try self.world.run(create).answer)
        create.action = self.create(ann, key: 78).action  // the server generates a new key for the retry
        #expect(try self.world.run(create) == .repeated(answer))
        #expect(self.world.storage.head(of: ann, in: ConversationKey(78)) == nil)
        self.world.now += self.world.rules.answerMilliseconds
        #expect(try self.world.run(create).answer?.conversation == ConversationKey(78), "answers are kept for seven days")
    }

    @Test func anInvitationIsAcceptedOrDeclined() throws {
        let (ann, bob, cid) = (self.world.user("ann"), self.world.user("bob"), self.world.user("cid"))
        try self.world.run(self.create(ann, [bob, cid]))
        try self.world.run(self.world.command(bob, .answerInvitation(self.key, accepts: true)))
        #expect(self.world.member(bob, in: self.key)?.state == .joined)
        #expect(self.world.storage.events(in: self.key, .from(1), as: bob, limit: 9).count == 3, "history: all")
        try self.world.run(self.world.command(cid, .answerInvitation(self.key, accepts: false)))
        #expect(self.world.member(cid, in: self.key)?.isGone == true)
        #expect(try self.world.run(self.world.command(cid, .answerInvitation(self.key, accepts: true))).code == .forbidden)
        #expect(self.world.storage.events(in: self.key, .from(1), as: cid, limit: 9).isEmpty)
    }

    @Test func invitationsOfADayAreCapped() throws {
        let ann = self.world.user("ann")
        let others = (0..<ChatLimits.invitationsPerDay).map { self.world.user("u\($0)") }
        try self.world.run(self.create(ann, others))
        let late = self.world.user("late")
        guard case .refused(let error) = try self.world.run(self.world.command(ann, .invite(self.key, [late]))) else {
            Issue.record("a refusal expected")
            return
        }
        #expect(error.code == .tooMany)
        self.world.now += error.retryAfter ?? 0
        #expect(try self.world.run(self.world.command(ann, .invite(self.key, [late]))).code == nil)
    }

    @Test func historyBeforeTheJoinIsHiddenByTheSetting() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(
            self.create(ann) {
                $0.history = .join
                $0.join = .open
            })
        try self.world.run([self.world.text(ann, self.key, "before"), self.world.command(bob, .join(self.key))])
        try self.world.run(self.world.text(ann, self.key, "after"))
        #expect(self.world.bodies(bob, in: self.key) == ["{\"text\":\"after\"}"])
        #expect(self.world.unread(bob, in: self.key) == 1)
        #expect(self.world.storage.events(in: self.key, .from(1), as: bob, limit: 9).first?.seq == 3, "the own join is visible")
    }

    @Test func anEditOfAMessageBeforeTheJoinIsHidden() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(
            self.create(ann) {
                $0.history = .join
                $0.join = .open
            })
        try self.world.run([self.world.text(ann, self.key, "before"), self.world.command(bob, .join(self.key))])
        let content = MessageContent(kind: .text, body: "{\"text\":\"secret\"}")
        try self.world.run(self.world.command(ann, .edit(EventAddress(self.key, 2), .success(content))))
        #expect(self.world.storage.events(in: self.key, .from(1), as: bob, limit: 9).map { $0.row != nil } == [true, false])
    }

    @Test func joiningFollowsTheRule() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(self.create(ann))
        #expect(try self.world.run(self.world.command(bob, .join(self.key))).code == .notFound)
        var update = ConversationUpdate()
        update.settings.join = .approval
        try self.world.run(self.world.command(ann, .set(self.key, update)))
        try self.world.run(self.world.command(bob, .join(self.key)))
        #expect(self.world.member(bob, in: self.key)?.state == .requested)
        #expect(try self.world.run(self.world.text(bob, self.key)).code == .notFound)
        try self.world.run(self.world.command(ann, .answerRequest(self.key, bob, approves: true)))
        #expect(self.world.member(bob, in: self.key)?.state == .joined)
        #expect(self.world.pushes.contains { if case .arrived(self.key, bob, _) = $0 { true } else { false } })
    }

    @Test func aLinkAdmitsUntilItIsUsedUp() throws {
        let (ann, bob, cid) = (self.world.user("ann"), self.world.user("bob"), self.world.user("cid"))
        try self.world.run(self.create(ann))
        let created = try self.world.run(self.world.command(ann, .createLink(self.key, LinkTerms(code: "c", uses: 1, role: .guest))))
        #expect(created.answer?.text == "c")
        let decisions = try self.world.run([
            self.world.command(bob, .joinByLink("c")), self.world.command(bob, .joinByLink("c")), self.world.command(cid, .joinByLink("c")),
        ])
        #expect(decisions.map(\.code) == [nil, nil, .notFound])
        #expect(self.world.member(bob, in: self.key)?.role == .guest)
    }

    @Test func linksExpireAreRevokedAndDoNotLiftABan() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(self.create(ann))
        try self.world.run([
            self.world.command(ann, .createLink(self.key, LinkTerms(code: "old", expiresAt: self.world.now))),
            self.world.command(ann, .createLink(self.key, LinkTerms(code: "new"))),
        ])
        #expect(try self.world.run(self.world.command(bob, .joinByLink("old"))).code == .notFound)
        #expect(try self.world.run(self.world.command(bob, .revokeLink("new"))).code == .notFound)
        try self.world.run(self.world.command(ann, .ban(self.key, [bob], isOn: true)))
        #expect(try self.world.run(self.world.command(bob, .joinByLink("new"))).code == .notFound)
        try self.world.run([
            self.world.command(ann, .ban(self.key, [bob], isOn: false)), self.world.command(ann, .revokeLink("new")),
        ])
        #expect(try self.world.run(self.world.command(bob, .joinByLink("new"))).code == .notFound)
        #expect(try self.world.run(self.world.command(ann, .createLink(self.key, LinkTerms(code: "x", role: .admin)))).code == .badRequest)
    }

    @Test func settingsAndProfileAreEvents() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        var update = ConversationUpdate()
        update.title = "New"
        #expect(try self.world.run(self.world.command(bob, .set(group, update))).code == .forbidden)
        #expect(try self.world.run(self.world.command(ann, .set(group, update))).answer?.seq == 1)
        #expect(try self.world.run(self.world.command(ann, .set(group, update))).answer?.seq == 0, "nothing changed")
        #expect(self.world.storage.head(of: bob, in: group)?.conversation.profile.title == "New")
        #expect(self.world.storage.head(of: bob, in: group)?.last?.row?.kind == .conversationSet)
        var unknown = ConversationUpdate()
        unknown.settings.join = .unknown
        #expect(try self.world.run(self.world.command(ann, .set(group, unknown))).code == .unsupported)
    }

    @Test func aPairHasOneSetting() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        var update = ConversationUpdate()
        update.settings.expire = 60
        #expect(try self.world.run(self.world.command(ann, .set(pair, update))).answer?.seq == 1)
        update.settings.write = .admins
        #expect(try self.world.run(self.world.command(ann, .set(pair, update))).code == .badRequest)
    }

    @Test func inAChannelReadersRead() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        try self.world.run(self.create(ann, kind: .channel) { $0.join = .open })
        try self.world.run([self.world.command(bob, .join(self.key)), self.world.text(ann, self.key)])
        #expect(self.world.member(bob, in: self.key)?.role == .reader)
        #expect(try self.world.run(self.world.text(bob, self.key)).code == .forbidden)
        #expect(try self.world.run(self.world.command(bob, .react(EventAddress(self.key, 3), key: "+", isOn: true))).code == nil)
    }

    @Test func theCapOnConversationsHolds() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        var changes = Changes()
        changes.members = (0..<ChatLimits.conversations).map {
            MemberRow(address: MemberAddress(ConversationKey(100_000 + Int64($0)), ann), role: .member, state: .joined)
        }
        changes.conversations = changes.members.map {
            let row = ConversationRow(key: $0.address.conversation, kind: .group, createdAt: 0, settings: ConversationSettings())
            return ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)
        }
        self.world.write(changes)
        #expect(try self.world.run(self.create(ann)).code == .limit)
        #expect(try self.world.run(self.world.command(ann, .openPair(peer: bob, new: self.key))).code == .limit)
        try self.befriend(ann, bob)
        try self.world.run(self.create(bob, [ann]))
        #expect(self.world.member(ann, in: self.key) == nil, "a full account is not added")
    }
}
