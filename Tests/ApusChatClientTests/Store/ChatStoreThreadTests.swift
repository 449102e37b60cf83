import ApusChatCore
import ApusChatProtocol
import Testing

@testable import ApusChatClient

@Suite("Store: threads and receipts")
struct ChatStoreThreadTests {
    let store: ChatStore

    init() throws { self.store = try ChatStore(path: ":memory:") }

    @discardableResult
    private func apply(_ changes: StoreChange...) throws -> StoreEffects { try self.store.apply(changes, of: Value.alice) }

    private func reply(_ seq: Int64, to root: Int64 = 1) -> ChatEvent {
        var event = Value.text(seq)
        event.thread = root
        return event
    }

    private func thread(_ range: Range<Int64> = 1..<Int64.max, limit: Int = 50, isNewest: Bool = true) throws -> ChatStore.Thread {
        try self.store.thread(1, of: Value.room, in: range, limit: limit, isNewest: isNewest, me: Value.alice)
    }

    @Test func aReplyIsCountedInTheMessageThatBeganItsThread() throws {
        try self.apply(.head(Value.head(1)), .events([Value.text(1)]))
        let effects = try self.apply(.events([Value.text(2), self.reply(3), self.reply(4)]))
        #expect(effects.events[Value.room] == [1, 2, 3, 4])
        try self.apply(.events([self.reply(4)]))
        let first = try self.store.messages([1], in: Value.room, me: Value.alice).first
        #expect(first?.event.replies == ThreadSummary(count: 2, seq: 4))
    }

    @Test func aServedMessageHasCountedItsReplies() throws {
        var served = Value.text(1)
        served.replies = ThreadSummary(count: 1, seq: 2)
        try self.apply(.events([served], asOf: 2))
        try self.apply(.events([self.reply(2)]), .events([self.reply(3)]))
        let first = try self.store.messages([1], in: Value.room, me: Value.alice).first
        #expect(first?.event.replies == ThreadSummary(count: 2, seq: 3))
    }

    @Test func aStoredThreadPagesBothWays() throws {
        try self.apply(.head(Value.head(20)), .events((1...20).map { $0 % 2 == 1 && $0 > 1 ? self.reply($0) : Value.text($0) }))
        #expect(try self.thread().isComplete)
        #expect(try self.thread(limit: 3).messages.map(\.event.seq) == [15, 17, 19])
        #expect(try self.thread(1..<15, limit: 2).messages.map(\.event.seq) == [11, 13])
        #expect(try self.thread(1..<Int64.max, limit: 3, isNewest: false).messages.map(\.event.seq) == [1, 3, 5])
        #expect(try self.thread(6..<Int64.max, limit: 2, isNewest: false).messages.map(\.event.seq) == [7, 9])
    }

    @Test func repliesFromTheServerLeaveGaps() throws {
        try self.apply(.head(Value.head(100)), .events((90...100).map { Value.text($0) }))
        var first = Value.text(1)
        first.replies = ThreadSummary(count: 2, seq: 60)
        try self.store.insertThread([first, self.reply(40), self.reply(60)], mine: [], asOf: 100)
        #expect(try self.thread().messages.map(\.event.seq) == [1, 40, 60])
        #expect(try !self.thread().isComplete)
        // The conversation is still shown only down to the first gap in its log.
        let page = try self.store.page(of: Value.room, before: nil, limit: 50, me: Value.alice)
        #expect(page.messages.first?.event.seq == 90)
        #expect(page.missingBefore == 90)
        try self.store.insertHistory((61...89).map { Value.text($0) }, mine: [], asOf: 100)
        #expect(try self.store.page(of: Value.room, before: nil, limit: 50, me: Value.alice).messages.first?.event.seq == 60)
        // A reply beyond the end of the log does not move that end.
        try self.store.insertThread([self.reply(120)], mine: [], asOf: 120)
        #expect(try self.store.newestSeq(of: Value.room) == 100)
    }

    @Test func receiptsCountTheOtherMembers() throws {
        var head = Value.head(3, kind: .group)
        head.members = 4
        try self.apply(.head(head), .events([Value.text(1, by: Value.alice), Value.text(2), Value.text(3, by: Value.alice)]))
        func mark(_ user: String, read: Int64? = nil, received: Int64? = nil) throws {
            try self.apply(.peerRead(ReadMark(conversation: Value.room, user: Value.name(user), read: read, received: received)))
        }
        func own(_ seq: Int64) throws -> ChatMessage? { try self.store.messages([seq], in: Value.room, me: Value.alice).first }
        #expect(try own(1)?.delivery == .sent)
        try mark("bob", read: 3)
        try mark("carol", received: 3)
        try mark("dave", read: 1)
        #expect(try own(1)?.receipts == MessageReceipts(members: 3, delivered: 3, read: 2))
        #expect(try own(1)?.delivery == .delivered)
        #expect(try own(3)?.delivery == .sent)
        try mark("carol", read: 1)
        #expect(try own(1)?.delivery == .read)
        // A list of members also contains the `received` positions.
        let list = [Value.alice, Value.bob, Value.name("carol"), Value.name("dave")].map {
            ChatMember(user: ChatUser(name: $0), role: .member, since: 1, read: 1, received: 3)
        }
        try self.store.save(members: list, of: Value.room)
        #expect(try own(3)?.delivery == .delivered)
        // A complete list removes the members who left.
        let members = [Value.alice, Value.bob, Value.name("carol")].map {
            ChatMember(user: ChatUser(name: $0), role: .member, since: 1, read: 3)
        }
        head.members = 3
        try self.apply(.head(head))
        try self.store.save(members: members, of: Value.room)
        #expect(try own(3)?.receipts == MessageReceipts(members: 2, delivered: 2, read: 2))
        // The server sends no positions of the members of a large group.
        head.members = 101
        try self.apply(.head(head))
        #expect(try own(3)?.receipts == nil && own(3)?.delivery == .sent)
    }
}
