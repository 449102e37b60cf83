import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The store of a simulated device.
@Suite("Log of a device")
struct DeviceLogTests {
    private func event(
        _ seq: Int64, _ kind: EventKind = .text, ref: Int64? = nil, thread: Int64? = nil, expiresAt: Int64? = nil, _ body: JSONObject = [:]
    ) -> ChatEvent {
        ChatEvent(
            conversation: ConversationID(number: 7), seq: seq, n: kind.isMessage ? seq : nil, sender: UserName(prepared: "bob"),
            id: nil, at: 1, kind: kind, ref: ref, thread: thread, body: body, expiresAt: expiresAt)
    }

    @Test func anEmptyLogHasNothing() {
        let log = DeviceLog()
        #expect(log.count == 0 && log.lowest == nil && log.missing.isEmpty && log.lastMissing(from: 1) == nil)
        for seq in [Int64.min, -1, 0, 1, .max] { #expect(log[seq] == nil) }
    }

    @Test(arguments: [
        ([Int64(5)], [Int64]()), ([5, 6, 7], []), ([7, 5], [6]), ([5, 9], [6, 7, 8]), ([9, 5], [6, 7, 8]), ([5, 9, 7], [6, 8]),
        ([9, 7, 5, 8, 6], []), ([6, 6, 6], []),
    ])
    func missingEventsAreKnown(order: [Int64], missing: [Int64]) {
        var log = DeviceLog()
        for seq in order { log.put(self.event(seq), asOf: seq) }
        #expect(log.missing == missing && log.lowest == order.min() && log.last == order.max())
        for seq in order { #expect(log[seq]?.seq == seq) }
        for seq in missing { #expect(log[seq] == nil) }
        #expect(log.count == Int((order.max() ?? 0) - (order.min() ?? 0)) + 1)
    }

    /// The highest missing position from a floor on; the log begins with 5.
    @Test(arguments: [(1, 8), (5, 8), (7, 8), (8, 8), (9, nil), (10, nil)] as [(Int64, Int64?)])
    func theLastGapIsFound(floor: Int64, missing: Int64?) {
        var log = DeviceLog()
        for seq in [5, 6, 9, 10] as [Int64] { log.put(self.event(seq), asOf: seq) }
        #expect(log.lastMissing(from: floor) == missing)
        for seq in [7, 8] as [Int64] { log.put(self.event(seq), asOf: seq) }
        // Without a gap, what is before the log is missing.
        #expect(log.lastMissing(from: floor) == (floor < 5 ? 4 : nil))
    }

    /// An older copy of an event, which contains fewer changes, does not replace a newer one.
    @Test func anOlderCopyDoesNotReplaceANewerOne() {
        var log = DeviceLog()
        log.put(self.event(1, .text, ["text": "edited"]), asOf: 5)
        log.put(self.event(1, .text, ["text": "first"]), asOf: 1)
        #expect(log[1]?.body["text"] == "edited")
        log.put(self.event(1, .text, ["text": "again"]), asOf: 5)
        #expect(log[1]?.body["text"] == "again")
        log.put(self.event(1, .text, ["text": "newest"]), asOf: 9)
        #expect(log[1]?.body["text"] == "newest")
    }

    @Test func aChangeIsAppliedOnce() {
        var log = DeviceLog()
        log.put(self.event(1, .text, ["text": "first"]), asOf: 1)
        log.put(self.event(2, .text, ["text": "other"]), asOf: 2)
        let edit = self.event(3, .edit, ref: 1, ["body": ["text": "edited"]])
        log.apply(edit)
        #expect(log[1]?.body["text"] == "edited" && log[1]?.state == .edited && log[2]?.body["text"] == "other")
        // A change that arrives after a later one has no effect.
        log.apply(self.event(5, .edit, ref: 1, ["body": ["text": "later"]]))
        log.apply(self.event(4, .edit, ref: 1, ["body": ["text": "earlier"]]))
        #expect(log[1]?.body["text"] == "later")
        // A change of a message that is not stored, or of none, is ignored.
        log.apply(self.event(6, .edit, ref: 99, ["body": ["text": "x"]]))
        log.apply(self.event(7, .edit))
        #expect(log.count == 2)
    }

    @Test func aRecallRemovesTheTextOfTheEdits() {
        var log = DeviceLog()
        log.put(self.event(1, .text, ["text": "first"]), asOf: 1)
        let edit = self.event(2, .edit, ref: 1, ["body": ["text": "edited"]])
        log.put(edit, asOf: 2)
        log.apply(edit)
        log.apply(self.event(3, .recall, ref: 1))
        #expect(log[1]?.state == .recalled && log[1]?.body.isEmpty == true)
        #expect(log[2]?.state.isBlank == true && log[2]?.body.isEmpty == true)
    }

    @Test func expiredContentIsRemovedWithItsEdits() {
        var log = DeviceLog()
        log.put(self.event(1, .text, expiresAt: 100, ["text": "first"]), asOf: 1)
        log.put(self.event(2, .edit, ref: 1, ["body": ["text": "edited"]]), asOf: 2)
        log.put(self.event(3, .text, ["text": "stays"]), asOf: 3)
        log.expire(at: 99)
        #expect(log[1]?.body["text"] == "first")
        log.expire(at: 100)
        #expect(log[1]?.state == .expired && log[1]?.body.isEmpty == true && log[2]?.body.isEmpty == true)
        #expect(log[3]?.body["text"] == "stays")
        // An edit that arrives later brings no text back.
        log.put(self.event(4, .edit, ref: 1, ["body": ["text": "late"]]), asOf: 4)
        #expect(log[4]?.body.isEmpty == true)
    }

    @Test func aReplyIsCountedAtTheFirstMessage() {
        var log = DeviceLog()
        log.put(self.event(1, .text, ["text": "root"]), asOf: 1)
        log.apply(self.event(2, .text, thread: 1, ["text": "reply"]))
        log.apply(self.event(3, .text, thread: 1, ["text": "reply"]))
        log.apply(self.event(3, .text, thread: 1, ["text": "reply"]))
        #expect(log[1]?.replies == ThreadSummary(count: 2, seq: 3))
    }
}
