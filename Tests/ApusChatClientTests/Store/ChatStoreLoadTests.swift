import ApusChatCore
import ApusChatProtocol
import ApusJSON
import GRDB
import Testing

@testable import ApusChatClient

/// A store without free space, and a store that several tasks use at the same time.
@Suite("Store: a full disk and concurrent use", .timeLimit(.minutes(5)))
struct ChatStoreLoadTests {
    private let store: ChatStore

    init() throws { self.store = try ChatStore(path: ":memory:") }

    private func rows(_ limit: Int = 1_000) throws(ChatClientError) -> [Int64] {
        try self.store.page(of: Value.room, before: nil, limit: limit, me: Value.alice).messages.map(\.event.seq)
    }

    // MARK: A full disk

    @Test func aTransactionThatDoesNotFitIsNotStoredInPart() throws {
        _ = try self.store.apply([.head(Value.head(1)), .events([Value.text(1)])], of: Value.alice)
        try self.store.limitPages(to: 1)
        let long = String(repeating: "long ", count: 20_000)
        let error = #expect(throws: ChatClientError.self) {
            try self.store.apply(
                [.head(Value.head(3)), .events([Value.text(2)]), .events([Value.text(3, long)]), .token(Value.token("t"))], of: Value.alice)
        }
        #expect(error?.code == .store && error?.message.contains("full") == true)
        #expect(try self.rows() == [1])
        let restored = try self.store.restored()
        #expect(restored.heads.map(\.seq) == [1] && restored.cursors == [Value.room: 1] && restored.token == nil)
        #expect(try self.store.search(StoreQuery(text: "long")).isEmpty)
        // The same changes succeed when there is space.
        try self.store.limitPages(to: nil)
        _ = try self.store.apply([.events([Value.text(2)]), .events([Value.text(3, long)])], of: Value.alice)
        #expect(try self.rows() == [1, 2, 3])
    }

    /// A message that cannot be stored is not unsent, and the draft of its text remains.
    @Test func aMessageThatDoesNotFitKeepsItsDraft() throws {
        let draft = Draft(text: "unfinished", ref: nil, at: 1)
        try self.store.save(draft: draft, in: Value.room)
        try self.store.limitPages(to: 1)
        let entry = OutboxEntry(request: Value.entry("a", String(repeating: "x", count: 100_000)), at: 2)
        #expect(throws: ChatClientError.self) { try self.store.enqueue(entry, draft: Draft(text: "", ref: nil, at: 3)) }
        #expect(try self.store.unsent(in: Value.room).isEmpty && self.store.draft(in: Value.room) == draft)
        try self.store.limitPages(to: nil)
        try self.store.enqueue(entry)
        #expect(try self.store.unsent(in: Value.room).count == 1 && self.store.draft(in: Value.room) == nil)
    }

    /// The tokens of a session are those before the failed write.
    @Test func anAccountThatDoesNotFitKeepsItsTokens() throws {
        var account = StoredAccount(
            server: "http://a", user: Value.alice, device: DeviceID(number: 1), access: "a", accessExpiresAt: 1, refresh: "r")
        try self.store.save(account)
        let stored = account
        try self.store.limitPages(to: 1)
        account.access = String(repeating: "a", count: 100_000)
        account.refresh = "r2"
        let changed = account
        #expect(throws: ChatClientError.self) { try self.store.save(changed) }
        #expect(try self.store.account() == stored)
    }

    // MARK: Concurrent use

    /// A reader sees whole transactions: each has a text and the reaction to the one before.
    @Test func readersSeeWholeTransactions() async throws {
        _ = try self.store.apply([.head(Value.head(0))], of: Value.alice)
        let store = self.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for step in Int64(0)..<40 {
                    let seq = 2 * step + 1
                    let changes: [StoreChange] = [
                        .events([Value.text(seq, n: step + 1)]), .events([Value.change(.react, seq + 1, of: seq, ["key": "👍"])]),
                    ]
                    _ = try store.apply(changes, of: Value.alice)
                    await Task.yield()
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    var last = 0
                    while last < 40 {
                        let page = try store.page(of: Value.room, before: nil, limit: 1_000, me: Value.alice)
                        let rows = page.messages.map(\.event)
                        let expected = rows.indices.map { Int64(2 * $0 + 1) }
                        #expect(rows.map(\.seq) == expected, "reader \(reader)")
                        #expect(rows.allSatisfy { $0.reactions.map(\.count) == [1] }, "reader \(reader)")
                        #expect(rows.count >= last, "reader \(reader)")
                        last = rows.count
                        #expect(try store.search(StoreQuery(text: "text", limit: 1_000)).count >= last)
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// An access to a store that closes at the same time succeeds or throws `closed`.
    @Test func aCloseDuringAccessesIsReported() async throws {
        _ = try self.store.apply([.events((1...50).map { Value.text($0) })], of: Value.alice)
        let store = self.store
        let codes = await withTaskGroup(of: ChatClientError.Code?.self) { group in
            for task in 0..<40 {
                group.addTask {
                    if task == 20 {
                        store.close()
                        return nil
                    }
                    do throws(ChatClientError) {
                        if task.isMultiple(of: 2) {
                            #expect(try store.page(of: Value.room, before: nil, limit: 100, me: Value.alice).messages.count == 50)
                        } else {
                            try store.save(draft: Draft(text: "\(task)", ref: nil, at: 1), in: Value.room)
                        }
                        return nil
                    } catch { return error.code }
                }
            }
            return await group.reduce(into: [ChatClientError.Code]()) { if let code = $1 { $0.append(code) } }
        }
        #expect(codes.allSatisfy { $0 == .closed }, "\(codes)")
        #expect(throws: ChatClientError.closed) { try self.rows() }
    }

    // MARK: Positions

    /// The position of a message is at least its ordinal. Changes have no ordinal.
    @Test func aMessageIsFoundByItsOrdinal() throws {
        let events = [
            Value.text(1, n: 1), Value.change(.react, 2, of: 1, ["key": "👍"]), Value.change(.pin, 3, of: 1), Value.text(4, n: 2),
            ChatEvent.hidden(conversation: Value.room, seq: 5, n: 3), Value.text(6, n: 4), Value.change(.edit, 7, of: 1, ["body": [:]]),
            Value.text(8, n: 5),
        ]
        _ = try self.store.apply([.events(events)], of: Value.alice)
        let found = try (0...6).map { try self.store.seq(ofMessage: Int64($0), in: Value.room) }
        #expect(found == [nil, 1, 4, nil, 6, 8, nil])
        #expect(try self.store.seq(ofMessage: 1, in: Value.other) == nil)
    }

    @Test func messagesAreReadInTheOrderOfTheLog() throws {
        let events = (1...4).map { Value.text($0) } + [Value.change(.react, 5, of: 1, ["key": "👍"]), Value.text(6)]
        _ = try self.store.apply([.events(events)], of: Value.alice)
        let found = try self.store.messages([6, 2, 5, 4, 99, 0], in: Value.room, me: Value.alice)
        #expect(found.map(\.event.seq) == [2, 4, 6], "a change has no row")
        #expect(try self.store.messages([], in: Value.room, me: Value.alice).isEmpty)
        #expect(try self.store.messages([1], in: Value.other, me: Value.alice).isEmpty)
    }

    // MARK: Receipts

    @Test(
        arguments: [
            (.pair, 2, true, true), (.pair, 500, false, true), (.group, 2, true, true), (.group, 100, true, true),
            (.group, 101, true, false), (.group, 3, false, false), (.channel, 2, true, false), (.own, 1, true, false),
        ] as [(ConversationKind, Int64, Bool, Bool)])
    func receiptsAreShownInPairsAndSmallGroups(kind: ConversationKind, members: Int64, setting: Bool, tells: Bool) {
        var head = Value.head(1, kind: kind)
        head.members = members
        head.settings = ConversationSettings()
        head.settings?.receipts = setting
        #expect(head.tellsReceipts == tells)
        head.settings = nil
        #expect(head.tellsReceipts == (tells || kind == .group && members <= 100), "without settings, the default applies")
    }

    /// The stored positions can contain more members than the head, and messages without an
    /// ordinal have no receipts.
    @Test func receiptsAreBoundedByTheMembers() {
        let receipts = Receipts(members: 2, positions: [(5, 5), (6, 6), (0, 9), (9, 9)])
        #expect(receipts.of(message: 5) == MessageReceipts(members: 2, delivered: 2, read: 2))
        #expect(receipts.of(message: 7) == MessageReceipts(members: 2, delivered: 2, read: 1))
        #expect(receipts.of(message: 10) == MessageReceipts(members: 2, delivered: 0, read: 0))
        #expect(receipts.of(message: 0) == nil && receipts.of(message: -1) == nil && Receipts().of(message: 1) == nil)
    }
}

extension ChatStore {
    /// Limits the size of the database, as a full disk does; nil removes the limit. SQLite does not
    /// accept a limit below the present size.
    func limitPages(to pages: Int?) throws(ChatClientError) {
        try self.read { _ = try Int.fetchOne($0, sql: "PRAGMA max_page_count = \(pages ?? 1_000_000)") }
    }
}
