import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The simulated network: the arrival of messages, their order, and the detection of losses.
@Suite("Connection of the simulator")
struct ConnectionTests {
    private let connection = Connection(key: SocketKey(1), device: 0, user: UserKey(1))

    private func events(_ seqs: ClosedRange<Int64>) -> Message {
        .events(
            EventPush(
                events: seqs.map {
                    ChatEvent(
                        conversation: ConversationID(number: 7), seq: $0, n: $0, sender: nil, id: nil, at: 1, kind: .text, body: [:])
                }))
    }

    /// Takes all messages, and returns the first `seq` of each.
    private func takeAll() -> [Int64] {
        var seqs: [Int64] = []
        while let message = self.connection.take() {
            if case .events(let push) = message { seqs.append(push.events.first?.seq ?? 0) }
        }
        return seqs
    }

    @Test func messagesArriveInTheOrderInWhichTheyWereSent() {
        for seq in 1...4 as ClosedRange<Int64> { self.connection.send(self.events(seq...seq)) }
        #expect(self.takeAll() == [1, 2, 3, 4] && self.connection.down.isEmpty)
    }

    /// Two servers push to one connection: the later push overtakes exactly one earlier one.
    @Test(arguments: [([], [9]), ([1], [9, 1]), ([1, 2, 3], [1, 2, 9, 3])] as [([Int64], [Int64])])
    func anEarlyMessageOvertakesOne(sent: [Int64], arrived: [Int64]) {
        for seq in sent { self.connection.send(self.events(seq...seq)) }
        self.connection.sendEarly(self.events(9...9))
        #expect(self.takeAll() == arrived && self.connection.untaken == 0)
    }

    @Test func onlyPushesCountAsUntaken() {
        self.connection.send(self.events(1...3))
        #expect(self.connection.untaken == 3 * 32 * 1_024)
        self.connection.send(.heads(HeadPush()))
        self.connection.send(.marks(MarkPush(marks: [])))
        #expect(self.connection.untaken == 3 * 32 * 1_024 + 400)
        self.connection.send(.helloRefused(ChatError(.resync, message: "")))
        #expect(self.connection.untaken == 3 * 32 * 1_024 + 400, "an answer is not a push")
        _ = self.connection.take()
        #expect(self.connection.untaken == 400)
        self.connection.drop()
        #expect(self.connection.untaken == 0 && self.connection.take() == nil)
    }

    /// The question of the window is answered once all messages sent before it are taken, and only
    /// once.
    @Test func aQuestionIsAnsweredOnceByEarlierMessages() {
        #expect(!self.connection.isAnswered(), "there is no question")
        self.connection.ask()
        #expect(self.connection.isAnswered() && !self.connection.isAnswered(), "nothing was in transit")
        self.connection.send(self.events(1...1))
        self.connection.send(self.events(2...2))
        self.connection.ask()
        self.connection.send(self.events(3...3))
        _ = self.connection.take()
        #expect(!self.connection.isAnswered())
        _ = self.connection.take()
        #expect(self.connection.isAnswered() && !self.connection.isAnswered(), "the third message was sent after the question")
    }

    /// Each state of a connection, and whether the network has work for it.
    private static let states: [(name: String, hasTraffic: Bool, set: @Sendable (Connection) -> Void)] = [
        ("idle", false, { _ in }), ("request", true, { $0.up.append(.hello(since: nil, epoch: nil)) }),
        ("message", true, { $0.send(.marks(MarkPush(marks: []))) }),
        (
            "message to a slow device", false,
            {
                $0.send(.marks(MarkPush(marks: [])))
                $0.isSlow = true
            }
        ),
        (
            "request of a slow device", true,
            {
                $0.up.append(.hello(since: nil, epoch: nil))
                $0.isSlow = true
            }
        ),
        ("closed by the device", true, { $0.isOpenAtDevice = false }), ("closed by the server", true, { $0.isOpenAtServer = false }),
        (
            "closed by the server of a slow device", false,
            {
                $0.isOpenAtServer = false
                $0.isSlow = true
            }
        ), ("closed by both", false, { ($0.isOpenAtServer, $0.isOpenAtDevice) = (false, false) }),
        (
            "cut", false,
            {
                $0.up.append(.hello(since: nil, epoch: nil))
                $0.send(.marks(MarkPush(marks: [])))
                ($0.isOpenAtDevice, $0.isCut) = (false, true)
            }
        ),
    ]

    @Test(arguments: Self.states.indices) func theNetworkHasWorkIfSomethingCanMove(index: Int) {
        Self.states[index].set(self.connection)
        #expect(self.connection.hasTraffic == Self.states[index].hasTraffic, "\(Self.states[index].name)")
    }
}

/// The cache of encoded events, which returns an event again until its row changes.
@Suite("Encoder of the simulator")
struct EventEncoderTests {
    private let oracle = OracleWorld().oracle
    private let room = ConversationKey(10)

    private func row(_ seq: Int64 = 1, _ text: String = "hello") -> EventRow {
        EventRow(
            conversation: self.room, seq: seq, n: seq, sender: UserKey(2), clientID: ClientID("a"), at: 5, kind: .text,
            body: Body.json(text))
    }

    @Test func anEventHasTheFieldsOfItsRow() {
        let encoder = EventEncoder(self.oracle, bug: nil)
        let event = encoder.event(self.row())
        #expect(event.conversation == ConversationID(number: 10) && event.seq == 1 && event.n == 1 && event.sender?.rawValue == "bob")
        #expect(event.id == ClientID("a") && event.at == 5 && event.body == ["text": "hello"])
        #expect(event.ref == nil && event.thread == nil && event.editedAt == nil && event.expiresAt == nil && event.replies == nil)
        var row = self.row(2)
        (row.n, row.ref, row.thread, row.editedAt, row.expiresAt, row.replyCount, row.lastReply) = (0, 1, 1, 7, 8, 3, 6)
        (row.sender, row.body) = (UserKey(99), "")
        let change = encoder.event(row)
        #expect(change.n == nil && change.ref == 1 && change.thread == 1 && change.editedAt == 7 && change.expiresAt == 8)
        #expect(change.replies == ThreadSummary(count: 3, seq: 6) && change.sender == nil && change.body.isEmpty)
    }

    @Test func aChangedRowIsEncodedAgain() {
        let encoder = EventEncoder(self.oracle, bug: nil)
        // The cache has places for events that were not encoded yet.
        #expect(
            encoder.event(self.row(5, "fifth")).body["text"] == "fifth" && encoder.event(self.row(2, "second")).body["text"] == "second")
        #expect(encoder.event(self.row(2, "changed")).body["text"] == "changed")
        #expect(encoder.event(self.row(5, "fifth")).body["text"] == "fifth")
        var other = self.row(2, "elsewhere")
        other.conversation = ConversationKey(11)
        #expect(encoder.event(other).body["text"] == "elsewhere" && encoder.event(self.row(2, "changed")).body["text"] == "changed")
    }

    /// Each column of a row that is part of its event, changed alone.
    private static let changes: [(name: String, change: @Sendable (inout EventRow) -> Void)] = [
        ("n", { $0.n = 9 }), ("sender", { $0.sender = UserKey(1) }), ("id", { $0.clientID = nil }), ("at", { $0.at = 6 }),
        ("kind", { $0.kind = .poll }), ("ref", { $0.ref = 4 }), ("thread", { $0.thread = 4 }),
        ("body", { $0.body = Body.json("other") }), ("state", { $0.state = .edited }), ("edited", { $0.editedAt = 6 }),
        ("expiry", { $0.expiresAt = 6 }), ("reactions", { $0.reactions = [ReactionCount(key: "+", count: 1)] }),
        ("count of a reaction", { $0.reactions = [ReactionCount(key: "-", count: 2)] }), ("votes", { $0.votes = [1, 0] }),
        ("no votes", { $0.votes = [] }), ("replies", { $0.replyCount = 2 }), ("last reply", { $0.lastReply = 8 }),
        ("end", { $0.isClosed = true }),
    ]

    @Test(arguments: Self.changes.indices) func aChangeOfOneColumnIsEncoded(index: Int) {
        let encoder = EventEncoder(self.oracle, bug: nil)
        var row = self.row()
        (row.reactions, row.votes) = ([ReactionCount(key: "-", count: 1)], [0, 0])
        (row.replyCount, row.lastReply) = (1, 7)
        let before = encoder.event(row)
        #expect(encoder.event(row) == before)
        var changed = row
        Self.changes[index].change(&changed)
        let after = encoder.event(changed)
        #expect(after != before, "\(Self.changes[index].name)")
        #expect(after == EventEncoder(self.oracle, bug: nil).event(changed), "\(Self.changes[index].name)")
        #expect(encoder.event(row) == before, "the earlier row is encoded again")
    }

    /// A removed message shows neither its reactions nor its votes, also if the row keeps them.
    @Test(arguments: PlantedBug.allCases) func onlyTwoBugsKeepAnEarlierEvent(bug: PlantedBug) {
        let encoder = EventEncoder(self.oracle, bug: bug)
        var row = self.row()
        _ = encoder.event(row)
        row.reactions = [ReactionCount(key: "+", count: 1)]
        #expect(encoder.event(row).reactions == row.reactions, "a bug concerns removed messages only")
        row.blank(.erased)
        #expect(encoder.event(row).state == .erased && encoder.event(row).reactions.isEmpty)
        for state in [EventState.recalled, .expired] {
            var other = self.row(2)
            _ = encoder.event(other)
            other.blank(state)
            let keeps = bug == .recalledServed && state == .recalled || bug == .expiredServed && state == .expired
            #expect(encoder.event(other).body.isEmpty == !keeps)
            _ = encoder.event(self.row(2))
        }
    }

    @Test func aPollThatEndedIsClosed() {
        let encoder = EventEncoder(self.oracle, bug: nil)
        var row = self.row()
        (row.kind, row.body, row.isClosed) = (.poll, Body.poll("when", options: 2), true)
        #expect(encoder.event(row).body["closed"] == true)
        (row.state, row.body) = (.recalled, "")
        #expect(encoder.event(row).body.isEmpty, "a removed poll has no content")
    }

    @Test(
        arguments: [
            (nil, EventState.recalled, false), (.recalledServed, .recalled, true), (.recalledServed, .expired, false),
            (.expiredServed, .expired, true), (.expiredServed, .recalled, false), (.floorIgnored, .recalled, false),
        ] as [(PlantedBug?, EventState, Bool)])
    func onlyItsBugServesRemovedContent(bug: PlantedBug?, state: EventState, isServed: Bool) {
        let encoder = EventEncoder(self.oracle, bug: bug)
        var row = self.row()
        _ = encoder.event(row)
        (row.state, row.body) = (state, "")
        #expect((encoder.event(row).body["text"] == "hello") == isServed)
        #expect((encoder.event(row).state == state) == !isServed)
        // Without an earlier copy there is nothing to serve.
        let fresh = EventEncoder(self.oracle, bug: bug).event(row)
        #expect(fresh.body.isEmpty && fresh.state == state)
    }

    @Test func aHiddenViewHasItsPlaceOnly() {
        let encoder = EventEncoder(self.oracle, bug: nil)
        _ = encoder.event(self.row(3))
        for (n, expected) in [(3, 3), (0, nil)] as [(Int64, Int64?)] {
            let event = encoder.event(EventView(seq: 3, n: n, row: nil), in: self.room)
            #expect(event == .hidden(conversation: ConversationID(number: 10), seq: 3, n: expected))
        }
    }
}

/// The page token of `sync`.
@Suite("Place in a list of heads")
struct SyncPlaceTests {
    private let position = MemoryStorage().position()

    @Test func aPlaceIsReadAsItWasWritten() throws {
        let heads = SyncPlace(
            position: self.position, heads: HeadsCursor(pinnedAt: 7, lastAt: -3, conversation: ConversationKey(.max)))
        let token = try #require(heads.token)
        let read = try #require(SyncPlace(token.rawValue))
        #expect(read.heads?.pinnedAt == 7 && read.heads?.lastAt == -3 && read.heads?.conversation == ConversationKey(.max))
        #expect(read.changes == nil && read.position.description == self.position.description)
        let changes = SyncPlace(position: self.position, changes: ConversationKey(12))
        let changed = try #require(changes.token)
        let other = try #require(SyncPlace(changed.rawValue))
        #expect(other.changes == ConversationKey(12) && other.heads == nil)
    }

    @Test(arguments: ["", "/", "x", "1,2,3", "nonsense/1", "/1"]) func anotherTextIsNotAPlace(text: String) {
        #expect(SyncPlace(text) == nil)
    }
}
