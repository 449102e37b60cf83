import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Changes of a message: edit, recall, react, vote, pin, hide.
@Suite struct TargetTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob])
    }

    private func message(_ seq: Int64) -> EventAddress { EventAddress(self.group, seq) }

    private func edit(_ actor: UserKey, _ seq: Int64, _ body: String = "{\"text\":\"new\"}", kind: EventKind = .text) -> Command {
        self.world.command(actor, .edit(self.message(seq), .success(MessageContent(kind: kind, body: body))))
    }

    private func row(_ seq: Int64, as user: UserKey? = nil) -> EventRow? {
        self.world.storage.events(in: self.group, .from(seq), as: user ?? self.ann, limit: 1).first?.row
    }

    @Test func anEditIsAnEventAndChangesItsTarget() throws {
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        self.world.now += 1_000
        #expect(try self.world.run(self.edit(self.bob, 1)).answer?.seq == 2)
        #expect(self.row(1)?.body == "{\"text\":\"new\"}")
        #expect(self.row(1)?.original == "{\"text\":\"old\"}")
        #expect(self.row(1)?.state == .edited)
        #expect(self.row(1)?.editedAt == self.world.now)
        #expect(self.row(2)?.kind == .edit)
        #expect(self.row(2)?.ref == 1)
        #expect(self.row(2)?.body == "{\"body\":{\"text\":\"new\"}}")
        #expect(self.world.storage.head(of: self.ann, in: self.group)?.conversation.counters.lastN == 1, "an edit is not a message")
    }

    private func preview(_ seq: Int64, of body: String, by actor: UserKey = UserKey(0)) -> Command {
        let preview = PreviewCommand(target: self.message(seq), before: body, after: "{\"new\":1}", change: Self.previewBody)
        return Command(actor: actor, device: DeviceKey(0), request: nil, action: .setPreview(preview))
    }

    @Test func changesOfMessagesKeepThePlaceOfTheConversation() throws {
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        let before = try #require(self.world.storage.head(of: self.ann, in: self.group)).conversation.counters
        for change in [
            self.edit(self.bob, 1), self.world.command(self.ann, .react(self.message(1), key: "👍", isOn: true)),
            self.world.command(self.ann, .react(self.message(1), key: "👍", isOn: false)),
            self.world.command(self.ann, .pin(self.message(1), isOn: true)), self.world.command(self.bob, .recall(self.message(1))),
        ] {
            self.world.now += 1_000
            let seq = try self.world.run(change).answer?.seq ?? 0
            let after = try #require(self.world.storage.head(of: self.ann, in: self.group)).conversation.counters
            #expect(after.lastSeq == seq && seq > 1)
            #expect(after.lastAt == before.lastAt && after.previewSeq == 1)
        }
    }

    private static let previewBody = #"{"preview":{"url":"https://a.example/","title":"A"}}"#

    @Test func aPreviewIsAChangeThatMovesNothing() throws {
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        let before = try #require(self.world.storage.head(of: self.ann, in: self.group))
        self.world.now += 1_000
        #expect(try self.world.run(self.preview(1, of: "{\"text\":\"old\"}")).answer?.seq == 2)
        let target = try #require(self.row(1))
        #expect(target.body == "{\"new\":1}" && target.state == .normal && target.editedAt == 0 && target.original.isEmpty)
        let change = try #require(self.row(2))
        #expect(change.kind == .preview && change.ref == 1 && change.n == 0 && change.body == Self.previewBody)
        let after = try #require(self.world.storage.head(of: self.ann, in: self.group))
        #expect(after.unread == before.unread && after.conversation.counters.lastN == 1)
        #expect(after.conversation.counters.lastAt == before.conversation.counters.lastAt, "the conversation keeps its place in lists")
        #expect(after.last?.seq == 1)
        // The recall also removes the preview.
        try self.world.run(self.world.command(self.bob, .recall(self.message(1))))
        #expect(self.row(1)?.body == "" && self.row(2)?.body == "")
        #expect(self.row(2)?.state == .recalled)
    }

    @Test func theSenderRemovesAPreview() throws {
        func remove(_ actor: UserKey, _ seq: Int64) -> Command { self.world.command(actor, .removePreview(self.message(seq))) }
        let (body, shown) = (#"{"text":"old"}"#, #"{"text":"old","preview":{"url":"https://a.example/","title":"A"}}"#)
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        #expect(try self.world.run(remove(self.bob, 1)).answer?.seq == 0, "without a preview, nothing changes")
        let preview = PreviewCommand(target: self.message(1), before: body, after: shown, change: Self.previewBody)
        let command = Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .setPreview(preview))
        try self.world.run(command)
        #expect(self.row(1)?.body == shown)
        #expect(try self.world.run(remove(self.ann, 1)).code == .forbidden, "the owner of the group is not the sender")
        self.world.now += self.world.rules.editMilliseconds
        let before = try #require(self.world.storage.head(of: self.ann, in: self.group))
        #expect(try self.world.run(remove(self.bob, 1)).answer?.seq == 3)
        let target = try #require(self.row(1))
        #expect(target.body == body && target.state == .normal && target.editedAt == 0 && target.original.isEmpty)
        let change = try #require(self.row(3))
        #expect(change.kind == .preview && change.ref == 1 && change.n == 0 && change.body.isEmpty && change.sender == self.bob)
        let after = try #require(self.world.storage.head(of: self.ann, in: self.group))
        #expect(after.unread == before.unread && after.conversation.counters.lastAt == before.conversation.counters.lastAt)
        #expect(try self.world.run(remove(self.bob, 1)).answer?.seq == 0, "it is already removed")
        // A preview stays after the time in which its message can be edited.
        try self.world.run(command)
        self.world.now += 1
        #expect(try self.world.run(remove(self.bob, 1)).code == .tooLate)
        try self.world.run(self.world.command(self.ann, .recall(self.message(1))))
        #expect(try self.world.run(remove(self.bob, 1)).code == .notFound)
    }

    @Test func aPreviewOfAnOlderFormOfATextHasNoEffect() throws {
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        let body = "{\"text\":\"old\"}"
        try self.world.run([self.edit(self.bob, 1), self.preview(1, of: body)])
        #expect(self.row(1)?.body == "{\"text\":\"new\"}")
        #expect(self.row(3) == nil)
        // The recall and the preview are in one batch, in either order.
        try self.world.run([self.world.command(self.bob, .recall(self.message(1))), self.preview(1, of: "{\"text\":\"new\"}")])
        #expect(self.row(4) == nil)
        try self.world.run(self.world.text(self.bob, self.group, "old"))
        try self.world.run([self.preview(4, of: body), self.world.command(self.bob, .recall(self.message(4)))])
        #expect(self.row(5)?.kind == .preview && self.row(5)?.body == "" && self.row(4)?.body == "")
        // A preview of a message that does not exist has no effect.
        try self.world.run(self.preview(99, of: body))
        #expect(self.row(7) == nil)
    }

    @Test func anEditInTheBatchOfItsMessageIsSeen() throws {
        let decisions = try self.world.run([self.world.text(self.bob, self.group), self.edit(self.bob, 1)])
        #expect(decisions.compactMap(\.answer?.seq) == [1, 2])
        #expect(self.row(1)?.body == "{\"text\":\"new\"}")
    }

    @Test func aChangeIsNotPushedToThoseWhoDoNotSeeItsTarget() throws {
        try self.world.run([self.world.text(self.bob, self.group), self.world.text(self.bob, self.group)])
        try self.world.run(self.world.command(self.ann, .hide(self.group, [1])))
        try self.world.run([self.edit(self.bob, 1), self.edit(self.bob, 2)])
        #expect(self.world.hidden == [AnnotationAddress(self.message(3), self.ann)])
        let late = self.world.user("late")
        self.world.write(
            {
                var changes = Changes()
                var member = MemberRow(address: MemberAddress(self.group, late), role: .member, state: .joined)
                member.minSeq = 2
                changes.members = [member]
                return changes
            }())
        try self.world.run(self.world.command(self.ann, .react(self.message(2), key: "+", isOn: true)))
        #expect(self.world.hidden.isEmpty)
        try self.world.run(self.world.command(self.bob, .react(self.message(1), key: "+", isOn: true)))
        #expect(Set(self.world.hidden.map(\.user)) == [self.ann, late] && self.world.nudged.isEmpty)
        // The message is hidden and edited in one batch.
        try self.world.run([self.world.command(late, .hide(self.group, [2])), self.edit(self.bob, 2)])
        #expect(self.world.hidden.contains { $0.user == late && $0.event.seq == 7 })
    }

    @Test func aChangeThatManyDoNotSeeIsNotPushedAtAll() throws {
        try self.world.run(self.world.text(self.bob, self.group))
        var changes = Changes()
        changes.members = (1...(Int64(Facts.maximumUnseen) + 1)).map { key in
            var member = MemberRow(address: MemberAddress(self.group, UserKey(1_000_000 + key)), role: .member, state: .joined)
            member.minSeq = 2
            return member
        }
        self.world.write(changes)
        try self.world.run(self.edit(self.bob, 1))
        #expect(self.world.nudged == [self.group] && self.world.hidden.isEmpty)
    }

    @Test func onlyTheSenderEditsAndNotTooLate() throws {
        try self.world.run(self.world.text(self.bob, self.group))
        #expect(try self.world.run(self.edit(self.ann, 1)).code == .forbidden)
        #expect(try self.world.run(self.edit(self.bob, 1, kind: .image)).code == .badRequest)
        #expect(try self.world.run(self.edit(self.bob, 9)).code == .notFound)
        self.world.now += self.world.rules.editMilliseconds
        #expect(try self.world.run(self.edit(self.bob, 1)).answer?.seq == 2, "the last millisecond")
        self.world.now += 1
        #expect(try self.world.run(self.edit(self.bob, 1)).code == .tooLate)
    }

    @Test func aChangeCannotBeEditedOrRecalled() throws {
        try self.world.run([self.world.text(self.bob, self.group), self.edit(self.bob, 1)])
        #expect(try self.world.run(self.edit(self.bob, 2)).code == .notFound)
        #expect(try self.world.run(self.world.command(self.bob, .recall(self.message(2)))).code == .notFound)
    }

    @Test func aRecallBlanksTheMessageAndItsEdits() throws {
        try self.world.run([self.world.text(self.bob, self.group, mentions: [self.ann]), self.edit(self.bob, 1)])
        #expect(self.world.mentions(self.ann, in: self.group) == 1)
        try self.world.run(self.world.command(self.bob, .recall(self.message(1))))
        #expect(self.row(1)?.state == .recalled)
        #expect(self.row(1)?.body == "")
        #expect(self.row(1)?.original == "")
        #expect(self.row(2)?.body == "")
        #expect(self.world.mentions(self.ann, in: self.group) == 0)
        #expect(self.world.unread(self.ann, in: self.group) == 1, "a recalled message counts until it is read")
        #expect(try self.world.run(self.edit(self.bob, 1)).code == .notFound)
    }

    @Test func aRecallInTheBatchOfTheEditLeavesNoText() throws {
        try self.world.run([
            self.world.text(self.bob, self.group, "secret"), self.edit(self.bob, 1, "{\"text\":\"secret\"}"),
            self.world.command(self.bob, .recall(self.message(1))),
        ])
        for view in self.world.storage.events(in: self.group, .from(1), as: self.ann, limit: 9) {
            #expect(view.row?.body.contains("secret") == false)
        }
    }

    @Test func adminsRecallAtAnyTimeMembersForAWhile() throws {
        try self.world.run([self.world.text(self.bob, self.group), self.world.text(self.ann, self.group)])
        self.world.now += self.world.rules.recallMilliseconds + 1
        #expect(try self.world.run(self.world.command(self.bob, .recall(self.message(1)))).code == .tooLate)
        #expect(try self.world.run(self.world.command(self.bob, .recall(self.message(2)))).code == .forbidden)
        #expect(try self.world.run(self.world.command(self.ann, .recall(self.message(1)))).answer?.seq == 3)
    }

    @Test func aRetryOfARecalledMessageGetsTheFirstAck() throws {
        let message = self.world.text(self.bob, self.group, id: "a")
        let answer = try #require(try self.world.run(message).answer)
        try self.world.run(self.world.command(self.bob, .recall(self.message(1))))
        #expect(try self.world.run(message) == .repeated(answer))
    }

    @Test func reactionsAreCountedOncePerUser() throws {
        try self.world.run(self.world.text(self.bob, self.group))
        func react(_ user: UserKey, _ key: String, _ isOn: Bool = true) -> Command {
            self.world.command(user, .react(self.message(1), key: key, isOn: isOn))
        }
        let decisions = try self.world.run([react(self.ann, "+"), react(self.bob, "+"), react(self.ann, "+"), react(self.ann, "-")])
        #expect(decisions.compactMap(\.answer?.seq) == [2, 3, 0, 4])
        #expect(self.row(1)?.reactions == [ReactionCount(key: "+", count: 2), ReactionCount(key: "-", count: 1)])
        try self.world.run([react(self.ann, "+", false), react(self.bob, "+", false)])
        #expect(self.row(1)?.reactions == [ReactionCount(key: "-", count: 1)])
        #expect(self.world.storage.events(in: self.group, .from(1), as: self.ann, limit: 1).first?.own?.reactions == ["-"])
        try self.world.run([react(self.ann, "a"), react(self.ann, "b")])
        #expect(try self.world.run(react(self.ann, "c")).code == .limit)
    }

    @Test func votesReplaceEarlierOnes() throws {
        let poll = MessageContent(kind: .poll, body: "{}", options: 3, allowsManyVotes: true)
        try self.world.run(self.world.command(self.bob, .send(SendCommand(conversation: self.group, content: .success(poll)))))
        func vote(_ user: UserKey, _ options: [Int]) -> Command { self.world.command(user, .vote(self.message(1), options: options)) }
        try self.world.run([vote(self.ann, [0, 2]), vote(self.bob, [2]), vote(self.ann, [2])])
        #expect(self.row(1)?.votes == [0, 0, 2])
        #expect((2...4).map { self.row($0)?.votes } == [[1, 0, 1], [1, 0, 2], [0, 0, 2]], "each vote tells the totals after it")
        #expect(try self.world.run(vote(self.ann, [3])).code == .badRequest)
        #expect(try self.world.run(vote(self.ann, [1, 1])).code == .badRequest)
        #expect(try self.world.run(vote(self.ann, [-1])).code == .badRequest)
        try self.world.run(vote(self.ann, []))
        #expect(self.row(1)?.votes == [0, 0, 1])
        #expect(try self.world.run(self.world.command(self.ann, .closePoll(self.message(1)))).code == .forbidden)
        try self.world.run(self.world.command(self.bob, .closePoll(self.message(1))))
        #expect(try self.world.run(vote(self.ann, [0])).code == .tooLate)
    }

    @Test func aPollOfOneChoiceTakesOne() throws {
        let poll = MessageContent(kind: .poll, body: "{}", options: 2, hidesVoters: true)
        try self.world.run(self.world.command(self.bob, .send(SendCommand(conversation: self.group, content: .success(poll)))))
        #expect(try self.world.run(self.world.command(self.ann, .vote(self.message(1), options: [0, 1]))).code == .badRequest)
        try self.world.run(self.world.command(self.ann, .vote(self.message(1), options: [1])))
        #expect(self.row(2)?.body == "", "an anonymous vote does not tell the option")
    }

    @Test func pinsAreCountedAndShownInTheHead() throws {
        try self.world.run([self.world.text(self.bob, self.group), self.world.text(self.bob, self.group)])
        func pin(_ user: UserKey, _ seq: Int64, _ isOn: Bool = true) -> Command {
            self.world.command(user, .pin(self.message(seq), isOn: isOn))
        }
        #expect(try self.world.run(pin(self.bob, 1)).code == .forbidden, "the setting `pin` permits admins")
        try self.world.run([pin(self.ann, 1), pin(self.ann, 2), pin(self.ann, 2)])
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.pins == [2, 1])
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.conversation.counters.pinCount == 2)
        try self.world.run([pin(self.ann, 1, false), self.world.command(self.bob, .recall(self.message(2)))])
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.pins == [])
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.conversation.counters.pinCount == 0)
    }

    @Test func deletedForOneselfIsHiddenFromOneselfOnly() throws {
        try self.world.run([self.world.text(self.ann, self.group, "a"), self.world.text(self.ann, self.group, "b")])
        try self.world.run(self.world.command(self.bob, .hide(self.group, [1])))
        #expect(self.world.bodies(self.bob, in: self.group) == ["hidden", "{\"text\":\"b\"}"])
        #expect(self.world.bodies(self.ann, in: self.group).count == 2)
        #expect(self.world.unread(self.bob, in: self.group) == 1)
        try self.world.run(self.world.command(self.bob, .hide(self.group, [2, 2])))
        #expect(self.world.unread(self.bob, in: self.group) == 0)
        try self.world.run(self.world.read(self.bob, self.group, 1))
        #expect(self.world.unread(self.bob, in: self.group) == 0)
        #expect(try self.world.run(self.world.command(self.bob, .react(self.message(1), key: "+", isOn: true))).code == .notFound)
        #expect(try self.world.run(self.world.command(self.bob, .hide(self.group, [3]))).code == .notFound)
    }

    @Test func anEditOfAHiddenMessageIsHidden() throws {
        try self.world.run(self.world.text(self.ann, self.group))
        try self.world.run(self.world.command(self.bob, .hide(self.group, [1])))
        try self.world.run(self.edit(self.ann, 1))
        let views = self.world.storage.events(in: self.group, .from(1), as: self.bob, limit: 9)
        #expect(views.map { $0.row == nil } == [true, true])
    }

    @Test func anEditIsHiddenFromUsersWhoJoinInTheSameBatch() throws {
        let ann = self.world.user("ann2")
        let bob = self.world.user("bob2")
        let group = self.world.conversation(owner: ann) { $0.settings.history = .join }
        try self.world.run([self.world.text(ann, group, "a"), self.world.command(ann, .invite(group, [bob]))])
        let edit = Command.Action.edit(
            EventAddress(group, 1), .success(MessageContent(kind: .text, body: "{\"text\":\"b\"}")))
        try self.world.run([self.world.command(bob, .answerInvitation(group, accepts: true)), self.world.command(ann, edit)])
        #expect(self.world.hidden == [AnnotationAddress(EventAddress(group, 4), bob)])
    }

    @Test func aThreadCountsItsReplies() throws {
        try self.world.run(self.world.text(self.ann, self.group))
        let content = MessageContent(kind: .text, body: "{}")
        func reply() -> Command {
            self.world.command(self.bob, .send(SendCommand(conversation: self.group, content: .success(content), ref: 1, thread: 1)))
        }
        try self.world.run([reply(), reply()])
        #expect(self.row(1)?.replyCount == 2)
        #expect(self.row(1)?.lastReply == 3)
        #expect(self.world.storage.events(in: self.group, .thread(1, from: 1), as: self.ann, limit: 9).map(\.seq) == [2, 3])
    }

    @Test func aPollEndsAtItsTime() throws {
        var poll = MessageContent(kind: .poll, body: "{}", options: 2)
        poll.closesAt = self.world.now + 60_000
        try self.world.run(self.world.command(self.bob, .send(SendCommand(conversation: self.group, content: .success(poll)))))
        let address = self.message(1)
        let vote = Command.Action.vote(address, options: [0])
        #expect(try self.world.run(self.world.command(self.ann, vote)).code == nil)
        self.world.now += 60_000
        #expect(try self.world.run(self.world.command(self.bob, vote)).code == .tooLate, "also before the server has closed it")
        #expect(self.row(1)?.isClosed == false)
        let due = self.world.storage.endedPolls(at: self.world.now, limit: 9)
        #expect(due == [address])
        let close = Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .closePoll(address))
        #expect(try self.world.run(close).answer?.seq == 3)
        #expect(self.row(1)?.isClosed == true && self.row(3)?.kind == .pollClose && self.row(3)?.sender == self.bob)
        #expect(self.world.storage.endedPolls(at: .max, limit: 9).isEmpty)
        #expect(try self.world.run(close).answer?.seq == 0)
    }

    @Test func aPollThatIsRecalledDoesNotEnd() throws {
        var poll = MessageContent(kind: .poll, body: "{}", options: 2)
        poll.closesAt = self.world.now + 60_000
        try self.world.run(self.world.command(self.bob, .send(SendCommand(conversation: self.group, content: .success(poll)))))
        try self.world.run(self.world.command(self.bob, .recall(self.message(1))))
        #expect(self.world.storage.endedPolls(at: .max, limit: 9).isEmpty)
        let close = Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .closePoll(self.message(1)))
        #expect(try self.world.run(close).answer?.seq == 0)
    }

    @Test func expiredMessagesAreBlanked() throws {
        self.world.write(self.settings { $0.expire = 60 })
        try self.world.run(self.world.text(self.ann, self.group))
        #expect(self.world.storage.expired(at: self.world.now + 59_999, limit: 9).isEmpty)
        let due = self.world.storage.expired(at: self.world.now + 60_000, limit: 9)
        #expect(due == [self.message(1)])
        let position = self.world.storage.position()
        try self.world.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .blank(due, .expired)))
        #expect(self.world.bodies(self.bob, in: self.group) == ["expired"])
        #expect(self.world.storage.expired(at: .max, limit: 9).isEmpty)
        #expect(self.world.storage.changes(of: self.bob, after: position, cursor: nil, limit: 9) != .page([], next: nil))
    }

    private func settings(_ configure: (inout ConversationSettings) -> Void) -> Changes {
        var changes = Changes()
        if var row = self.world.storage.head(of: self.ann, in: self.group)?.conversation {
            configure(&row.settings)
            changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row)]
        }
        return changes
    }

    @Test func slowModeConcernsMembersOnly() throws {
        self.world.write(self.settings { $0.slow = 10 })
        let decisions = try self.world.run([
            self.world.text(self.bob, self.group), self.world.text(self.bob, self.group), self.world.text(self.ann, self.group),
            self.world.text(self.ann, self.group),
        ])
        #expect(decisions.map(\.code) == [nil, .tooMany, nil, nil])
        guard case .refused(let error) = decisions[1] else { return }
        #expect(error.retryAfter == 10_000)
        self.world.now += 10_000
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == nil)
    }

    /// If the clock was set back while the server was stopped, members need not wait until it
    /// reaches the earlier time.
    @Test func slowModeWaitsAtMostItsIntervalAfterTheClockWasSetBack() throws {
        self.world.write(self.settings { $0.slow = 10 })
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == nil)
        self.world.now -= 3_600_000
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == nil)
        let decision = try self.world.run(self.world.text(self.bob, self.group))
        #expect(decision.code == .tooMany, "the interval counts again from the first message after the step")
        guard case .refused(let error) = decision else { return }
        #expect(error.retryAfter == 10_000)
        self.world.now += 9_999
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == .tooMany)
        self.world.now += 1
        #expect(try self.world.run(self.world.text(self.bob, self.group)).code == nil)
    }
}
