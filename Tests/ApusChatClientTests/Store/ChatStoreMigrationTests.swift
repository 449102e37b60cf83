import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Foundation
import GRDB
import Testing

@testable import ApusChatClient

/// Stores of each earlier release, and migrations that fail.
@Suite("Store: migrations")
struct ChatStoreMigrationTests {
    private func with(_ body: (String) throws -> Void) throws {
        let path = Value.path()
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        try body(path)
    }

    /// The statements that undo the changes of a migration to the schema.
    private static let reversals: [Int: [String]] = [
        2: [
            "DROP INDEX event_thread", "DROP INDEX event_expires", "DROP TABLE contact", "ALTER TABLE event DROP COLUMN thread",
            "ALTER TABLE event DROP COLUMN expires",
        ],
        5: [
            "ALTER TABLE outbox DROP COLUMN unverified", "ALTER TABLE outbox DROP COLUMN cited_ref",
            "ALTER TABLE outbox DROP COLUMN cited_thread",
        ],
    ]

    /// Fills a store and makes it one of an earlier release.
    private func write(release: Int, at path: String) throws {
        let store = try ChatStore(path: path)
        var reply = Value.text(2, "a reply")
        reply.thread = 1
        var short = Value.text(3, "short-lived")
        short.expiresAt = 5_000
        let hidden = ChatEvent.hidden(conversation: Value.room, seq: 4, n: 4)
        _ = try store.apply(
            [.head(Value.head(4)), .events([Value.text(1, "needle"), reply, short, hidden]), .token(Value.token("t"))], of: Value.alice)
        for id in ["a", "b"] { try store.enqueue(OutboxEntry(request: Value.entry(id), at: 5)) }
        let answer = SendAnswer(conversation: Value.room, id: Value.id("a"), seq: 9, n: 9, at: 6)
        _ = try store.apply([.sent(Value.id("a"), answer)], of: Value.alice)
        try store.save(draft: Draft(text: "unfinished", ref: 1, at: 7), in: Value.room)
        try store.write { database in
            for migration in 1...5 where migration > release {
                for sql in Self.reversals[migration] ?? [] { try database.execute(sql: sql) }
                try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: ["\(migration)"])
            }
            // The first releases showed a row for a hidden event.
            if release < 3 { try database.execute(sql: "UPDATE event SET shown = 1 WHERE kind = 'hidden'") }
        }
        store.close()
    }

    @Test(arguments: 1...5) func aStoreOfEachReleaseIsBroughtUpToDate(release: Int) throws {
        try self.with { path in
            try self.write(release: release, at: path)
            let store = try ChatStore(path: path, now: { 1_000 })
            let page = try store.page(of: Value.room, before: nil, limit: 9, me: Value.alice)
            #expect(page.messages.map(\.event.seq) == [1, 2, 3], "a hidden event has no row")
            #expect(try store.nextExpiry() == 5_000)
            let thread = try store.thread(1, of: Value.room, in: 1..<Int64.max, limit: 9, isNewest: true, me: Value.alice)
            #expect(thread.messages.map(\.event.seq) == [1, 2])
            #expect(try store.search(StoreQuery(text: "needle")).map(\.seq) == [1])
            // An acknowledgement of an early release may be that of a restored server.
            #expect(try store.entry(Value.id("a"))?.state == (release < 4 ? .queued : .sent))
            #expect(try store.restored().unsent.map(\.id) == [Value.id("a"), Value.id("b")])
            #expect(try store.unsent(in: Value.room).allSatisfy { $0.cited == nil })
            #expect(try store.draft(in: Value.room) == Draft(text: "unfinished", ref: 1, at: 7))
            #expect(try store.restored().cursors == [Value.room: 4] && store.restored().token == Value.token("t"))
            try store.save(contacts: [Contact(user: ChatUser(name: Value.bob), state: .friend, at: 1)])
            store.close()
            // The second start has nothing to migrate.
            let again = try ChatStore(path: path)
            #expect(try again.contacts().count == 1 && again.restored().unsent.count == 2)
            again.close()
        }
    }

    /// A migration that fails leaves the tables of the release before, and is repeated.
    @Test func aMigrationThatFailsChangesNothing() throws {
        try self.with { path in
            try self.write(release: 1, at: path)
            func run(_ sql: String) throws {
                let database = try DatabaseQueue(path: path)
                try database.write { try $0.execute(sql: sql) }
                try database.close()
            }
            // The last statement of the second migration creates this table.
            try run("CREATE TABLE contact (x)")
            for _ in 0..<2 {
                let error = #expect(throws: ChatClientError.self) { _ = try ChatStore(path: path) }
                #expect(error?.code == .store)
            }
            try run("DROP TABLE contact")
            let store = try ChatStore(path: path, now: { 1_000 })
            #expect(try store.nextExpiry() == 5_000 && store.restored().unsent.count == 2)
            store.close()
        }
    }

    /// The tables of another program are kept.
    @Test func aDatabaseWithOtherTablesIsNotChanged() throws {
        try self.with { path in
            let database = try DatabaseQueue(path: path)
            try database.write { try $0.execute(sql: "CREATE TABLE meta (other TEXT); INSERT INTO meta VALUES ('kept')") }
            try database.close()
            #expect(throws: ChatClientError.self) { _ = try ChatStore(path: path) }
            let again = try DatabaseQueue(path: path)
            #expect(try again.read { try String.fetchAll($0, sql: "SELECT other FROM meta") } == ["kept"])
            try again.close()
        }
    }

    // MARK: Damage

    /// A file that was cut off is an error of the store or has the rows of a whole store.
    @Test(arguments: [15, 16, 99, 100, 101, 511, 512, 4_095, 4_096, 4_097, 8_192, 12_288, 20_480])
    func aTruncatedFileIsAnErrorOrWhole(length: Int) throws {
        try self.with { path in
            try self.write(release: 5, at: path)
            let bytes = try #require(FileManager.default.contents(atPath: path))
            #expect(bytes.count > length)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try bytes.prefix(length).write(to: URL(fileURLWithPath: path))
            do throws(ChatClientError) {
                let store = try ChatStore(path: path)
                defer { store.close() }
                let page = try store.page(of: Value.room, before: nil, limit: 9, me: Value.alice)
                _ = try store.restored()
                Issue.record("a store of \(length) bytes has \(page.messages.count) rows")
            } catch { #expect(error.code == .store, "\(error)") }
        }
    }

    /// A log that was cut off loses whole transactions, newest first.
    @Test func aTruncatedLogKeepsTheTransactionsBefore() throws {
        try self.with { path in
            let store = try ChatStore(path: path)
            for seq in Int64(1)...20 { _ = try store.apply([.events([Value.text(seq)])], of: Value.alice) }
            let (file, log) = (FileManager.default.contents(atPath: path), FileManager.default.contents(atPath: path + "-wal"))
            store.close()
            let bytes = try #require(log)
            var counts: [Int] = []
            for part in [0, 1, 2, 3, 4] {
                try #require(file).write(to: URL(fileURLWithPath: path))
                try? FileManager.default.removeItem(atPath: path + "-shm")
                try bytes.prefix(bytes.count * part / 4).write(to: URL(fileURLWithPath: path + "-wal"))
                let again = try ChatStore(path: path)
                let rows = try again.page(of: Value.room, before: nil, limit: 50, me: Value.alice).messages
                let expected = rows.indices.map { Int64($0 + 1) }
                #expect(rows.map(\.event.seq) == expected, "the oldest transactions")
                #expect(try again.newestSeq(of: Value.room) == again.restored().cursors[Value.room], "the cursor matches the events")
                counts.append(rows.count)
                again.close()
            }
            #expect(counts == counts.sorted() && counts.first == 0 && counts.last == 20)
        }
    }
}
