import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Own settings, contacts, profiles and reports.
@Suite struct AccountTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
    }

    private func run(_ actor: UserKey, _ action: Command.Action) throws -> Decision {
        try self.world.run(self.world.command(actor, action))
    }

    private func ownLog(_ user: UserKey) -> [String] {
        guard let own = self.world.storage.accounts([user]).first?.selfConversation else { return [] }
        return self.world.storage.events(in: own, .from(1), as: user, limit: 99).map {
            "\($0.row?.kind.rawValue ?? "") \($0.row?.body ?? "")"
        }
    }

    private func relation(_ owner: UserKey, _ peer: UserKey) -> ContactRow? {
        self.world.storage.contacts(of: owner, after: nil, limit: 9).first { $0.address.peer == peer }
    }

    /// Adds contacts to a user until only `count` more are permitted.
    private func fill(_ user: UserKey, except count: Int = 0) {
        var changes = Changes()
        changes.contacts = (0..<ChatLimits.contacts - count).map { number in
            var row = ContactRow(address: ContactAddress(owner: user, peer: UserKey(100_000 + Int64(number))))
            row.relation = .friend
            return row
        }
        self.world.write(changes)
    }

    @Test func contactsAreBoundedForTheRequester() throws {
        self.fill(self.ann, except: 1)
        #expect(try self.run(self.ann, .contact(self.bob, .request(text: ""))).code == nil)
        let eve = self.world.user("eve")
        #expect(try self.run(self.ann, .contact(eve, .request(text: ""))).code == .limit)
        #expect(try self.run(self.ann, .contact(self.bob, .remove)).code == nil)
        #expect(try self.run(self.ann, .contact(eve, .request(text: ""))).code == nil)
    }

    @Test func aRequestToAFullListIsNotDeliveredOrDisclosed() throws {
        self.fill(self.bob)
        #expect(try self.run(self.ann, .contact(self.bob, .request(text: "hello"))).code == nil)
        #expect(self.relation(self.ann, self.bob)?.relation == .asked)
        #expect(try self.run(self.bob, .contact(self.ann, .request(text: ""))).code == .limit, "no request came")
        #expect(self.ownLog(self.bob).isEmpty)
    }

    @Test func settingsOfAConversationAreInTheHeadAndTheOwnLog() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        let id = ConversationID(number: group.rawValue).rawValue
        _ = try self.run(self.bob, .personalize(group, .pin(true)))
        _ = try self.run(self.bob, .personalize(group, .mute(until: 5)))
        _ = try self.run(self.bob, .personalize(group, .archive(true)))
        _ = try self.run(self.bob, .personalize(group, .markUnread(true)))
        let member = try #require(self.world.member(self.bob, in: group))
        #expect(member.pinnedAt == self.world.now)
        #expect(member.mutedUntil == 5)
        #expect(member.isArchived)
        #expect(member.isMarkedUnread)
        #expect(
            self.ownLog(self.bob) == [
                "self.pin {\"pinned_at\":\(self.world.now),\"conv\":\"\(id)\"}", "self.mute {\"muted_until\":5,\"conv\":\"\(id)\"}",
                "self.archive {\"archived\":true,\"conv\":\"\(id)\"}", "self.unread {\"marked_unread\":true,\"conv\":\"\(id)\"}",
            ])
        #expect(self.ownLog(self.ann).isEmpty)
        try self.world.run(self.world.read(self.bob, group, 0))
        #expect(self.world.member(self.bob, in: group)?.isMarkedUnread == false, "reading ends it")
    }

    @Test func theNewestDraftIsKept() throws {
        let group = self.world.conversation(owner: self.ann)
        _ = try self.run(self.ann, .personalize(group, .draft("{\"text\":\"a\"}")))
        try self.world.run([
            self.world.command(self.ann, .personalize(group, .draft("{\"text\":\"b\"}"))),
            self.world.command(self.ann, .personalize(group, .draft("{\"text\":\"c\"}"))),
        ])
        #expect(self.world.storage.head(of: self.ann, in: group)?.draft.contains("{\"text\":\"c\"}") == true)
        #expect(self.ownLog(self.ann).count { $0.contains("text") } == 1, "the others lost their bodies")
        _ = try self.run(self.ann, .personalize(group, .draft("")))
        #expect(self.world.storage.head(of: self.ann, in: group)?.draft == "")
        #expect(try self.run(self.ann, .personalize(group, .draft(""))).answer?.seq == 0)
    }

    @Test func pinnedConversationsAreCapped() throws {
        let groups = (0...ChatLimits.pinnedConversations).map { _ in self.world.conversation(owner: self.ann) }
        let decisions = try self.world.run(groups.map { self.world.command(self.ann, .personalize($0, .pin(true))) })
        #expect(decisions.last?.code == .limit)
        #expect(decisions.dropLast().allSatisfy { $0.code == nil })
        try self.world.run(self.world.command(self.ann, .personalize(groups[0], .pin(false))))
        #expect(try self.run(self.ann, .personalize(groups[ChatLimits.pinnedConversations], .pin(true))).code == nil)
    }

    @Test func theFoldersBelongToTheAccount() throws {
        let group = self.world.conversation(owner: self.ann)
        #expect(try self.run(self.ann, .personalize(group, .folders(["Work"]))).code == .notFound)
        var update = ProfileUpdate()
        update.settings = UserSettings(folders: [Folder(name: "Home"), Folder(name: "Work", filter: "unread")])
        _ = try self.run(self.ann, .updateProfile(update))
        #expect(try self.run(self.ann, .personalize(group, .folders(["Work"]))).code == nil)
        #expect(self.world.member(self.ann, in: group)?.folders == 2)
    }

    private func setFolders(_ names: [String]) throws {
        var update = ProfileUpdate()
        update.settings = UserSettings(folders: names.map { Folder(name: $0) })
        #expect(try self.run(self.ann, .updateProfile(update)).code == nil)
    }

    /// Returns the names of the folders that contain a conversation.
    private func folders(of conversation: ConversationKey) throws -> [String] {
        let account = try #require(self.world.storage.accounts([self.ann]).first)
        let bits = try #require(self.world.member(self.ann, in: conversation)).folders
        return account.folders.filter { bits & $0.mask != 0 }.map(\.folder.name)
    }

    @Test func foldersKeepTheirConversationsWhenOthersChange() throws {
        let group = self.world.conversation(owner: self.ann)
        try self.setFolders(["Home", "Work", "Club"])
        _ = try self.run(self.ann, .personalize(group, .folders(["Work", "Club"])))
        // The folders are reordered, removed, replaced and renamed.
        try self.setFolders(["Club", "Home", "Work"])
        #expect(try self.folders(of: group) == ["Club", "Work"])
        try self.setFolders(["Club", "Work"])
        #expect(try self.folders(of: group) == ["Club", "Work"])
        try self.setFolders(["Club", "Work", "Travel"])
        #expect(try self.folders(of: group) == ["Club", "Work"])
        try self.setFolders(["Rowing", "Work", "Travel"])
        #expect(try self.folders(of: group) == ["Rowing", "Work"])
    }

    @Test func aRemovedFolderLeavesNothingToALaterOne() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        try self.setFolders(["Work"])
        _ = try self.run(self.ann, .personalize(group, .folders(["Work"])))
        var update = ProfileUpdate()
        update.settings = UserSettings(folders: [])
        var again = ProfileUpdate()
        again.settings = UserSettings(folders: [Folder(name: "Home")])
        // The folders change in a batch that also changes the member row.
        let decisions = try self.world.run([
            self.world.text(self.ann, group), self.world.command(self.ann, .updateProfile(update)), self.world.text(self.ann, group),
            self.world.command(self.ann, .updateProfile(again)),
        ])
        #expect(decisions.allSatisfy { $0.code == nil })
        for number in 0..<70 { try self.setFolders(["Home \(number)", "x"].shuffled()) }
        #expect(self.world.member(self.ann, in: group)?.folders == 0)
        #expect(try self.folders(of: group) == [])
    }

    @Test func aProfileThatLooksTheSameIsNotReported() throws {
        var update = ProfileUpdate()
        update.nickname = "Ann A."
        _ = try self.run(self.ann, .updateProfile(update))
        #expect(self.world.pushes.contains(.profile(self.ann)))
        _ = try self.run(self.ann, .updateProfile(update))
        #expect(!self.world.pushes.contains(.profile(self.ann)))
        try self.setFolders(["Work"])
        #expect(!self.world.pushes.contains(.profile(self.ann)))
        for isChanged in [true, false] {
            var update = ProfileUpdate()
            update.settings = UserSettings(lastSeen: Audience.none)
            _ = try self.run(self.ann, .updateProfile(update))
            #expect(self.world.pushes.contains(.profile(self.ann)) == isChanged, "others see whether she is online, or no longer")
        }
    }

    @Test func twoRequestsMakeAContact() throws {
        _ = try self.run(self.ann, .contact(self.bob, .request(text: "Hi")))
        #expect(self.relation(self.ann, self.bob)?.relation == .asked)
        #expect(self.relation(self.bob, self.ann)?.relation == .requested)
        #expect(self.ownLog(self.bob) == ["contact.request {\"user\":\"ann\",\"incoming\":true,\"text\":\"Hi\"}"])
        #expect(try self.run(self.ann, .contact(self.bob, .request(text: ""))).answer?.seq == 0)
        _ = try self.run(self.bob, .contact(self.ann, .request(text: "")))
        #expect(self.relation(self.ann, self.bob)?.relation == .friend)
        #expect(self.relation(self.bob, self.ann)?.relation == .friend)
        _ = try self.run(self.bob, .contact(self.ann, .remove))
        #expect(self.relation(self.ann, self.bob)?.relation == ContactRelation.none)
    }

    @Test func onlyARequestIsAnswered() throws {
        #expect(try self.run(self.bob, .contact(self.ann, .answer(accepts: true))).code == .notFound)
        _ = try self.run(self.ann, .contact(self.bob, .request(text: "Hi")))
        #expect(try self.run(self.ann, .contact(self.bob, .answer(accepts: true))).code == .notFound)
        #expect(try self.run(self.bob, .contact(self.ann, .answer(accepts: true))).answer != nil)
    }

    @Test func aBlockedUserCannotDetectTheBlock() throws {
        _ = try self.run(self.bob, .contact(self.ann, .block(true)))
        let asked = try self.run(self.ann, .contact(self.bob, .request(text: "")))
        #expect(asked.answer?.seq == 1)
        #expect(self.relation(self.bob, self.ann)?.relation == ContactRelation.none)
        #expect(self.ownLog(self.bob).count == 1, "the block only")
    }

    @Test func blockingHidesLaterMessagesOfThePair() throws {
        let pair = self.world.pair(self.ann, self.bob)
        try self.world.run(self.world.text(self.ann, pair, "a"))
        _ = try self.run(self.bob, .contact(self.ann, .block(true)))
        try self.world.run(self.world.text(self.ann, pair, "b"))
        try self.world.run(self.world.command(self.ann, .react(EventAddress(pair, 1), key: "+", isOn: true)))
        #expect(self.world.bodies(self.bob, in: pair) == ["{\"text\":\"a\"}", "hidden"])
        #expect(self.world.unread(self.bob, in: pair) == 1)
        #expect(self.world.storage.events(in: pair, .from(3), as: self.bob, limit: 1).first?.row == nil, "the reaction too")
        // A recall removes content, so that the blocking user also receives it.
        try self.world.run(self.world.command(self.ann, .recall(EventAddress(pair, 1))))
        #expect(self.world.bodies(self.bob, in: pair).first == "recalled")
    }

    /// The order of an edit and a block is that of the log, even if the clock is set back between
    /// them.
    @Test func aBlockHidesLaterEditsRegardlessOfTheClock() throws {
        let pair = self.world.pair(self.ann, self.bob)
        for text in ["a", "b"] { try self.world.run(self.world.text(self.ann, pair, text)) }
        func edit(_ seq: Int64, _ text: String) -> Command {
            self.world.command(self.ann, .edit(EventAddress(pair, seq), .success(MessageContent(kind: .text, body: text))))
        }
        try self.world.run(edit(1, "{\"text\":\"before\"}"))
        self.world.now -= 3_600_000
        _ = try self.run(self.bob, .contact(self.ann, .block(true)))
        self.world.now -= 3_600_000
        try self.world.run(edit(2, "{\"text\":\"after\"}"))
        #expect(self.world.bodies(self.bob, in: pair) == ["{\"text\":\"before\"}", "{\"text\":\"b\"}"])
        _ = try self.run(self.bob, .contact(self.ann, .block(false)))
        #expect(self.world.bodies(self.bob, in: pair).last == "{\"text\":\"after\"}")
    }

    @Test func anAliasIsPrivate() throws {
        _ = try self.run(self.ann, .contact(self.bob, .alias("Robert")))
        #expect(self.relation(self.ann, self.bob)?.alias == "Robert")
        #expect(self.relation(self.bob, self.ann) == nil)
    }

    @Test func theProfileChangesInParts() throws {
        var update = ProfileUpdate()
        update.nickname = "Ann A."
        _ = try self.run(self.ann, .updateProfile(update))
        update = ProfileUpdate()
        update.status = "away"
        _ = try self.run(self.ann, .updateProfile(update))
        let account = try #require(self.world.storage.accounts([self.ann]).first)
        #expect(account.nickname == "Ann A.")
        #expect(account.statusText == "away")
        let blob = try #require(BlobID(String(repeating: "b", count: 64)))
        update.avatar = .some(.some(blob))
        #expect(try self.run(self.ann, .updateProfile(update)).code == .notFound)
    }

    @Test func reportsNameAUserOrAVisibleMessage() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        try self.world.run(self.world.text(self.ann, group))
        let message = EventAddress(group, 1)
        #expect(try self.run(self.bob, .report(user: nil, events: [message], reason: "spam")).code == nil)
        #expect(try self.run(self.bob, .report(user: self.ann, reason: "spam")).code == nil)
        let eve = self.world.user("eve")
        #expect(try self.run(eve, .report(user: nil, events: [message], reason: "spam")).code == .notFound)
        #expect(try self.run(eve, .report(user: nil, reason: "spam")).code == .notFound)
        #expect(self.world.storage.reports.map(\.subject) == [self.ann, self.ann])
        _ = try self.run(self.bob, .report(user: self.ann, reason: "other", text: "Look"))
        #expect(self.world.storage.reports.last.map { "\($0.reason) \($0.text) \($0.at == self.world.now)" } == "other Look true")
    }

    @Test func aConversationIsReportedByItsMembersAndInvitedUsers() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        let (cid, eve) = (self.world.user("cid"), self.world.user("eve"))
        var changes = Changes()
        changes.members = [MemberRow(address: MemberAddress(group, cid), role: .member, state: .invited)]
        self.world.write(changes)
        for reporter in [self.bob, cid] {
            #expect(try self.run(reporter, .report(user: nil, conversation: group, reason: "spam", text: "Title")).code == nil)
        }
        #expect(try self.run(eve, .report(user: nil, conversation: group, reason: "spam")).code == .notFound)
        #expect(
            self.world.storage.reports
                == [self.bob, cid].map {
                    ReportRow(reporter: $0, conversation: group, reason: "spam", text: "Title", at: self.world.now)
                })
    }

    @Test func aNotificationRuleIsInTheMemberRowAndTheOwnLog() throws {
        let group = self.world.conversation(owner: self.ann)
        let id = ConversationID(number: group.rawValue).rawValue
        _ = try self.run(self.ann, .personalize(group, .notifyMentionsOnly(true)))
        #expect(self.world.member(self.ann, in: group)?.notifiesMentionsOnly == true)
        _ = try self.run(self.ann, .personalize(group, .notifyMentionsOnly(false)))
        #expect(self.world.member(self.ann, in: group)?.notifiesMentionsOnly == false)
        #expect(
            self.ownLog(self.ann) == [
                "self.mute {\"notify\":\"mentions\",\"conv\":\"\(id)\"}", "self.mute {\"notify\":\"all\",\"conv\":\"\(id)\"}",
            ])
    }

    @Test func aRequestKeepsItsTextUntilItIsAnswered() throws {
        _ = try self.run(self.ann, .contact(self.bob, .request(text: "Hi")))
        #expect(self.relation(self.bob, self.ann)?.text == "Hi" && self.relation(self.ann, self.bob)?.text == "Hi")
        #expect(self.relation(self.bob, self.ann)?.at == self.world.now)
        _ = try self.run(self.bob, .contact(self.ann, .answer(accepts: true)))
        #expect(self.relation(self.bob, self.ann)?.text == "" && self.relation(self.ann, self.bob)?.text == "")
        #expect(self.relation(self.ann, self.bob)?.at == self.world.now)
    }

    @Test func quietHoursAreSetAndRemoved() throws {
        var update = ProfileUpdate()
        update.settings = UserSettings(quietFrom: 1, quietUntil: 2)
        _ = try self.run(self.ann, .updateProfile(update))
        _ = try self.run(self.ann, .updateProfile(ProfileUpdate()))
        #expect(self.world.storage.accounts([self.ann]).first?.quietHours == QuietHours(from: 1, until: 2))
        update.settings = UserSettings(quietUntil: 3)
        _ = try self.run(self.ann, .updateProfile(update))
        #expect(self.world.storage.accounts([self.ann]).first?.quietHours == QuietHours(from: 1, until: 3))
        update.settings = UserSettings(quietFrom: 0, quietUntil: 0)
        _ = try self.run(self.ann, .updateProfile(update))
        #expect(self.world.storage.accounts([self.ann]).first?.quietHours == nil)
        update.settings = UserSettings(quietFrom: 5)
        #expect(try self.run(self.ann, .updateProfile(update)).code == .badRequest, "one end is not enough")
    }

    /// Two devices change different settings at the same time.
    @Test func changesOfDifferentSettingsAreBothKept() throws {
        var (one, other) = (ProfileUpdate(), ProfileUpdate())
        one.settings = UserSettings(messages: .contacts, receipts: false)
        other.settings = UserSettings(find: Audience.none, typing: false, quietFrom: 60, quietUntil: 120)
        let decisions = try self.world.run([
            self.world.command(self.ann, .updateProfile(one)), self.world.command(self.ann, .updateProfile(other)),
        ])
        #expect(decisions.allSatisfy { $0.code == nil })
        let account = try #require(self.world.storage.accounts([self.ann]).first)
        #expect(account.privacy.messages == .contacts && !account.privacy.receipts)
        #expect(account.privacy.find == Audience.none && !account.privacy.typing)
        #expect(account.privacy.avatar == .all && account.privacy.add == .contacts && account.privacy.lastSeen == .contacts)
        #expect(account.quietHours == QuietHours(from: 60, until: 120))
    }

    // MARK: Several changes of one request

    @Test func severalOwnSettingsAreChangedAtOnce() throws {
        let group = self.world.conversation(owner: self.ann)
        try self.setFolders(["Work"])
        let answer = try self.run(
            self.ann, .personalizeAll(group, [.pin(true), .archive(true), .mute(until: 9), .markUnread(true), .folders(["Work"])])
        ).answer
        let member = try #require(self.world.member(self.ann, in: group))
        #expect(member.pinnedAt == self.world.now && member.isArchived && member.mutedUntil == 9 && member.isMarkedUnread)
        #expect(try self.folders(of: group) == ["Work"])
        let account = try #require(self.world.storage.accounts([self.ann]).first)
        let last = self.world.storage.head(of: self.ann, in: account.selfConversation)?.conversation.counters.lastSeq
        #expect(answer?.seq == last, "the answer is the position of the last change")
    }

    /// A refused request has no effect.
    @Test func anOwnSettingThatIsRefusedLeavesTheOthers() throws {
        let group = self.world.conversation(owner: self.ann)
        #expect(try self.run(self.ann, .personalizeAll(group, [.archive(true), .folders(["None"])])).code == .notFound)
        #expect(self.world.member(self.ann, in: group)?.isArchived == false)
        for _ in 0..<ChatLimits.pinnedConversations {
            _ = try self.run(self.ann, .personalize(self.world.conversation(owner: self.ann), .pin(true)))
        }
        #expect(try self.run(self.ann, .personalizeAll(group, [.archive(true), .pin(true)])).code == .limit)
        #expect(self.world.member(self.ann, in: group)?.isArchived == false)
        #expect(try self.run(self.ann, .personalizeAll(group, [.archive(true), .pin(false)])).code == nil)
    }

    /// A late retry must not undo the changes of a later request.
    @Test func aRetryOfSeveralOwnSettingsChangesNothing() throws {
        let group = self.world.conversation(owner: self.ann)
        let first = self.world.command(self.ann, .personalizeAll(group, [.pin(true), .archive(true)]), id: "first")
        let answer = try self.world.run(first).answer
        self.world.now += 1_000
        _ = try self.run(self.ann, .personalizeAll(group, [.pin(false), .archive(false)]))
        #expect(try self.world.run(first).answer == answer)
        let member = try #require(self.world.member(self.ann, in: group))
        #expect(member.pinnedAt == 0 && !member.isArchived)
    }

    // MARK: Reports

    @Test func messagesAreReportedAllOrNoneAndOnce() throws {
        let group = self.world.conversation(owner: self.ann, members: [self.bob])
        for _ in 1...3 { try self.world.run(self.world.text(self.bob, group, "rude")) }
        func report(_ seqs: [Int64], id: String? = nil) -> Command {
            self.world.command(
                self.ann, .report(user: nil, events: seqs.map { EventAddress(group, $0) }, reason: "abuse", text: "T"), id: id)
        }
        let before = self.world.storage.reports.count
        #expect(try self.world.run(report([1, 2, 99])).code == .notFound)
        #expect(self.world.storage.reports.count == before, "a refused request has no effect")
        let first = report([1, 3], id: "r")
        #expect(try self.world.run(first).code == nil)
        #expect(self.world.storage.reports.count == before + 2)
        #expect(try self.world.run([first, first]).allSatisfy { $0.code == nil })
        #expect(self.world.storage.reports.count == before + 2, "a retry reports nothing again")
    }

    @Test func aUserOrAConversationIsReportedWithoutMessages() throws {
        let group = self.world.conversation(owner: self.bob, members: [self.ann])
        let before = self.world.storage.reports.count
        #expect(try self.run(self.ann, .report(user: self.bob, reason: "spam")).code == nil)
        #expect(try self.run(self.ann, .report(user: nil, conversation: group, reason: "spam")).code == nil)
        #expect(self.world.storage.reports.count == before + 2)
        #expect(try self.run(self.ann, .report(user: nil, reason: "spam")).code == .notFound)
        let eve = self.world.user("eve")
        #expect(try self.run(eve, .report(user: nil, conversation: group, reason: "spam")).code == .notFound)
        #expect(self.world.storage.reports.count == before + 2)
    }

    @Test func aSignInIsInTheOwnLog() throws {
        let change = DeviceChange(device: DeviceKey(7), name: "Phone \"x\"", platform: "ios", isAdded: true)
        let command = Command(actor: self.ann, device: DeviceKey(7), request: nil, action: .noteDevice(change))
        try self.world.run(command)
        let id = DeviceID(number: 7).rawValue
        #expect(self.ownLog(self.ann) == [#"device.add {"device":"\#(id)","name":"Phone \"x\"","platform":"ios"}"#])
        #expect(self.ownLog(self.bob).isEmpty)
        let stranger = Command(actor: UserKey(99), device: DeviceKey(7), request: nil, action: .noteDevice(change))
        #expect(try self.world.run(stranger).answer?.seq == 0)
    }
}
