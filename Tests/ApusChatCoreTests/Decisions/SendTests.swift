import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@Suite struct SendTests {
    let world = World()

    @Test func messagesGetConsecutiveSeqsAndOrdinals() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        let decisions = try self.world.run([self.world.text(ann, pair), self.world.text(bob, pair), self.world.text(ann, pair)])
        #expect(decisions.compactMap(\.answer?.seq) == [1, 2, 3])
        #expect(decisions.compactMap(\.answer?.n) == [1, 2, 3])
        #expect(self.world.pushes == [.events(pair, first: 1, last: 3)])
        #expect(self.world.storage.head(of: bob, in: pair)?.conversation.counters.lastSeq == 3)
    }

    /// A retry is detected before its body is checked, because its file may have been removed.
    @Test func aRetryAfterTheCollectionOfItsFileGetsTheFirstAck() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        self.world.storage.addUpload(BlobNeed(user: ann, blob: blob))
        let picture = MessageContent(kind: .image, body: "{}", blobs: [blob])
        func send(_ id: String) -> Command {
            self.world.command(ann, .send(SendCommand(conversation: pair, content: .success(picture))), id: id)
        }
        let first = try #require(try self.world.run(send("a")).answer)
        try self.world.run(self.world.command(ann, .recall(EventAddress(pair, first.seq))))
        var changes = Changes()
        changes.credentials.collectedBlobs = [blob]
        self.world.write(changes)
        #expect(try self.world.run(send("b")).code == .notFound, "the file is gone")
        #expect(try self.world.run(send("a")) == .repeated(first))
    }

    @Test func aRetryGetsTheFirstAckInLaterBatchesAndInTheSame() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        let message = self.world.text(ann, pair, id: "a")
        let first = try self.world.run([message, message])
        let answer = try #require(first[0].answer)
        #expect(first == [.accepted(answer), .repeated(answer)])
        self.world.now += 1_000
        #expect(try self.world.run(message) == .repeated(answer))
        #expect(self.world.pushes.isEmpty)
        #expect(self.world.bodies(bob, in: pair).count == 1)
    }

    @Test func anotherRequestUnderTheSameIDIsAConflict() throws {
        let ann = self.world.user("ann")
        let group = self.world.conversation(owner: ann)
        try self.world.run(self.world.text(ann, group, id: "a", hash: 1))
        #expect(try self.world.run(self.world.text(ann, group, id: "a", hash: 2)).code == .conflict)
    }

    @Test func aRetryAfterRemovalGetsTheFirstAck() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        let message = self.world.text(bob, group, id: "a")
        let answer = try #require(try self.world.run(message).answer)
        self.world.modify(bob, in: group) {
            $0.state = .removed
            $0.leftSeq = 1
        }
        #expect(try self.world.run(message) == .repeated(answer))
        #expect(try self.world.run(self.world.text(bob, group)).code == .forbidden)
    }

    @Test func aRefusedCommandLeavesTheOthersAlone() throws {
        let (ann, eve) = (self.world.user("ann"), self.world.user("eve"))
        let group = self.world.conversation(owner: ann)
        let decisions = try self.world.run([self.world.text(eve, group), self.world.text(ann, group)])
        #expect(decisions[0].code == .notFound)
        #expect(decisions[1].answer?.seq == 1)
    }

    @Test func invalidContentIsRefusedAfterTheLookup() throws {
        let ann = self.world.user("ann")
        let group = self.world.conversation(owner: ann)
        let message = self.world.text(ann, group, id: "a")
        let answer = try #require(try self.world.run(message).answer)
        let failure = Result<MessageContent, ChatError>.failure(ChatError(.tooLarge, message: "too long"))
        var invalid = message
        invalid.action = .send(SendCommand(conversation: group, content: failure))
        #expect(try self.world.run(invalid) == .repeated(answer))
        #expect(try self.world.run(self.world.command(ann, invalid.action)).code == .tooLarge)
    }

    @Test func aMessageRestoresThePairForItsSender() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        self.world.modify(ann, in: pair) { $0.isGone = true }
        _ = try self.world.run(self.world.text(ann, pair))
        #expect(self.world.member(ann, in: pair)?.isGone == false)
        #expect(self.world.pushes.contains(.head(pair, of: ann)))
    }

    @Test func aBlockedSenderLearnsNothing() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        self.world.modify(bob, in: pair) { $0.blockSeq = 1 }
        let decision = try self.world.run(self.world.text(ann, pair))
        #expect(decision.answer?.seq == 1)
        #expect(self.world.bodies(ann, in: pair) == ["{\"text\":\"hello\"}"])
        #expect(self.world.bodies(bob, in: pair) == ["hidden"])
        #expect(self.world.unread(bob, in: pair) == 0)
    }

    @Test func aMessageRestoresThePairInTheList() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let pair = self.world.pair(ann, bob)
        self.world.modify(bob, in: pair) { $0.isGone = true }
        try self.world.run(self.world.text(ann, pair))
        #expect(self.world.member(bob, in: pair)?.isGone == false)
        #expect(self.world.pushes.contains(.head(pair, of: bob)))
    }

    @Test(arguments: [Int64(-1), 2, .max]) func aReplyRefersToAVisibleEvent(ref: Int64) throws {
        let ann = self.world.user("ann")
        let group = self.world.conversation(owner: ann)
        try self.world.run(self.world.text(ann, group))
        #expect(try self.world.run(self.world.text(ann, group, ref: ref)).code == .notFound)
        #expect(try self.world.run(self.world.text(ann, group, ref: 1)).answer?.seq == 2)
    }

    @Test func forwardedMessagesAreConsecutiveAllOrNone() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        let contents = ["a", "b", "c"].map { MessageContent(kind: .text, body: "{\"text\":\"\($0)\"}") }
        let answer = try self.world.run(self.world.command(ann, .forward(group, .success(contents)))).answer
        #expect(answer?.seq == 1)
        #expect(answer?.text == "3")
        #expect(self.world.unread(bob, in: group) == 3)
        #expect(self.world.unread(ann, in: group) == 0)
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        let picture = MessageContent(kind: .image, body: "{}", blobs: [blob])
        #expect(try self.world.run(self.world.command(ann, .forward(group, .success(contents + [picture])))).code == .notFound)
        #expect(try self.world.run(self.world.command(ann, .forward(group, .success([])))).code == .limit)
        #expect(self.world.bodies(bob, in: group).count == 3)
    }

    @Test func aBlobIsReferredToOnlyByThoseWhoMayReadIt() throws {
        let (ann, bob) = (self.world.user("ann"), self.world.user("bob"))
        let group = self.world.conversation(owner: ann, members: [bob])
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        func picture(_ actor: UserKey) -> Command {
            let content = MessageContent(kind: .image, body: "{}", blobs: [blob])
            return self.world.command(actor, .send(SendCommand(conversation: group, content: .success(content))))
        }
        #expect(try self.world.run(picture(ann)).code == .notFound)
        self.world.storage.addUpload(BlobNeed(user: ann, blob: blob))
        #expect(try self.world.run(picture(bob)).code == .notFound)
        #expect(try self.world.run(picture(ann)).answer?.seq == 1)
        #expect(try self.world.run(picture(bob)).answer?.seq == 2, "bob reads it in the group now")
    }

    @Test func aForwardKeepsMentionsAndPolls() throws {
        let world = World()
        let (ann, bob, eve) = (world.user("ann"), world.user("bob"), world.user("eve"))
        let group = world.conversation(owner: ann, members: [bob])
        let poll = MessageContent(kind: .poll, body: "{}", options: 3, allowsManyVotes: true, hidesVoters: true)
        let text = MessageContent(kind: .text, body: "{}", mentions: [ann, eve], mentionsAll: true)
        try world.run(world.command(bob, .forward(group, .success([poll, text]))))
        let rows = world.storage.events(in: group, .from(1), as: ann, limit: 9).compactMap(\.row)
        #expect(rows.map(\.votes) == [[0, 0, 0], []] && rows[0].allowsManyVotes && rows[0].hidesVoters)
        #expect(rows[1].mentions == [ann] && !rows[1].mentionsAll, "a member does not call all by a forward")
        #expect(world.mentions(ann, in: group) == 1)
        try world.run(world.command(ann, .forward(group, .success([text]))))
        #expect(world.mentions(bob, in: group) == 1)
        #expect(try world.run(world.command(ann, .vote(EventAddress(group, 1), options: [0, 2]))).answer != nil)
    }
}
