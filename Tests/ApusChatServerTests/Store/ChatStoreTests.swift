import ApusChatProtocol
import ApusJSON
import Foundation
import GRDB
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

@Suite("The database's file and threads", .timeLimit(.minutes(1)))
struct ChatStoreTests {
    private static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Calls `body` with a new folder that all users may read.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test func theFilesAreTheOwnersAlsoInAnOpenFolder() async throws {
        try await self.withFolder { folder in
            let store = try ChatStore(directory: folder, logger: Self.logger, now: { 1 })
            try await store.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
            for name in ["chat.sqlite", "chat.sqlite-wal", "chat.sqlite-shm"] {
                let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(name)")
            }
            store.close()
            // An existing file is not truncated.
            let again = try ChatStore(directory: folder, logger: Self.logger, now: { 1 })
            #expect(try await again.read { db in try db.tableExists("t") })
            again.close()
        }
    }

    @Test func readsAboveTheMaximumAreRefusedAtOnce() async throws {
        try await self.withFolder { folder in
            let store = try ChatStore(directory: folder, readerThreads: 1, maximumPendingReads: 2, logger: Self.logger, now: { 1 })
            defer { store.close() }
            let gate = DispatchSemaphore(value: 0)
            let (answers, continuation) = AsyncStream.makeStream(of: Int.self)
            for number in 1...2 {
                store.read({ _ -> Int in
                    gate.wait()
                    return number
                }) { result in continuation.yield((try? result.get()) ?? -1) }
            }
            let refusal = NIOLockedValueBox<ChatError?>(nil)
            store.read({ _ in }) { result in if case .failure(let error) = result { refusal.withLockedValue { $0 = error } } }
            #expect(refusal.withLockedValue { $0 }?.code == .storage)
            for _ in 1...2 { gate.signal() }
            var iterator = answers.makeAsyncIterator()
            #expect(await iterator.next() == 1)
            #expect(await iterator.next() == 2)
            #expect(try await store.read { _ in 3 } == 3)
        }
    }

    /// A `sync` during a slow commit does not miss the message of that commit.
    @Test func whatASyncDoesNotSeeIsStampedNoEarlierThanItsTime() async throws {
        try await self.withFolder { folder in
            let time = NIOLockedValueBox<Int64>(1_000)
            let store = try ChatStore(directory: folder, logger: Self.logger, now: { time.withLockedValue { $0 } })
            defer { store.close() }
            try await Self.addUsers(store)
            let conv = ConversationID(unchecked: "pair")
            _ = try await store.write { db in
                try Conversations.open(
                    with: UserID(unchecked: "bobby"), by: UserID(unchecked: "alice"), newID: "pair", at: store.clock.stamp(), db)
            }
            #expect(store.clock.lastCommitted == 1_000)
            let meanwhile = try await store.write { db in
                let message = SendRequest(conv: conv, id: ClientID(unchecked: "m1"), kind: .text, body: ["text": "x"])
                _ = try ChatLog.send(message, from: UserID(unchecked: "alice"), at: store.clock.stamp(), db)
                // The disk is slow. A sync of bobby a minute later does not return the message yet.
                time.withLockedValue { $0 = 61_000 }
                return store.clock.lastCommitted
            }
            #expect(meanwhile == 1_000)
            let heads = try await store.read { db in try Conversations.heads(since: meanwhile, for: UserID(unchecked: "bobby"), db).heads }
            #expect(heads.map(\.n) == [1])
            #expect(store.clock.lastCommitted == 1_000)  // stamped in the transaction, before the disk
            let mark = try await store.write { db in
                try ChatLog.mark(MarkRequest(conv: conv, read: 1), by: UserID(unchecked: "bobby"), at: store.clock.stamp(), db)
            }
            #expect(mark.hasMoved && store.clock.lastCommitted == 61_000)
        }
    }

    @Test func stampsNeverRunBackAlsoOverARestart() async throws {
        try await self.withFolder { folder in
            let store = try ChatStore(directory: folder, logger: Self.logger, now: { 5_000 })
            try await Self.addUsers(store)
            _ = try await store.write { db in
                try Conversations.open(
                    with: UserID(unchecked: "bobby"), by: UserID(unchecked: "alice"), newID: "pair", at: store.clock.stamp(), db)
            }
            store.close()
            // The system clock was set back in the meantime.
            let again = try ChatStore(directory: folder, logger: Self.logger, now: { 4_000 })
            defer { again.close() }
            #expect(again.clock.lastCommitted == 5_000)
            #expect(again.clock.stamp() == 5_000)
        }
    }

    @Test func aStampOfACommitThatFailedIsNotCommitted() throws {
        let database = try DatabaseQueue()
        let clock = StoreClock(last: 10, now: { 20 })
        let fails = NIOLockedValueBox(true)
        let writer = StoreWriter(
            database: database, logger: Self.logger,
            commit: { db in
                if fails.withLockedValue({ $0 }) { throw DatabaseError(resultCode: .SQLITE_FULL) }
                try db.commit()
            }, didCommit: clock.didCommit)
        let job: StoreWriter.Job = (
            run: { _ in
                _ = clock.stamp()
                return {}
            }, failed: { _ in }
        )
        writer.perform([job])
        #expect(clock.lastCommitted == 10)
        fails.withLockedValue { $0 = false }
        writer.perform([job])
        #expect(clock.lastCommitted == 20)
    }

    private static func addUsers(_ store: ChatStore) async throws {
        try await store.write { db in
            for name in ["alice", "bobby"] {
                guard let userName = UserName(name) else { continue }
                _ = try AccountRows.insertUser(
                    UserID(unchecked: name), name: userName, display: name, password: PasswordHash(stored: "x"), at: 1, db)
            }
        }
    }
}
