import ApusChatStorage
import Foundation
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// The collected writes of the write-ahead log.
@Suite(.serialized) struct LogWritesTests {
    /// Counts the writes to the file of a log below the collecting methods, and makes them fail.
    private enum Probe {
        nonisolated(unsafe) static var original: UnsafePointer<sqlite3_io_methods>?
        nonisolated(unsafe) static var writes = 0
        nonisolated(unsafe) static var code = SQLITE_OK

        static func install(in file: UnsafeMutablePointer<sqlite3_file>) throws {
            let original = try #require(file.pointee.pMethods)
            self.original = original
            // The file uses the methods until it is closed.
            let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            methods.initialize(to: original.pointee)
            methods.pointee.xWrite = { file, bytes, count, offset in
                Probe.writes += 1
                return Probe.code == SQLITE_OK ? Probe.original?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_IOERR : Probe.code
            }
            file.pointee.pMethods = UnsafePointer(methods)
        }
    }

    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        (Probe.writes, Probe.code) = (0, SQLITE_OK)
    }

    private func open(cacheBytes: Int = 1 << 20) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(path: self.folder.path + "/test.sqlite", isReader: false, cacheBytes: cacheBytes)
        try connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value BLOB NOT NULL) STRICT")
        let file = try #require(connection.logFile)
        try Probe.install(in: file)
        LogWrites.collect(in: file)
        return connection
    }

    private func add(_ rows: Int, of bytes: Int, _ connection: SQLiteConnection) throws {
        let insert = try connection.prepare("INSERT INTO t (value) VALUES (randomblob(?1))")
        for _ in 0..<rows { try insert.with(Int64(bytes)).run() }
    }

    private func count(_ connection: SQLiteConnection) throws -> Int64 { try connection.prepare("SELECT count(*) FROM t").number() }

    /// Returns the number of rows that another process would find if this one ended now.
    private func countAfterAKill() throws -> Int64 {
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] { try self.folder.copy("test.sqlite" + suffix, to: copy) }
        let connection = try SQLiteConnection(path: copy.path + "/test.sqlite", isReader: false, cacheBytes: 1 << 20)
        #expect(try connection.prepare("PRAGMA integrity_check").first { $0.text(0) } == "ok")
        return try self.count(connection)
    }

    @Test func eachCommitIsInTheFiles() throws {
        let connection = try self.open()
        let reader = try SQLiteConnection(path: self.folder.path + "/test.sqlite", isReader: true, cacheBytes: 1 << 20)
        for (rows, bytes) in [(1, 1), (1, 20_000), (3, 90_000), (700, 900), (1, 1_000_000), (2, 5)] {
            let before = try self.count(connection)
            try connection.execute("BEGIN")
            try self.add(rows, of: bytes, connection)
            #expect(try self.count(reader) == before)
            try connection.execute("COMMIT")
            #expect(try self.count(connection) == before + Int64(rows))
            #expect(try self.count(reader) == before + Int64(rows))
            #expect(try self.countAfterAKill() == before + Int64(rows))
        }
    }

    /// A batch of a few pages is one write.
    @Test func theWritesOfACommitAreCollected() throws {
        let connection = try self.open()
        try self.add(1, of: 1, connection)
        Probe.writes = 0
        try self.add(1, of: 80_000, connection)
        #expect(Probe.writes == 1)
        try self.add(1, of: 400_000, connection)
        #expect((4...6).contains(Probe.writes), "\(Probe.writes) writes")
    }

    /// A transaction that is larger than the page cache writes to the log before its end, and reads
    /// what it has written.
    @Test(arguments: [true, false]) func aLargeTransactionReadsItsWrites(isCommitted: Bool) throws {
        let connection = try self.open(cacheBytes: 64 << 10)
        try self.add(10, of: 100, connection)
        try connection.execute("BEGIN")
        try self.add(2_000, of: 1_000, connection)
        #expect(Probe.writes > 10)
        try connection.execute("UPDATE t SET value = randomblob(1000) WHERE id % 3 = 0")
        #expect(try connection.prepare("SELECT sum(length(value)) FROM t").number() == 2_000 * 1_000 + 7 * 100 + 3 * 1_000)
        #expect(try self.countAfterAKill() == 10)
        try connection.execute(isCommitted ? "COMMIT" : "ROLLBACK")
        #expect(try self.count(connection) == (isCommitted ? 2_010 : 10))
        #expect(try self.countAfterAKill() == (isCommitted ? 2_010 : 10))
        try self.add(1, of: 1, connection)
        #expect(try self.countAfterAKill() == (isCommitted ? 2_011 : 11))
        #expect(try connection.prepare("PRAGMA integrity_check").first { $0.text(0) } == "ok")
    }

    /// A page that left the cache a moment ago is read although its write is still collected.
    @Test func aCollectedPageIsRead() throws {
        let connection = try self.open(cacheBytes: 64 << 10)
        try connection.execute("BEGIN")
        let read = try connection.prepare("SELECT length(value) FROM t WHERE id = ?1")
        for count: Int64 in stride(from: 100, through: 150, by: 10) {
            try self.add(count == 100 ? 100 : 10, of: 3_000, connection)
            for row in stride(from: count, to: count - 60, by: -1) { #expect(try read.with(row).number() == 3_000) }
        }
        try connection.execute("COMMIT")
        #expect(try self.countAfterAKill() == 150)
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | (3 << 8)]) func aFailedWriteFailsTheCommit(code: Int32) throws {
        let connection = try self.open()
        try self.add(3, of: 100, connection)
        Probe.code = code
        let error = #expect(throws: StorageError.self) { try self.add(1, of: 80_000, connection) }
        #expect(error?.code == (code == SQLITE_FULL ? .full : .io))
        Probe.code = SQLITE_OK
        #expect(try self.count(connection) == 3)
        #expect(try self.countAfterAKill() == 3)
        try self.add(2, of: 100, connection)
        #expect(try self.count(connection) == 5)
        #expect(try self.countAfterAKill() == 5)
    }

    @Test(arguments: [true, false]) func aCheckpointHasAllCommits(truncates: Bool) throws {
        do {
            let connection = try self.open()
            for _ in 0..<3 {
                try self.add(50, of: 3_000, connection)
                try connection.checkpoint(truncates: truncates)
                try self.add(1, of: 1, connection)
                try connection.execute("BEGIN")
                try self.add(1, of: 1, connection)
                try connection.execute("ROLLBACK")
            }
            #expect(try self.countAfterAKill() == 153)
        }
        #expect(try self.count(self.open()) == 153)
    }

    /// The storage collects the writes of synced commits only. Without a sync, other connections
    /// would see a commit before its pages are in the file.
    @Test(arguments: [true, false]) func onlySyncedCommitsAreCollected(isSynced: Bool) throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        environment.syncsCommits = isSynced
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock, environment: environment)
        let reads = try SQLiteReads(lock)
        _ = try reads.position()  // opens the log
        let plain = try #require(reads.connection.logFile?.pointee.pMethods)
        let file = try #require(storage.connection.logFile)
        #expect((file.pointee.pMethods == plain) != isSynced)
        try storage.recover()
        #expect((storage.connection.logFile?.pointee.pMethods == plain) != isSynced)
    }
}
