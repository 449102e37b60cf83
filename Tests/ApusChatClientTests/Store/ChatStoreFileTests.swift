import ApusChatCore
import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Foundation
import GRDB
import Testing

@testable import ApusChatClient

@Suite("Store: the file")
struct ChatStoreFileTests {
    private func path(_ body: (String) throws -> Void) throws {
        let path = Value.path()
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        try body(path)
    }

    private func code(_ body: () throws -> Void) -> ChatClientError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? ChatClientError)?.code }
    }

    @Test func aStoreIsForItsOwnerOnlyAndIsRemovedWithItsLog() throws {
        try self.path { path in
            let store = try ChatStore(path: path)
            _ = try store.apply([.head(Value.head(1))], of: Value.alice)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            store.close()
            try ChatStore.remove(path: path)
            for suffix in ["", "-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: path + suffix)) }
            try ChatStore.remove(path: path)  // a missing file is not an error
        }
    }

    @Test(arguments: ["not a database", "SQLite format 3\u{0}", String(repeating: "x", count: 10_000)])
    func anotherFileIsNotAStore(content: String) throws {
        try self.path { path in
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            #expect(self.code { _ = try ChatStore(path: path) } == .store)
            #expect(FileManager.default.contents(atPath: path) == Data(content.utf8))
        }
        #expect(self.code { _ = try ChatStore(path: "/nowhere/store.sqlite") } == .store)
    }

    @Test func aStoreOfALaterReleaseIsRefused() throws {
        try self.path { path in
            let store = try ChatStore(path: path)
            try store.write { try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99')") }
            store.close()
            #expect(self.code { _ = try ChatStore(path: path) } == .wrongStore)
        }
    }

    /// A store without threads, messages that disappear, and contacts. It can contain acknowledged
    /// messages that a restored server lacks.
    @Test func aStoreOfTheFirstReleaseIsBroughtUpToDate() throws {
        try self.path { path in
            let store = try ChatStore(path: path)
            var reply = Value.text(2, "a reply")
            reply.thread = 1
            var short = Value.text(3, "short-lived")
            short.expiresAt = 5_000
            _ = try store.apply(
                [.head(Value.head(3)), .events([Value.text(1, "needle"), reply, short]), .token(Value.token("t"))], of: Value.alice)
            for id in ["a", "b"] { try store.enqueue(OutboxEntry(request: Value.entry(id), at: 5)) }
            let answer = SendAnswer(conversation: Value.room, id: Value.id("a"), seq: 9, n: 9, at: 6)
            _ = try store.apply([.sent(Value.id("a"), answer)], of: Value.alice)
            #expect(try store.restored().acknowledged == [Value.id("a")])
            try store.write { database in
                for sql in [
                    "DROP INDEX event_thread", "DROP INDEX event_expires", "DROP TABLE contact", "ALTER TABLE event DROP COLUMN thread",
                    "ALTER TABLE event DROP COLUMN expires", "ALTER TABLE outbox DROP COLUMN unverified",
                    "ALTER TABLE outbox DROP COLUMN cited_ref", "ALTER TABLE outbox DROP COLUMN cited_thread",
                    "DELETE FROM grdb_migrations WHERE identifier <> '1'",
                ] { try database.execute(sql: sql) }
            }
            store.close()
            let again = try ChatStore(path: path, now: { 1_000 })
            #expect(try again.nextExpiry() == 5_000)
            let thread = try again.thread(1, of: Value.room, in: 1..<Int64.max, limit: 9, isNewest: true, me: Value.alice)
            #expect(thread.messages.map(\.event.seq) == [1, 2])
            #expect(try again.search(StoreQuery(text: "needle")).map(\.seq) == [1])
            let restored = try again.restored()
            #expect(
                restored.token == Value.token("t") && restored.unsent.map(\.id) == [Value.id("a"), Value.id("b")]
                    && restored.acknowledged.isEmpty && restored.cursors == [Value.room: 3])
            try again.save(contacts: [Contact(user: ChatUser(name: Value.bob), state: .friend, at: 1)])
            #expect(try again.contacts().map(\.user.name) == [Value.bob])
            again.close()
        }
    }

    @Test func writtenDataSurvivesARestart() throws {
        try self.path { path in
            let store = try ChatStore(path: path)
            let account = StoredAccount(
                server: "http://a", user: Value.alice, device: DeviceID(number: 1), access: "a", accessExpiresAt: .max, refresh: "r")
            try store.save(account)
            _ = try store.apply(
                [.head(Value.head(2)), .events([Value.text(1), Value.text(2)]), .epoch(Value.token("e"))], of: Value.alice)
            try store.save(draft: Draft(text: "unfinished", ref: nil, at: 1), in: Value.room)
            store.close()
            let again = try ChatStore(path: path)
            #expect(try again.account() == account)
            #expect(try again.restored().epoch == Value.token("e"))
            #expect(try again.draft(in: Value.room)?.text == "unfinished")
            #expect(try again.page(of: Value.room, before: nil, limit: 9, me: Value.alice).messages.count == 2)
            again.close()
        }
    }

    @Test(arguments: ["UPDATE event SET value = '{'", "UPDATE event SET value = '[]'", "UPDATE head SET value = 'x'", "DROP TABLE gap"])
    func damagedRowsAreErrors(sql: String) throws {
        let store = try ChatStore(path: ":memory:")
        _ = try store.apply([.head(Value.head(1)), .events([Value.text(1)])], of: Value.alice)
        try store.write { try $0.execute(sql: sql) }
        let found = [
            self.code { _ = try store.page(of: Value.room, before: nil, limit: 9, me: Value.alice) },
            self.code { _ = try store.restored() },
        ]
        #expect(found.contains(.store) && found.allSatisfy { $0 == nil || $0 == .store })
    }

    // MARK: Order of pages and pushes

    /// Pages, pushes, gaps and repetitions in any order result in the rows of the whole log.
    @Test(arguments: 0..<25)
    func anyOrderOfPagesAndPushesGivesTheLog(seed: UInt64) throws {
        var generator = SplitMix64(state: seed)
        let log = Self.log(40, &generator)
        let store = try ChatStore(path: ":memory:")
        func served(_ range: ClosedRange<Int64>, asOf: Int64) -> [ChatEvent] {
            range.map { seq in
                // The server has applied the changes up to `asOf` to the message and to its edits.
                let event = log[Int(seq) - 1]
                return log[..<Int(asOf)].reduce(event) { event, change in
                    let target = change.kind.isMessage ? change.thread : change.ref
                    let concerns =
                        target == event.seq || !change.kind.isMessage && target != nil && event.ref == target && !event.kind.isMessage
                    return concerns && change.seq > event.seq ? event.applying(change) : event
                }
            }
        }
        _ = try store.apply([.head(Value.head(40))], of: Value.alice)
        var end: Int64 = 0
        while end < 40 {
            let next = min(40, end + Int64.random(in: 1...4, using: &generator))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where end > 0:
                // A page of the history, served at some time after its events.
                let first = Int64.random(in: 1...end, using: &generator)
                let last = Int64.random(in: first...end, using: &generator)
                try store.insertHistory(served(first...last, asOf: end), mine: [], asOf: end)
            case 1 where end > 0:  // the same push again
                _ = try store.apply([.events([log[Int(end) - 1]])], of: Value.alice)
            case 2:  // a page of the end of the log
                _ = try store.apply([.events(served((end + 1)...next, asOf: next), asOf: next)], of: Value.alice)
                end = next
            default:  // pushes
                for seq in (end + 1)...next { _ = try store.apply([.events([log[Int(seq) - 1]])], of: Value.alice) }
                end = next
            }
        }
        let rows = try store.page(of: Value.room, before: nil, limit: 100, me: Value.alice).messages.map(\.event)
        let expected = served(1...40, asOf: 40).filter(\.isShown)
        #expect(rows.map(\.seq) == expected.map(\.seq))
        for (row, event) in zip(rows, expected) {
            #expect(row.state == event.state && row.body["text"] == event.body["text"], "#\(row.seq) of seed \(seed)")
            #expect(row.reactions == event.reactions && row.replies == event.replies, "#\(row.seq) of seed \(seed)")
        }
    }

    /// Returns a random log of messages, edits, recalls, reactions and replies of bob.
    private static func log(_ count: Int64, _ generator: inout SplitMix64) -> [ChatEvent] {
        var log: [ChatEvent] = []
        var reactions: Set<Int64> = []
        for seq in 1...count {
            let messages = log.filter { $0.kind.isMessage && $0.seq <= seq }
            let target = messages.isEmpty ? nil : messages[Int.random(in: messages.indices, using: &generator)].seq
            switch (Int.random(in: 0..<8, using: &generator), target) {
            case (0, let ref?): log.append(Value.change(.edit, seq, of: ref, ["body": ["text": .string("edit \(seq)")]]))
            case (1, let ref?): log.append(Value.change(.recall, seq, of: ref))
            case (2, let ref?):
                let isRemoval = !reactions.insert(ref).inserted
                if isRemoval { reactions.remove(ref) }
                log.append(Value.change(.react, seq, of: ref, isRemoval ? ["key": "👍", "remove": true] : ["key": "👍"]))
            case (3, let root?):
                var reply = Value.text(seq, "reply \(seq)")
                reply.thread = root
                log.append(reply)
            default: log.append(Value.text(seq, "text \(seq)"))
            }
        }
        return log
    }

    // MARK: Waiting messages

    @Test func waitingMessagesKeepTheirOrder() throws {
        let store = try ChatStore(path: ":memory:")
        for id in ["b", "a", "c"] { try store.enqueue(OutboxEntry(request: Value.entry(id, "text \(id)"), at: 1)) }
        #expect(try store.unsent(in: Value.room).map(\.request.id.rawValue) == ["b", "a", "c"])
        #expect(self.code { try store.enqueue(OutboxEntry(request: Value.entry("a"), at: 1)) } == .store)  // an id is used once
        try store.discard(Value.id("a"))
        #expect(try store.restored().unsent.map(\.id.rawValue) == ["b", "c"])
        // Only a refused message gets a new id. It keeps its place.
        #expect(try store.requeue(Value.id("b"), as: Value.id("d"), at: 2) == nil)
        _ = try store.apply([.refused(Value.id("b"), ChatError(.limit, message: "full"))], of: Value.alice)
        #expect(try store.requeue(Value.id("b"), as: Value.id("d"), at: 2)?.at == 2)
        #expect(try store.restored().unsent.map(\.id.rawValue) == ["d", "c"])
        #expect(try store.requeue(Value.id("none"), as: Value.id("e"), at: 2) == nil && store.entry(Value.id("none")) == nil)
    }

    @Test func anUploadIsResumedWhereItWas() throws {
        let store = try ChatStore(path: ":memory:")
        let upload = OutboxUpload(file: "/a/b.png", type: "image/png", size: 9)
        try store.enqueue(OutboxEntry(request: Value.entry("a"), at: 1, state: .uploading, upload: upload))
        try store.setLocation("/api/uploads/1", of: Value.id("a"))
        let found = try #require(try store.entry(Value.id("a")))
        #expect(found.state == .uploading && found.upload?.location == "/api/uploads/1" && found.upload?.size == 9)
        try store.setLocation(nil, of: Value.id("a"))
        #expect(try store.entry(Value.id("a"))?.upload?.location == nil)
        try store.uploaded(Value.entry("a", "with its blob"))
        let uploaded = try #require(try store.entry(Value.id("a")))
        #expect(uploaded.state == .queued && uploaded.upload == upload && uploaded.request.body["text"] == "with its blob")
    }

    @Test func anAcknowledgementAfterTheEventRemovesTheEntry() throws {
        let store = try ChatStore(path: ":memory:")
        try store.enqueue(OutboxEntry(request: Value.entry("a"), at: 1))
        _ = try store.apply([.events([Value.text(1, by: Value.bob, id: "other")])], of: Value.alice)
        let answer = SendAnswer(conversation: Value.room, id: Value.id("a"), seq: 1, n: 1, at: 9)
        _ = try store.apply([.sent(Value.id("a"), answer)], of: Value.alice)
        #expect(try store.entry(Value.id("a")) == nil)
    }
}
