import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// Each check of what a server sends accepts the correct value and finds every wrong one.
@Suite("Oracle: what is served")
struct OracleServingTests {
    private let world = OracleWorld()

    // MARK: Events

    private static let wrongTexts: [(fault: String, change: @Sendable (inout ChatEvent) -> Void)] = [
        ("there is no event 1 in", { $0.conversation = ConversationID(number: 11) }), ("there is no event 9 in", { $0.seq = 9 }),
        ("there is no event 0 in", { $0.seq = 0 }), ("event 1 has the ordinal 2 instead of 1", { $0.n = 2 }),
        ("event 1 has the ordinal 0 instead of 1", { $0.n = nil }), ("event 1 is poll normal instead of text normal", { $0.kind = .poll }),
        ("event 1 is text edited instead of text normal", { $0.state = .edited }),
        ("event 1 is text recalled instead of text normal", { $0.state = .recalled }),
        ("event 1 is text normal instead of text normal", { $0.id = ClientID("other") }),
        ("event 1 is text normal instead of text normal", { $0.ref = 1 }), ("event 1 has the wrong sender", { $0.sender = nil }),
        ("event 1 has the wrong sender", { $0.sender = UserName(prepared: "ann") }),
        ("event 1 has the text other () instead of hello ()", { $0.body["text"] = "other" }),
        ("event 1 has the text  () instead of hello ()", { $0.body = [:] }),
        ("event 1 has the text hello (page) instead of hello ()", { $0.body["preview"] = ["title": "page"] }),
        ("event 1 is forwarded from 'ann' instead of ''", { $0.body["forwarded"] = ["sender": "ann", "at": 0] }),
        ("event 1 is in the thread 1 instead of 0", { $0.thread = 1 }),
        ("event 1 has the reactions", { $0.reactions = [ReactionCount(key: "👍", count: 1)] }),
    ]

    @Test(arguments: Self.wrongTexts.indices) func aWrongTextIsFound(index: Int) {
        self.world.send("hello", by: self.world.bob, id: "a")
        let correct = self.world.event(1, .text, by: "bob", n: 1, id: "a", ["text": "hello"])
        for user in [self.world.ann, self.world.bob, self.world.cid] { #expect(self.world.fault(correct, to: user) == nil) }
        var wrong = correct
        Self.wrongTexts[index].change(&wrong)
        #expect(self.world.fault(wrong, to: self.world.ann)?.hasPrefix(Self.wrongTexts[index].fault) == true)
    }

    @Test(
        arguments: [
            (EventState.recalled, ["text": "hello"] as JSONObject, "event 1 is recalled and served with content"),
            (.normal, ["text": "hello"], "event 1 is recalled and served as normal"),
            (.expired, [:], "event 1 is recalled and served as expired"), (.recalled, [:], nil),
        ] as [(EventState, JSONObject, String?)])
    func removedContentIsFound(state: EventState, body: JSONObject, fault: String?) {
        self.world.send("hello", by: self.world.bob, id: "a")
        #expect(self.world.judge(.recall(self.world.at(1)), by: self.world.bob) == .accepted(seq: 2, n: 0))
        #expect(self.world.fault(self.world.event(1, .text, by: "bob", n: 1, id: "a", state: state, body), to: self.world.ann) == fault)
    }

    @Test func reactionsAndVotesOfARecalledMessageAreFound() {
        self.world.send("hello", by: self.world.bob, id: "a")
        self.world.judge(.recall(self.world.at(1)), by: self.world.bob)
        var event = self.world.event(1, .text, by: "bob", n: 1, id: "a", state: .recalled)
        event.reactions = [ReactionCount(key: "👍", count: 1)]
        #expect(self.world.fault(event, to: self.world.ann) == "event 1 is recalled and served with content")
        (event.reactions, event.votes) = ([], [0, 1])
        #expect(self.world.fault(event, to: self.world.ann) == "event 1 is recalled and served with content")
    }

    /// A recall also removes the text of the edits.
    @Test func theEditOfARecalledMessageIsFound() {
        self.world.send("hello", by: self.world.bob, id: "a")
        self.world.judge(.edit(self.world.at(1), self.world.text("changed")), by: self.world.bob)
        let edit = self.world.event(2, .edit, by: "bob", ref: 1, ["body": ["text": "changed"]])
        #expect(self.world.fault(edit, to: self.world.ann) == nil)
        #expect(
            self.world.fault(self.world.event(2, .edit, by: "bob", ref: 1, ["body": ["text": "x"]]), to: self.world.ann)
                == "event 2 has the text x instead of changed")
        self.world.judge(.recall(self.world.at(1)), by: self.world.bob)
        #expect(self.world.fault(edit, to: self.world.ann) == "event 2 is recalled and served as normal")
    }

    @Test func aHiddenMessageIsFound() {
        self.world.send("hello", by: self.world.bob, id: "a")
        #expect(self.world.judge(.hide(self.world.group, [1]), by: self.world.ann) == .accepted(seq: 1, n: 0))
        let event = self.world.event(1, .text, by: "bob", n: 1, id: "a", ["text": "hello"])
        #expect(self.world.fault(event, to: self.world.ann) == "event 1 is hidden from the user and served as text")
        #expect(self.world.fault(.hidden(conversation: event.conversation, seq: 1, n: 1), to: self.world.ann) == nil)
        // It is hidden from that user only, and so are its changes.
        #expect(self.world.fault(event, to: self.world.cid) == nil)
        self.world.judge(.react(self.world.at(1), key: "👍", isOn: true), by: self.world.cid)
        let reaction = self.world.event(2, .react, by: "cid", ref: 1)
        #expect(self.world.fault(reaction, to: self.world.ann)?.contains("hidden") == true)
        #expect(self.world.fault(reaction, to: self.world.bob) == nil)
    }

    /// A user sees the log from its join to its departure.
    @Test func eventsOutsideTheMembershipAreFound() {
        self.world.book().settings.history = .join
        self.world.send("before", by: self.world.bob, id: "a")
        self.world.book().people[self.world.dan] = Person(state: .invited, role: .member)
        #expect(self.world.judge(.answerInvitation(self.world.group, accepts: true), by: self.world.dan) == .accepted(seq: 2, n: 0))
        self.world.judge(.react(self.world.at(1), key: "👍", isOn: true), by: self.world.cid)
        self.world.send("within", by: self.world.bob, id: "b")
        #expect(self.world.judge(.leave(self.world.group, forgets: false), by: self.world.dan) == .accepted(seq: 5, n: 0))
        self.world.send("after", by: self.world.bob, id: "c")
        let (before, within, after) = (
            self.world.event(1, .text, by: "bob", n: 1, id: "a", ["text": "before"]),
            self.world.event(4, .text, by: "bob", n: 2, id: "b", ["text": "within"]),
            self.world.event(6, .text, by: "bob", n: 3, id: "c", ["text": "after"])
        )
        #expect(self.world.fault(within, to: self.world.dan) == nil)
        #expect(self.world.fault(before, to: self.world.dan) == "event 1 is outside of what the user may see")
        #expect(self.world.fault(after, to: self.world.dan) == "event 6 is outside of what the user may see")
        // A change of a message before the join would reveal the message.
        let reaction = self.world.event(3, .react, by: "cid", ref: 1)
        #expect(self.world.fault(reaction, to: self.world.dan) == "event 3 is hidden from the user and served as react")
        #expect(self.world.fault(reaction, to: self.world.ann) == nil && self.world.fault(after, to: self.world.cid) == nil)
        for state in [MemberState.invited, .requested, .banned] {
            self.world.person(self.world.dan).state = state
            #expect(self.world.fault(within, to: self.world.dan) == "event 4 is outside of what the user may see", "\(state)")
        }
    }

    /// In a pair, a block hides what the other user sends and its changes; a recall is shown.
    @Test func aBlockedMessageIsFound() {
        let (ann, bob, pair) = (self.world.ann, self.world.bob, self.world.pair)
        self.world.send("first", by: bob, in: pair, id: "a")
        #expect(self.world.judge(.contact(bob, .block(true)), by: ann) == .accepted(seq: 1, n: 0))
        self.world.time += 1_000
        self.world.send("second", by: bob, in: pair, id: "b")
        self.world.judge(.edit(self.world.at(1, pair), self.world.text("changed")), by: bob)
        let second = self.world.event(2, .text, by: "bob", n: 2, id: "b", ["text": "second"], in: pair)
        #expect(self.world.fault(second, to: ann, in: pair) == "event 2 is hidden from the user and served as text")
        #expect(self.world.fault(second, to: bob, in: pair) == nil)
        // The first message keeps its first form for the user who blocks.
        let first = self.world.event(1, .text, by: "bob", n: 1, id: "a", ["text": "first"], in: pair)
        let changed = self.world.event(1, .text, by: "bob", n: 1, id: "a", state: .edited, ["text": "changed"], in: pair)
        #expect(self.world.fault(first, to: ann, in: pair) == nil && self.world.fault(changed, to: ann, in: pair) != nil)
        #expect(self.world.fault(first, to: bob, in: pair) != nil && self.world.fault(changed, to: bob, in: pair) == nil)
        self.world.judge(.recall(self.world.at(1, pair)), by: bob)
        #expect(self.world.fault(self.world.event(4, .recall, by: "bob", ref: 1, in: pair), to: ann, in: pair) == nil)
    }

    // MARK: Counts

    @Test func wrongReactionsAreFound() {
        let world = self.world
        world.send("hello", by: world.bob, id: "a")
        for (user, key) in [(world.ann, "👍"), (world.cid, "👍"), (world.cid, "❤️")] {
            world.judge(.react(world.at(1), key: key, isOn: true), by: user)
        }
        var event = world.event(1, .text, by: "bob", n: 1, id: "a", ["text": "hello"])
        let cases: [([ReactionCount], Bool)] = [
            ([ReactionCount(key: "👍", count: 2), ReactionCount(key: "❤️", count: 1)], true),
            ([ReactionCount(key: "❤️", count: 1), ReactionCount(key: "👍", count: 2)], true), ([], false),
            ([ReactionCount(key: "👍", count: 2)], false), ([ReactionCount(key: "👍", count: 3), ReactionCount(key: "❤️", count: 1)], false),
            ([ReactionCount(key: "👍", count: 2), ReactionCount(key: "❤️", count: 1), ReactionCount(key: "x", count: 0)], false),
        ]
        for (reactions, isCorrect) in cases {
            event.reactions = reactions
            #expect((world.fault(event, to: world.ann) == nil) == isCorrect, "\(reactions)")
        }
    }

    @Test func wrongVotesAreFound() {
        let world = self.world
        world.poll("when", options: 3, many: true, by: world.ann)
        #expect(world.judge(.vote(world.at(1), options: [0, 2]), by: world.bob) == .accepted(seq: 2, n: 0))
        #expect(world.judge(.vote(world.at(1), options: [2]), by: world.cid) == .accepted(seq: 3, n: 0))
        var poll = world.event(1, .poll, by: "ann", n: 1, id: "r1", ["question": "when"])
        for (votes, fault) in [
            ([1, 0, 2], nil), ([0, 0, 0], "poll 1 has the votes [0, 0, 0] instead of [1, 0, 2]"),
            ([1, 0, 3], "poll 1 has the votes [1, 0, 3] instead of [1, 0, 2]"),
            ([1, 0], "poll 1 has the votes [1, 0] instead of [1, 0, 2]"),
        ] as [([Int64], String?)] {
            poll.votes = votes
            #expect(world.fault(poll, to: world.cid) == fault)
        }
        var vote = world.event(2, .vote, by: "bob", ref: 1)
        vote.votes = [1, 0, 1]
        #expect(world.fault(vote, to: world.cid) == nil)
        vote.votes = [1, 0, 2]
        #expect(world.fault(vote, to: world.cid) == "vote 2 makes the votes [1, 0, 2] instead of [1, 0, 1]")
        #expect(world.judge(.closePoll(world.at(1)), by: world.ann) == .accepted(seq: 4, n: 0))
        poll.votes = [1, 0, 2]
        #expect(world.fault(poll, to: world.cid) == "poll 1 is closed: false instead of true")
        poll.body["closed"] = true
        #expect(world.fault(poll, to: world.cid) == nil)
    }

    @Test func aWrongCallIsFound() {
        let (world, pair) = (self.world, self.world.pair)
        world.judge(.startCall(pair, .audio), by: world.ann)
        var call = world.event(1, .call, by: "ann", n: 1, ["state": "ringing"], in: pair)
        #expect(world.fault(call, to: world.bob, in: pair) == nil)
        world.judge(.updateCall(world.at(1, pair), .accepted), by: world.bob)
        world.time += 61_000
        world.judge(.updateCall(world.at(1, pair), .ended), by: world.ann)
        #expect(world.fault(call, to: world.bob, in: pair) == "event 1 shows a call that is ringing (-1) instead of ended (61000)")
        call.body = ["state": "ended", "duration": 60_999]
        #expect(world.fault(call, to: world.bob, in: pair) == "event 1 shows a call that is ended (60999) instead of ended (61000)")
        call.body = ["state": "ended", "duration": 61_000]
        #expect(world.fault(call, to: world.bob, in: pair) == nil)
        // The update that accepted the call has no duration.
        let update = world.event(2, .callUpdate, by: "bob", ref: 1, ["state": "accepted"], in: pair)
        #expect(world.fault(update, to: world.ann, in: pair) == nil)
    }

    /// A member leaves the call of a group, which the server ends.
    @Test func theCallOfAGroupContinuesWithoutAMember() {
        let world = self.world
        world.judge(.startCall(world.group, .audio), by: world.ann)
        world.judge(.updateCall(world.at(1), .accepted), by: world.bob)
        #expect(world.judge(.updateCall(world.at(1), .ended), by: world.ann) == .unchanged)
        let call = world.event(1, .call, by: "ann", n: 1, ["state": "accepted"])
        #expect(world.fault(call, to: world.cid) == nil)
        #expect(world.judge(.updateCall(world.at(1), .ended), by: UserKey(0)) == .accepted(seq: 3, n: 0))
        #expect(world.fault(call, to: world.cid) == "event 1 shows a call that is accepted (-1) instead of ended (0)")
    }

    @Test func aWrongThreadIsFound() {
        let world = self.world
        world.send("root", by: world.ann, id: "a")
        for number in 1...3 { world.send("reply \(number)", by: world.bob, thread: 1) }
        var root = world.event(1, .text, by: "ann", n: 1, id: "a", ["text": "root"])
        func fault(_ replies: ThreadSummary?, isStored: Bool = false) -> String? {
            root.replies = replies
            return world.oracle.threadFault(of: root, in: world.book(), world.cid, isStored: isStored)
        }
        #expect(fault(ThreadSummary(count: 3, seq: 4)) == nil)
        #expect(fault(ThreadSummary(count: 4, seq: 4)) == "the thread of event 1 has 4 replies instead of 3")
        #expect(fault(ThreadSummary(count: 2, seq: 4)) == "the thread of event 1 has 2 replies instead of 3")
        #expect(fault(nil) == "the thread of event 1 has 0 replies instead of 3")
        #expect(fault(ThreadSummary(count: 3, seq: 3)) == "the last reply to event 1 is 3 instead of 4")
        #expect(fault(ThreadSummary(count: 3, seq: 5)) == "the last reply to event 1 is 5 instead of 4")
        // The copy of a device may lack a reply that the user has hidden.
        world.judge(.hide(world.group, [4]), by: world.cid)
        #expect(
            fault(ThreadSummary(count: 2, seq: 3), isStored: true) == nil && fault(ThreadSummary(count: 3, seq: 4), isStored: true) == nil)
        #expect(fault(ThreadSummary(count: 1, seq: 3), isStored: true) != nil && fault(ThreadSummary(count: 2, seq: 3)) != nil)
    }

    // MARK: Forwards

    @Test func aWrongForwardIsFound() {
        let world = self.world
        world.send("hello", by: world.bob, id: "a")
        func content(_ text: String, from origin: String?) -> MessageContent {
            MessageContent(kind: .text, body: Body.forwarded(Body.json(text), from: origin))
        }
        func fault(_ content: MessageContent?, by user: UserKey, seq: Int64 = 1) -> String? {
            world.oracle.fault(ofForward: content, of: world.at(seq), by: user)
        }
        #expect(fault(content("hello", from: "bob"), by: world.cid) == nil)
        #expect(fault(nil, by: world.cid)?.hasSuffix("is refused") == true)
        #expect(fault(content("other", from: "bob"), by: world.cid)?.contains("has the content") == true)
        #expect(fault(content("hello", from: "ann"), by: world.cid)?.hasSuffix("has the wrong origin") == true)
        #expect(fault(content("hello", from: nil), by: world.cid)?.hasSuffix("has the wrong origin") == true)
        // The forward of a message that the user does not see must be refused.
        for (user, seq) in [(world.dan, 1), (world.cid, 0), (world.cid, 2)] as [(UserKey, Int64)] {
            #expect(fault(nil, by: user, seq: seq) == nil)
            #expect(fault(content("hello", from: "bob"), by: user, seq: seq)?.hasSuffix("is not visible to the user") == true)
        }
        world.judge(.hide(world.group, [1]), by: world.cid)
        #expect(fault(nil, by: world.cid) == nil && fault(content("hello", from: "bob"), by: world.cid) != nil)
        world.judge(.recall(world.at(1)), by: world.bob)
        #expect(fault(nil, by: world.ann) == nil && fault(content("hello", from: "bob"), by: world.ann) != nil)
    }
}
