import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The changes of a device's store, and what survives a restart of the program.
@Suite("Store of a device")
struct DeviceStoreTests {
    private let device = Device(
        index: 4, user: UserKey(2), name: UserName(prepared: "bob"), bug: nil, agenda: Agenda(), clock: SimulatedClock())
    private let room = ConversationID(number: 7)

    private func head(_ number: Int64, seq: Int64 = 0) -> ChatHead {
        ChatHead(conversation: ConversationID(number: number), kind: .group, state: .joined, seq: seq, n: seq, at: 1)
    }

    private func event(_ seq: Int64, _ kind: EventKind = .text, ref: Int64? = nil, _ body: JSONObject = [:]) -> ChatEvent {
        ChatEvent(
            conversation: self.room, seq: seq, n: kind.isMessage ? seq : nil, sender: UserName(prepared: "ann"), id: nil, at: 1, kind: kind,
            ref: ref, body: body)
    }

    private func unsent(_ id: String, in number: Int64, _ order: Int) throws -> Device.Unsent {
        let id = try #require(ClientID(id))
        let content = MessageContent(kind: .text, body: Body.json("text"))
        let send = SendCommand(conversation: ConversationKey(number), content: .success(content))
        return Device.Unsent(
            id: id, number: order, conversation: ConversationID(number: number),
            command: Command(
                actor: UserKey(2), device: DeviceKey(4), request: RequestIdentity(id: id, hash: RequestHash(1, 0, 0, 0)),
                action: .send(send)))
    }

    @Test func conversationsAreInTheOrderOfTheirKeys() {
        for number in [5, 1, 9, 5, 3] as [Int64] { self.device.store(.head(self.head(number, seq: number))) }
        #expect(self.device.conversations.map(\.number) == [1, 3, 5, 9] && self.device.heads.count == 4)
        self.device.store(.gone(ConversationID(number: 3)))
        self.device.store(.gone(ConversationID(number: 8)))
        #expect(self.device.conversations.map(\.number) == [1, 5, 9] && self.device.heads.count == 3)
    }

    @Test func aConversationThatIsGoneLeavesNothing() throws {
        self.device.store(.head(self.head(7, seq: 2)))
        self.device.store(.head(self.head(8)))
        self.device.store(.events([self.event(1), self.event(2)], asOf: nil))
        self.device.store(.gap(self.room, 1...1))
        self.device.store(.read(self.room, n: 2, isConfirmed: false))
        self.device.outbox = [try self.unsent("a", in: 7, 1), try self.unsent("b", in: 8, 2)]
        self.device.store(.gone(self.room))
        #expect(self.device.logs[self.room] == nil && self.device.gaps[self.room] == nil && self.device.reads[self.room] == nil)
        #expect(self.device.outbox.map(\.id.rawValue) == ["b"], "messages to other conversations stay")
    }

    /// Another data epoch removes what the server had sent, and keeps what the user wrote.
    @Test func theOutboxSurvivesAnotherEpoch() throws {
        self.device.store(.head(self.head(7, seq: 1)))
        self.device.store(.events([self.event(1)], asOf: nil))
        self.device.store(.gap(self.room, 1...1))
        self.device.store(.read(self.room, n: 1, isConfirmed: false))
        self.device.store(.token(try #require(PageToken("t"))))
        self.device.store(.epoch(try #require(PageToken("e1"))))
        self.device.outbox = [try self.unsent("a", in: 7, 1)]
        self.device.store(.dropCache)
        #expect(self.device.heads.isEmpty && self.device.conversations.isEmpty && self.device.logs.isEmpty && self.device.gaps.isEmpty)
        #expect(self.device.reads.isEmpty && self.device.token == nil && self.device.outbox.count == 1)
        #expect(self.device.epoch?.rawValue == "e1", "the new epoch is stored by a change of its own")
    }

    @Test func anAcknowledgedMessageIsKeptUntilTheLogHasIt() throws {
        self.device.outbox = try [("a", 1), ("b", 2), ("c", 3)].map { try self.unsent($0.0, in: 7, $0.1) }
        for (seq, message) in zip([4, 5] as [Int64], self.device.outbox) {
            self.device.store(.sent(message.id, SendAnswer(conversation: self.room, id: message.id, seq: seq, n: seq, at: 2)))
        }
        #expect(self.device.sent.map(\.id.rawValue) == ["a", "b"] && self.device.outbox.map(\.id.rawValue) == ["c"])
        var own = self.event(4)
        (own.sender, own.id) = (self.device.name, self.device.sent[0].id)
        self.device.store(.events([own], asOf: nil))
        #expect(self.device.sent.map(\.id.rawValue) == ["b"])
        self.device.store(.requeue)
        #expect(self.device.outbox.map(\.id.rawValue) == ["b", "c"] && self.device.sent.isEmpty)
        #expect(self.device.acknowledged.map(\.id.rawValue) == ["a"], "it is acknowledged again")
    }

    @Test(arguments: [(3, 3, true), (3, 4, true), (3, 2, false)] as [(Int64, Int64, Bool)])
    func aReadPositionIsResentUntilTheServerHasIt(own: Int64, confirmed: Int64, isDone: Bool) {
        self.device.store(.read(self.room, n: own, isConfirmed: false))
        self.device.store(.read(self.room, n: confirmed, isConfirmed: true))
        #expect((self.device.reads[self.room] == nil) == isDone)
        self.device.store(.read(ConversationID(number: 99), n: 5, isConfirmed: true))
        #expect(self.device.reads[ConversationID(number: 99)] == nil)
    }

    @Test func anAnswerMovesAMessageOutOfTheOutbox() throws {
        self.device.outbox = [try self.unsent("a", in: 7, 1), try self.unsent("b", in: 7, 2), try self.unsent("c", in: 7, 3)]
        let (first, second) = (self.device.outbox[0].id, self.device.outbox[1].id)
        let answer = SendAnswer(conversation: self.room, id: second, seq: 4, n: 3, at: 2)
        self.device.store(.sent(second, answer))
        self.device.store(.sent(second, answer))
        #expect(self.device.acknowledged.map(\.id) == [second] && self.device.acknowledged[0].number == 2)
        self.device.store(.refused(first, ChatError(.forbidden, message: "no")))
        #expect(self.device.outbox.map(\.id.rawValue) == ["c"] && self.device.refused == [first: .forbidden])
    }

    @Test func eventsAreStoredWithTheirChanges() {
        self.device.store(.events([self.event(1, .text, ["text": "first"]), self.event(2)], asOf: nil))
        self.device.store(.events([self.event(3, .edit, ref: 1, ["body": ["text": "edited"]])], asOf: nil))
        #expect(self.device.logs[self.room]?[1]?.body["text"] == "edited" && self.device.logs[self.room]?.last == 3)
        self.device.store(.events([], asOf: 9))
        #expect(self.device.logs.count == 1)
    }

    /// A hole that the core reported as a gap is expected; another one is a fault of the core.
    @Test func holesWithoutAGapAreFound() {
        self.device.store(.head(self.head(7, seq: 9)))
        #expect(self.device.unannouncedHole(in: self.room) == nil)
        for seq in [1, 2, 6, 9] as [Int64] { self.device.store(.events([self.event(seq)], asOf: seq)) }
        #expect(self.device.unannouncedHole(in: self.room) == 3)
        self.device.store(.gap(self.room, 3...4))
        #expect(self.device.unannouncedHole(in: self.room) == 5)
        self.device.store(.gap(self.room, 5...5))
        #expect(self.device.unannouncedHole(in: self.room) == 7)
        self.device.store(.gap(self.room, 7...8))
        #expect(self.device.unannouncedHole(in: self.room) == nil)
        // Events before the first visible one are not missing.
        self.device.gaps = [:]
        var head = self.head(7, seq: 9)
        head.minSeq = 6
        self.device.store(.head(head))
        #expect(self.device.unannouncedHole(in: self.room) == 7)
    }

    // MARK: Pages of older events

    private func page(_ seqs: ClosedRange<Int64>, seq: Int64) -> HistoryAnswer {
        HistoryAnswer(conversation: self.room, events: seqs.map { self.event($0, .text, ["text": "page"]) }, seq: seq)
    }

    @Test func aPageFillsTheGap() {
        self.device.store(.head(self.head(7, seq: 9)))
        self.device.store(.events([self.event(8, .text, ["text": "live"]), self.event(9, .text, ["text": "live"])], asOf: nil))
        self.device.fill(self.page(4...8, seq: 9))
        #expect(self.device.logs[self.room]?.lowest == 4 && self.device.logs[self.room]?.missing == [])
        #expect(self.device.logs[self.room]?[9]?.body["text"] == "live", "a page does not move the end of the log")
        #expect((self.device.gaps[self.room] ?? []).isEmpty)
    }

    /// A late answer to an earlier request leaves a gap between its page and the log.
    @Test func aLatePageLeavesAGap() {
        self.device.store(.head(self.head(7, seq: 9)))
        self.device.store(.events([self.event(8), self.event(9)], asOf: nil))
        self.device.fill(self.page(2...4, seq: 5))
        #expect(self.device.gaps[self.room] == [5...7] && self.device.unannouncedHole(in: self.room) == nil)
        let isMissing = self.device.scroll(self.room)
        #expect(isMissing, "the gap is requested when the user scrolls")
    }

    @Test func laterChangesAreAppliedToAnOlderPage() {
        self.device.store(.head(self.head(7, seq: 4)))
        self.device.store(.events([self.event(3), self.event(4, .edit, ref: 1, ["body": ["text": "edited"]])], asOf: nil))
        self.device.fill(self.page(1...2, seq: 3))
        #expect(self.device.logs[self.room]?[1]?.body["text"] == "edited" && self.device.logs[self.room]?[2]?.body["text"] == "page")
        // A page as of a later time contains the change.
        self.device.fill(self.page(1...2, seq: 4))
        #expect(self.device.logs[self.room]?[1]?.body["text"] == "page")
    }

    @Test func aPageOfAConversationThatIsGoneIsIgnored() {
        self.device.fill(self.page(1...2, seq: 2))
        #expect(self.device.logs.isEmpty && self.device.gaps.isEmpty)
    }

    // MARK: Restarts

    @Test func aRestartKeepsTheStore() throws {
        self.device.store(.head(self.head(7, seq: 2)))
        self.device.store(.events([self.event(1), self.event(2)], asOf: nil))
        self.device.outbox = [try self.unsent("a", in: 7, 1)]
        self.device.store(.read(self.room, n: 2, isConfirmed: false))
        self.device.restart()
        #expect(self.device.heads.count == 1 && self.device.logs[self.room]?.last == 2 && self.device.outbox.count == 1)
        #expect(self.device.reads == [self.room: 2] && self.device.connection == nil && !self.device.isRetired)
        self.device.retire()
        #expect(self.device.isRetired)
    }
}
