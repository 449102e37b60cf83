import ApusChatProtocol
import ApusChatStorage
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// Failures of single calls to the file of the write-ahead log, as of a full or faulty disk.
/// Whatever call fails, a batch is stored completely or not at all, and the storage works again
/// after the failure.
@Suite struct FileFaultTests {
    /// A storage whose log is written without `LogWrites`, so that each page is one call.
    private struct Disk {
        let folder: TemporaryFolder
        let storage: SQLiteStorage
        let key = ConversationKey(1)
        let user = UserKey(1)

        init(cacheBytes: Int = 1 << 20) throws {
            let folder = try TemporaryFolder()
            var environment = SQLiteEnvironment()
            (environment.syncsCommits, environment.writerCacheBytes) = (false, cacheBytes)
            environment.checkpointPages = 1
            self.folder = folder
            self.storage = try folder.open(environment)
            var changes = Changes()
            let row = ConversationRow(key: self.key, kind: .group, createdAt: 1, settings: ConversationSettings())
            changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)]
            changes.members = [MemberRow(address: MemberAddress(self.key, self.user), role: .owner, state: .joined)]
            _ = try self.storage.begin(Needs())
            _ = try self.storage.commit(changes)
            try self.storage.connection.execute("PRAGMA synchronous = FULL")
        }

        func fault() throws -> FileFault { try FileFault(in: self.storage.connection.logFile) }

        var last: Int64 { get throws { try self.storage.connection.prepare("SELECT last_seq FROM counter WHERE slot = 1").number() } }

        var seqs: [Int64] { get throws { try self.storage.events(in: self.key, .from(1), as: self.user, limit: 9_999).map(\.seq) } }

        /// Sends messages in one batch.
        func send(_ count: Int64, after last: Int64, bytes: Int = 2) throws {
            var changes = Changes()
            var counters = ConversationCounters()
            (counters.lastSeq, counters.lastN) = (last + count, last + count)
            changes.conversations = [ConversationChange(key: self.key, counters: counters)]
            changes.events = (last + 1...last + count).map {
                EventRow(
                    conversation: self.key, seq: $0, n: $0, sender: self.user, at: $0, kind: .text,
                    body: String(repeating: "x", count: bytes))
            }
            var needs = Needs()
            needs.conversations = [self.key]
            _ = try self.storage.begin(needs)
            _ = try self.storage.commit(changes)
        }
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Expects that a storage has whole batches only and accepts another one.
    private func expectWhole(_ disk: Disk, _ comment: Comment) throws {
        let last = try disk.last
        #expect(try disk.seqs == Array(stride(from: 1, through: last, by: 1)), comment)
        try disk.send(1, after: last)
        #expect(try disk.last == last + 1 && disk.storage.check().isEmpty, comment)
    }

    /// Each write of a batch fails once.
    @Test(arguments: [(SQLITE_FULL, StorageError.Code.full), (SQLITE_IOERR | (3 << 8), .io)])
    func eachWriteOfABatchCanFail(code: Int32, expected: StorageError.Code) throws {
        var failures = 0
        for delay in 0..<200 {
            let disk = try Disk(cacheBytes: 32 << 10)
            try disk.send(3, after: 0)
            let fault = try disk.fault()
            (fault.failing, fault.code, fault.delay) = (.write, code, delay)
            let found = self.code { try disk.send(30, after: 3, bytes: 1_000) }
            fault.failing = nil
            guard let found else { break }
            failures += 1
            #expect(found == expected && (disk.storage.failure?.code == .io) == (expected == .io), "write \(delay)")
            if expected == .io {
                #expect(self.code { try disk.send(1, after: 3) } == .io, "the disk is not trusted")
                try disk.storage.recover()
            }
            #expect(try disk.last == 3, "write \(delay)")
            try self.expectWhole(disk, "write \(delay)")
        }
        #expect((10..<200).contains(failures))
    }

    /// After a failed sync, the batch is not acknowledged and the storage is refused. After the
    /// recovery, it is stored completely or not at all.
    @Test func aFailedSyncIsNotTrusted() throws {
        for delay in 0..<3 {
            let disk = try Disk()
            let fault = try disk.fault()
            (fault.failing, fault.code, fault.delay) = (.sync, SQLITE_IOERR | (4 << 8), delay)
            for batch in 0..<delay + 1 {
                let found = self.code { try disk.send(2, after: Int64(batch) * 2) }
                #expect(found == (batch == delay ? .io : nil), "batch \(batch)")
            }
            #expect(disk.storage.failure?.code == .io)
            #expect(self.code { _ = try disk.storage.begin(Needs()) } == .io)
            fault.failing = nil
            try disk.storage.recover()
            #expect(try disk.last % 2 == 0)
            try self.expectWhole(disk, "sync \(delay)")
        }
    }

    /// Each read of a batch, and of a read of a user, fails once. Reads find no wrong data.
    @Test func eachReadCanFail() throws {
        var failures = 0
        for delay in 0..<300 {
            let disk = try Disk(cacheBytes: 4 << 10)
            for last: Int64 in [0, 15] { try disk.send(15, after: last, bytes: 1_500) }
            let fault = try disk.fault()
            (fault.failing, fault.code, fault.delay) = (.read, SQLITE_IOERR | (1 << 8), delay)
            let read = self.code {
                let found = try disk.seqs
                #expect(found == Array(1...30), "read \(delay)")
            }
            let sent = read == nil ? self.code { try disk.send(15, after: 30, bytes: 1_500) } : nil
            fault.failing = nil
            guard read != nil || sent != nil else { break }
            failures += 1
            #expect((read ?? sent) == .io, "read \(delay)")
            #expect((disk.storage.failure != nil) == (sent != nil), "only a batch changes the data")
            #expect(!disk.storage.connection.isInTransaction)
            if sent != nil { try disk.storage.recover() }
            #expect(try disk.last == 30)
            try self.expectWhole(disk, "read \(delay)")
        }
        #expect((10..<300).contains(failures))
    }

    /// A failed checkpoint loses no batch.
    @Test(arguments: [FileFault.Call.read, .sync]) func eachCallOfACheckpointCanFail(call: FileFault.Call) throws {
        var failures = 0
        for delay in 0..<50 {
            let disk = try Disk()
            try disk.storage.checkpointIfDue()
            for last: Int64 in [0, 3] { try disk.send(3, after: last) }
            let fault = try disk.fault()
            (fault.failing, fault.code, fault.delay) = (call, SQLITE_IOERR, delay)
            let found = self.code { try disk.storage.checkpointIfDue() }
            fault.failing = nil
            guard let found else { break }
            failures += 1
            #expect(found == .io && disk.storage.failure?.code == .io, "\(call) \(delay)")
            #expect(self.code { try disk.storage.checkpointIfDue() } == nil, "a checkpoint waits for the recovery")
            try disk.storage.recover()
            #expect(try disk.last == 6)
            try self.expectWhole(disk, "\(call) \(delay)")
        }
        #expect(failures > 0 && failures < 50)
    }

    /// Writes outside of batches are as important as batches: after an I/O error in one of them,
    /// the storage is refused. A full disk is not a failure.
    @Test(arguments: ["addUpload", "forgetRequests", "forgetTextChanges", "resolveReport", "vacuum"], [SQLITE_IOERR, SQLITE_FULL])
    func aFailedWriteOutsideOfABatchIsNotTrusted(method: String, code: Int32) throws {
        let disk = try Disk()
        var changes = Changes()
        let id = try #require(ClientID("r"))
        changes.requests = [
            RequestRow(
                address: RequestAddress(disk.user, id), hash: RequestHash(1, 2, 3, 4),
                answer: StoredAnswer(conversation: disk.key, seq: 0, n: 0, at: 1), at: 1)
        ]
        changes.reports = [ReportRow(reporter: disk.user, conversation: disk.key, reason: "spam", at: 1)]
        _ = try disk.storage.begin(Needs())
        _ = try disk.storage.commit(changes)
        try disk.send(2, after: 0)
        for seq in 1...2 as ClosedRange<Int64> {
            var blank = Changes()
            blank.blanks = [EventBlank(address: EventAddress(disk.key, seq), state: .recalled)]
            _ = try disk.storage.begin(Needs())
            _ = try disk.storage.commit(blank)
        }
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        func write() throws {
            switch method {
            case "addUpload": try disk.storage.addUpload(BlobNeed(user: disk.user, blob: blob))
            case "forgetRequests": _ = try disk.storage.forgetRequests(before: 9, limit: 9)
            case "forgetTextChanges": _ = try disk.storage.forgetTextChanges(before: 2, limit: 9)
            case "resolveReport": _ = try disk.storage.resolveReport(1, at: 5)
            default: try disk.storage.vacuum()
            }
        }
        let before = try DatabaseDump(disk.storage.connection)
        let fault = try disk.fault()
        (fault.failing, fault.code) = (.write, code)
        #expect(self.code(write) == (code == SQLITE_FULL ? .full : .io))
        fault.failing = nil
        #expect((disk.storage.failure?.code == .io) == (code == SQLITE_IOERR) && !disk.storage.connection.isInTransaction)
        if code == SQLITE_IOERR {
            #expect(self.code(write) == .io && self.code { try disk.send(1, after: 2) } == .io)
            try disk.storage.recover()
        }
        #expect(try DatabaseDump(disk.storage.connection) == before)
        try write()
        #expect(try (DatabaseDump(disk.storage.connection) == before) == (method == "vacuum"))
        try disk.send(1, after: 2)
        #expect(try disk.storage.check().isEmpty)
    }

    /// A call within a batch is refused and does not end the batch.
    @Test func aReportIsNotResolvedWithinABatch() throws {
        let disk = try Disk()
        _ = try disk.storage.begin(Needs())
        for (name, call) in [
            ("resolveReport", { _ = try disk.storage.resolveReport(1, at: 1) }), ("vacuum", { try disk.storage.vacuum() }),
        ]
            as [(String, () throws -> Void)]
        {
            let error = #expect(throws: StorageError.self) { try call() }
            #expect(error?.code == .invalidUse && error?.message.contains("`\(name)`") == true)
        }
        disk.storage.abandon()
        try disk.send(1, after: 0)
    }

    /// A checkpoint that another program writes at the same time delays the own one. The log stays
    /// as long as it is.
    @Test func aCheckpointOfAnotherProgramIsAwaited() throws {
        let disk = try Disk()
        try disk.send(20, after: 0, bytes: 1_000)
        let pages = disk.storage.connection.logPages
        let other = try SQLiteConnection(path: disk.folder.path + "/chat.sqlite", isReader: false, cacheBytes: 1 << 20)
        _ = try other.prepare("SELECT count(*) FROM event").number()  // opens the log
        let fault = try FileFault(in: other.logFile)
        var attempts: [Int32] = []
        fault.whenCalled = { call in
            guard call == .read else { return }
            // The other connection copies pages and holds the lock of checkpoints.
            fault.whenCalled = nil
            attempts.append((try? disk.storage.connection.checkpoint()) == nil ? -1 : disk.storage.connection.logPages)
        }
        try other.checkpoint()
        #expect(pages > 0 && attempts == [pages])
        try disk.storage.connection.checkpoint()
        #expect(disk.storage.connection.logPages == 0)
    }
}
