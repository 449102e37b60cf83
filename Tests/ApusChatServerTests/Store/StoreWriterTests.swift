import ApusChatProtocol
import Foundation
import GRDB
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

/// A record of calls in order.
private final class Record: Sendable {
    private let lines = NIOLockedValueBox<[String]>([])
    func note(_ line: String) { self.lines.withLockedValue { $0.append(line) } }
    var all: [String] { self.lines.withLockedValue { $0 } }
}

@Suite("Group commit")
struct StoreWriterTests {
    private let record = Record()
    private let database: DatabaseQueue

    init() throws {
        self.database = try DatabaseQueue()
        try self.database.write { db in try db.execute(sql: "CREATE TABLE t (x INTEGER PRIMARY KEY)") }
    }

    private func writer(commit: @escaping @Sendable (Database) throws -> Void = { try $0.commit() }) -> StoreWriter {
        let record = self.record
        return StoreWriter(database: self.database, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })) { db in
            record.note("commit")
            try commit(db)
        }
    }

    private func insert(_ x: Int, refuse: Bool = false) -> StoreWriter.Job {
        let record = self.record
        return (
            run: { db in
                try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [x])
                if refuse { throw ChatError(.forbidden, message: "") }
                record.note("run \(x)")
                return { record.note("ack \(x)") }
            },
            failed: { record.note("failed \(x) \($0.code)") }
        )
    }

    private func rows() throws -> [Int] { try self.database.read { db in try Int.fetchAll(db, sql: "SELECT x FROM t ORDER BY x") } }

    @Test func acksComeAfterOneCommitInOrder() throws {
        self.writer().perform([self.insert(1), self.insert(2), self.insert(3)])
        #expect(self.record.all == ["run 1", "run 2", "run 3", "commit", "ack 1", "ack 2", "ack 3"])
    }

    @Test func aRefusedJobTakesNothingOfItsNeighbours() throws {
        self.writer().perform([self.insert(1), self.insert(2, refuse: true), self.insert(3)])
        #expect(self.record.all == ["run 1", "run 3", "commit", "ack 1", "failed 2 forbidden", "ack 3"])
        #expect(try self.rows() == [1, 3])
    }

    @Test func aConstraintFailsOnlyItsJob() throws {
        self.writer().perform([self.insert(1), self.insert(1), self.insert(2)])
        #expect(self.record.all == ["run 1", "run 2", "commit", "ack 1", "failed 1 internal", "ack 2"])
    }

    @Test func aFullDiskAcknowledgesNothing() throws {
        let isFull = NIOLockedValueBox(true)
        let writer = self.writer { db in
            if isFull.withLockedValue({ $0 }) { throw DatabaseError(resultCode: .SQLITE_FULL) }
            try db.commit()
        }
        writer.perform([self.insert(1), self.insert(2, refuse: true)])
        #expect(self.record.all == ["run 1", "commit", "failed 1 storage", "failed 2 storage"])
        #expect(try self.rows() == [])
        isFull.withLockedValue { $0 = false }
        writer.perform([self.insert(3)])
        #expect(self.record.all.suffix(1) == ["ack 3"])
        #expect(try self.rows() == [3])
    }

    @Test func afterAnIOErrorNothingIsWrittenAnyMore() throws {
        let writer = self.writer { _ in throw DatabaseError(resultCode: .SQLITE_IOERR) }
        writer.perform([self.insert(1)])
        writer.perform([self.insert(2)])
        writer.submit(self.insert(3))
        #expect(self.record.all == ["run 1", "commit", "failed 1 storage", "failed 2 storage", "failed 3 storage"])
        #expect(try self.rows() == [])
    }

    @Test func aFullDiskInTheMiddleFailsTheWholeBatch() throws {
        let record = self.record
        let full: StoreWriter.Job = (
            run: { _ in throw DatabaseError(resultCode: .SQLITE_FULL) }, failed: { record.note("failed \($0.code)") }
        )
        self.writer().perform([self.insert(1), full])
        #expect(record.all == ["run 1", "failed 1 storage", "failed storage"])
        #expect(try self.rows() == [])
    }

    @Test func stoppingCommitsWhatIsQueuedAndRefusesTheRest() throws {
        let writer = self.writer()
        for x in 1...20 { writer.submit(self.insert(x)) }
        writer.start()
        writer.stop()
        writer.submit(self.insert(99))
        #expect(try self.rows() == Array(1...20))
        #expect(self.record.all.filter { $0 == "commit" }.count == 1)  // one commit for all queued jobs
        #expect(self.record.all.last == "failed 99 storage")
    }

    @Test func theFileIsOpenedDurablyAndReopened() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let store = try ChatStore(directory: folder, logger: logger, now: { 1 })
        let pragmas = try await store.write { db in
            [try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "", "\(try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1)"]
        }
        #expect(pragmas == ["wal", "2"])
        try await store.write { db in try db.execute(sql: "INSERT INTO user VALUES ('a', 'Alice', 'alice', 'A', 'a', 'x', 1, 0)") }
        store.close()
        let again = try ChatStore(directory: folder, logger: logger, now: { 1 })
        #expect(try await again.read { db in try Users.user(UserID(unchecked: "a"), db) }?.name == "Alice")
        try await again.write { db in try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999: from the future')") }
        again.close()
        #expect(throws: ChatStoreError.self) { try ChatStore(directory: folder, logger: logger, now: { 1 }) }
    }
}
