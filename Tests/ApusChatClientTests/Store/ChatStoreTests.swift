import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

@Suite("Store")
struct ChatStoreTests {
    let store: ChatStore

    init() throws { self.store = try ChatStore(path: ":memory:") }

    @discardableResult
    func apply(_ changes: StoreChange..., asOf: Int64? = nil) throws -> StoreEffects {
        try self.store.apply(changes, of: Value.alice, asOf: asOf)
    }

    func page(before seq: Int64? = nil, limit: Int = 50) throws -> ChatStore.Page {
        try self.store.page(of: Value.room, before: seq, limit: limit, me: Value.alice)
    }

    @Test func aClosedStoreThrows() throws {
        self.store.close()
        self.store.close()
        #expect(throws: ChatClientError(.closed, message: "the client was closed")) { try self.page() }
        #expect(throws: ChatClientError(.closed, message: "the client was closed")) { try self.apply(.head(Value.head(1))) }
    }

    @Test func aPageHasTheNewestRowsOldestFirst() throws {
        try self.apply(.head(Value.head(10)), .events((1...10).map { Value.text($0) }))
        #expect(try self.page(limit: 3).messages.map(\.event.seq) == [8, 9, 10])
        #expect(try self.page(before: 8, limit: 3).messages.map(\.event.seq) == [5, 6, 7])
    }

    @Test func changesAreAppliedOnceAndNotShown() throws {
        try self.apply(.events([Value.text(1), Value.text(2)]))
        let react = Value.change(.react, 3, of: 1, ["key": "👍"])
        try self.apply(.events([react]))
        try self.apply(.events([react]))
        let page = try self.page()
        #expect(page.messages.map(\.event.seq) == [1, 2])
        #expect(page.messages[0].event.reactions == [ReactionCount(key: "👍", count: 1)])
    }

    @Test func aServedPageHasItsReactionsAlready() throws {
        var served = Value.text(1)
        served.reactions = [ReactionCount(key: "👍", count: 1)]
        try self.apply(.events([served]), asOf: 2)
        try self.apply(.events([Value.change(.react, 2, of: 1, ["key": "👍"])]), asOf: 2)
        #expect(try self.page().messages[0].event.reactions.map(\.count) == [1])
    }

    @Test func anEditAndARecallChangeTheMessageAndTheIndex() throws {
        try self.apply(.events([Value.text(1, "the first words")]))
        try self.apply(.events([Value.change(.edit, 2, of: 1, ["body": ["text": "other words"]])]))
        #expect(try self.page().messages[0].text == "other words")
        #expect(try self.store.search(StoreQuery(text: "first")).isEmpty)
        #expect(try self.store.search(StoreQuery(text: "other")).count == 1)
        try self.apply(.events([Value.change(.recall, 3, of: 1)]))
        #expect(try self.page().messages[0].event.state == .recalled)
        #expect(try self.store.search(StoreQuery(text: "other")).isEmpty)
    }

    @Test func pagesStopAtGapsAndHistoryFillsThem() throws {
        try self.apply(.events((1...5).map { Value.text($0) }))
        try self.apply(.gap(Value.room, 6...20), .events((21...25).map { Value.text($0) }))
        let above = try self.page()
        #expect(above.messages.map(\.event.seq) == [21, 22, 23, 24, 25])
        #expect(above.missingBefore == 21)
        try self.store.insertHistory((11...20).map { Value.text($0) }, mine: [], asOf: 25)
        #expect(try self.page().messages.map(\.event.seq) == Array(11...25))
        #expect(try self.page().missingBefore == 11)
        let below = try self.store.page(of: Value.room, after: 4, limit: 50, me: Value.alice)
        #expect(below.messages.map(\.event.seq) == [5])
        #expect(below.gapAfter == 6...10)
        try self.store.insertHistory((6...10).map { Value.text($0) }, mine: [], asOf: 25)
        #expect(try self.page().messages.count == 25)
    }

    @Test func aJumpBelowTheStoredLogLeavesAGap() throws {
        try self.apply(.events((91...100).map { Value.text($0) }))
        try self.store.insertHistory((41...50).map { Value.text($0) }, mine: [], asOf: 100)
        #expect(try self.page().missingBefore == 91)
        #expect(try self.store.page(of: Value.room, after: 45, limit: 50, me: Value.alice).gapAfter == 51...90)
    }

    @Test func theLogReplacesAnUnsentMessage() throws {
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5))
        #expect(try self.store.unsent(in: Value.room).map(\.id) == [Value.id("a")])
        let answer = SendAnswer(conversation: Value.room, id: Value.id("a"), seq: 1, n: 1, at: 9)
        try self.apply(.sent(Value.id("a"), answer))
        #expect(try self.store.entry(Value.id("a"))?.state == .sent)
        try self.apply(.events([Value.text(1, by: Value.alice, id: "a")]))
        #expect(try self.store.unsent(in: Value.room).isEmpty)
        #expect(try self.page().messages.map(\.id) == [.own(Value.id("a"))])
    }

    @Test func aRefusedMessageKeepsItsReasonAndGetsANewID() throws {
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5))
        try self.apply(.refused(Value.id("a"), ChatError(.forbidden, message: "no")))
        #expect(try self.store.entry(Value.id("a"))?.error?.code == .forbidden)
        #expect(try self.store.restored().unsent.isEmpty)
        #expect(try self.store.requeue(Value.id("a"), as: Value.id("b"), at: 6)?.id == Value.id("b"))
        #expect(try self.store.restored().unsent.map(\.id) == [Value.id("b")])
    }

    @Test func deliveryFollowsThePositionsOfOthers() throws {
        try self.apply(.head(Value.head(2)), .events([Value.text(1, by: Value.alice), Value.text(2, by: Value.alice)]))
        #expect(try self.page().messages.map(\.delivery) == [.sent, .sent])
        try self.apply(.peerRead(ReadMark(conversation: Value.room, user: Value.bob, read: 1, received: 2)))
        #expect(try self.page().messages.map(\.delivery) == [.read, .delivered])
    }

    @Test func ownReactionsAndHiddenMessages() throws {
        try self.apply(.events([Value.text(1), Value.text(2)]))
        try self.apply(.events([Value.change(.react, 3, of: 1, by: Value.alice, ["key": "👍"])]))
        #expect(try self.page().messages[0].ownReactions == ["👍"])
        let own = ConversationID(number: 1)
        let hide = ChatEvent(
            conversation: own, seq: 1, n: nil, sender: Value.alice, id: nil, at: 1, kind: EventKind(rawValue: "self.hide"),
            body: HideBody(conversation: Value.room, seqs: [2]).json.objectValue ?? [:])
        try self.apply(.events([hide]))
        #expect(try self.page().messages.map(\.seq) == [1])
        // A hidden event of the server has no row either.
        try self.apply(.events([.hidden(conversation: Value.room, seq: 4, n: 3), Value.text(5)]))
        #expect(try self.page().messages.map(\.seq) == [1, 5])
    }

    @Test func aRestartRestoresTheStateMachines() throws {
        try self.apply(.epoch(Value.token("e")), .head(Value.head(3)), .events([Value.text(1), Value.text(2)]), .token(Value.token("t")))
        try self.apply(.read(Value.room, n: 2, isConfirmed: false))
        var restored = try self.store.restored()
        #expect(restored.heads.map(\.seq) == [3])
        #expect(restored.cursors == [Value.room: 2])
        #expect(restored.reads == [Value.room: 2])
        #expect(restored.epoch == Value.token("e"))
        #expect(restored.token == Value.token("t"))
        try self.apply(.read(Value.room, n: 2, isConfirmed: true))
        #expect(try self.store.restored().reads.isEmpty)
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5))
        try self.apply(.dropCache)
        restored = try self.store.restored()
        #expect(restored.heads.isEmpty && restored.cursors.isEmpty && restored.token == nil)
        #expect(restored.unsent.count == 1)
    }

    private func acknowledge(_ id: String, seq: Int64) throws {
        let answer = SendAnswer(conversation: Value.room, id: Value.id(id), seq: seq, n: seq, at: 1_000 + seq)
        try self.apply(.sent(Value.id(id), answer))
    }

    /// The server was restored from a backup and may lack what it has acknowledged.
    @Test func anotherEpochMakesAcknowledgedMessagesUnsent() throws {
        try self.apply(.epoch(Value.token("e")), .head(Value.head(3)), .events([Value.text(1)]))
        for id in ["a", "b", "c", "d"] { try self.store.enqueue(OutboxEntry(request: Value.entry(id), at: 5)) }
        for (id, seq) in [("a", 2), ("c", 4), ("b", 3)] as [(String, Int64)] { try self.acknowledge(id, seq: seq) }
        try self.apply(.events([Value.text(2, by: Value.alice, id: "a")]), .refused(Value.id("d"), ChatError(.forbidden, message: "no")))
        #expect(try self.store.restored().acknowledged == [Value.id("b"), Value.id("c")])
        let effects = try self.apply(.requeue, .dropCache, .epoch(Value.token("e2")))
        #expect(effects.isReset && effects.outgoing == [Value.id("b"), Value.id("c")])
        let restored = try self.store.restored()
        #expect(restored.unsent.map(\.id) == [Value.id("b"), Value.id("c")], "in the order of writing")
        #expect(restored.acknowledged.isEmpty && restored.uploaded.isEmpty && restored.epoch == Value.token("e2"))
        let entry = try #require(try self.store.entry(Value.id("b")))
        #expect(entry.state == .queued && entry.seq == nil && entry.n == nil)
        #expect(try self.store.entry(Value.id("d"))?.state == .refused)
        try self.acknowledge("b", seq: 2)
        #expect(try self.store.entry(Value.id("b"))?.seq == 2)
    }

    @Test func aDroppedCacheOfTheSameEpochKeepsAcknowledgements() throws {
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5))
        try self.acknowledge("a", seq: 2)
        try self.apply(.dropCache)
        #expect(try self.store.restored().acknowledged == [Value.id("a")])
    }

    /// Another device may have removed or replaced a draft since it was sent.
    @Test(arguments: [("mine", 0), ("other", 1), (nil, 1)] as [(String?, Int)])
    func anotherEpochSendsTheDraftsOfTheServerAgain(known: String?, sent: Int) throws {
        var head = Value.head(3)
        head.own.draft = known.map { Draft(text: $0, ref: nil, at: 12) }
        try self.apply(.head(head))
        let draft = Draft(text: "mine", ref: nil, at: 10)
        try self.store.save(draft: draft, in: Value.room)
        try self.store.sentDraft(draft, in: Value.room)
        try self.apply(.requeue, .dropCache)
        #expect(try self.store.unsentDrafts().count == 1 - sent)
        #expect(try self.store.draft(in: Value.room) == draft)
    }

    /// The history that the user scrolls to can contain a message whose answer arrived late.
    @Test func aGapThatIsFilledContainsAcknowledgedMessages() throws {
        try self.apply(.head(Value.head(30)), .events([Value.text(1)]), .gap(Value.room, 2...20), .events([Value.text(21)]))
        for id in ["a", "b"] { try self.store.enqueue(OutboxEntry(request: Value.entry(id), at: 5)) }
        try self.acknowledge("a", seq: 9)
        let page = (8...12).map { Value.text($0, by: $0 > 10 ? Value.bob : Value.alice, id: $0 == 9 ? "a" : $0 == 11 ? "b" : nil) }
        #expect(try self.store.insertHistory(page, mine: [], asOf: 30) == [Value.id("a")])
        #expect(try self.store.insertHistory(page, mine: [], asOf: 30) == [])
        #expect(try self.store.unsent(in: Value.room).map(\.id) == [Value.id("b")], "the id of another sender is another message")
    }

    @Test func aGoneConversationLeavesNothing() throws {
        try self.apply(.head(Value.head(1)), .events([Value.text(1, "some words")]))
        try self.apply(.gone(Value.room))
        #expect(try self.page().messages.isEmpty)
        #expect(try self.store.search(StoreQuery(text: "words")).isEmpty)
        #expect(try self.store.restored().heads.isEmpty)
    }

    @Test func aStoreBelongsToOneAccount() throws {
        let account = StoredAccount(
            server: "http://a", user: Value.alice, device: DeviceID(number: 1), access: "a", accessExpiresAt: 1, refresh: "r")
        try self.store.save(account)
        #expect(try self.store.account() == account)
        var other = account
        other.user = Value.bob
        #expect(throws: ChatClientError.self) { try self.store.save(other) }
    }

    @Test func draftsAreKeptUntilTheyAreSent() throws {
        let draft = Draft(text: "unfinished", ref: 3, at: 10)
        try self.store.save(draft: draft, in: Value.room)
        #expect(try self.store.draft(in: Value.room) == draft)
        #expect(try self.store.unsentDrafts().count == 1)
        try self.store.sentDraft(draft, in: Value.room)
        #expect(try self.store.unsentDrafts().isEmpty)
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5))
        #expect(try self.store.draft(in: Value.room) == nil)
    }

    @Test func theRemovalOfADraftIsKeptUntilItIsSent() throws {
        let draft = Draft(text: "unfinished", ref: 3, at: 10)
        try self.store.save(draft: draft, in: Value.room)
        #expect(try !self.store.hasSentDraft(in: Value.room))
        try self.store.sentDraft(draft, in: Value.room)
        #expect(try self.store.hasSentDraft(in: Value.room))
        let removal = Draft(text: "", ref: nil, at: 11)
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5), draft: removal)
        #expect(try self.store.unsentDrafts().map(\.1) == [removal])
        try self.store.sentDraft(removal, in: Value.room)
        #expect(try self.store.draft(in: Value.room) == nil)
    }

    /// The answer to a draft can arrive after the removal was stored, in the same millisecond.
    @Test func aLateAnswerDoesNotConfirmTheRemoval() throws {
        let draft = Draft(text: "unfinished", ref: nil, at: 10)
        try self.store.save(draft: draft, in: Value.room)
        let removal = Draft(text: "", ref: nil, at: 10)
        try self.store.enqueue(OutboxEntry(request: Value.entry("a"), at: 5), draft: removal)
        try self.store.sentDraft(draft, in: Value.room)
        #expect(try self.store.unsentDrafts().map(\.1) == [removal])
    }
}
