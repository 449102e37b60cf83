import ApusChatProtocol
import ApusChatStorage
import Foundation
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// Statements, transactions and their failures.
@Suite struct ConnectionTests {
    private func connection(_ body: (SQLiteConnection) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let connection = try SQLiteConnection(path: folder.path + "/test.sqlite", isReader: false, cacheBytes: 1 << 20)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT")
        try body(connection)
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? StorageError)?.code }
    }

    // MARK: Values

    @Test(arguments: [
        "", "a", "你好👍", "e\u{301}", "a\u{0}b", "'; DROP TABLE t; --", String(repeating: "x", count: 100_000), "\u{FFFD}", "\n",
    ])
    func textsAreReadAsWritten(text: String) throws {
        try self.connection { connection in
            let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
            insert.bind(1, text)
            try insert.run()
            let (read, type) = try #require(try connection.prepare("SELECT value, typeof(value) FROM t").first { ($0.text(0), $0.text(1)) })
            #expect(read.unicodeScalars.elementsEqual(text.unicodeScalars) && type == "text")
        }
    }

    @Test(arguments: [Int64(0), 1, -1, .max, .min, 9_007_199_254_740_993])
    func integersAreReadAsWritten(number: Int64) throws {
        try self.connection { connection in
            try connection.prepare("INSERT INTO t (id, value) VALUES (?1, ?2)").with(number, number).run()
            #expect(try connection.prepare("SELECT id FROM t WHERE value = ?1").with(number).number() == number)
        }
    }

    @Test(arguments: [[], [0], [0, 0, 255], Array(repeating: 7, count: 70_000)] as [[UInt8]])
    func bytesAreReadAsWritten(bytes: [UInt8]) throws {
        try self.connection { connection in
            let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
            bytes.withUnsafeBytes { insert.bind(1, bytes: $0) }
            try insert.run()
            #expect(try connection.prepare("SELECT value FROM t").first { Array($0.bytes(0)) } == bytes)
        }
    }

    @Test func absentValuesAreNull() throws {
        try self.connection { connection in
            let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
            for bind in [{ $0.bindNull(1) }, { $0.bind(1, nonZero: 0) }, { $0.bind(1, nonEmpty: "") }] as [(SQLiteStatement) -> Void] {
                bind(insert)
                try insert.run()
            }
            for bind in [{ $0.bind(1, nonZero: 5) }, { $0.bind(1, nonEmpty: "x") }, { $0.bind(1, true) }] as [(SQLiteStatement) -> Void] {
                bind(insert)
                try insert.run()
            }
            let rows = try connection.prepare("SELECT value FROM t ORDER BY id").all { ($0.isNull(0), $0.int(0), $0.text(0), $0.bool(0)) }
            #expect(rows.map(\.0) == [true, true, true, false, false, false])
            #expect(rows.map(\.1) == [0, 0, 0, 5, 0, 1] && rows.map(\.2) == ["", "", "", "5", "x", "1"])
            #expect(rows.map(\.3) == [false, false, false, true, false, true])
        }
    }

    // MARK: Transactions

    @Test func aStatementIsUsableAfterItsFailure() throws {
        try self.connection { connection in
            let insert = try connection.prepare("INSERT INTO t (id, value) VALUES (?1, 1)")
            try insert.with(1).run()
            #expect(self.code { try insert.with(1).run() } == .invalidUse)
            try insert.with(2).run()
            let select = try connection.prepare("SELECT id FROM t ORDER BY id")
            #expect(try select.first { $0.int(0) } == 1)
            #expect(try select.all { $0.int(0) } == [1, 2])  // the previous run read only the first row
            #expect(try connection.prepare("SELECT id FROM t WHERE id = 9").number() == 0)
            #expect(connection.changedRows == 1)
        }
    }

    @Test func aSnapshotEndsWithItsBody() throws {
        struct Stop: Error {}
        try self.connection { connection in
            #expect(try connection.snapshot { () throws(StorageError) in connection.isInTransaction })
            #expect(!connection.isInTransaction)
            // An inner snapshot is part of the outer one.
            try connection.snapshot { () throws(StorageError) in
                try connection.snapshot { () throws(StorageError) in #expect(connection.isInTransaction) }
                #expect(connection.isInTransaction)
            }
            #expect(
                self.code {
                    try connection.snapshot { () throws(StorageError) in
                        try connection.execute("INSERT INTO t (id, value) VALUES (1, 1)")
                        throw StorageError(.invalidUse, message: "stop")
                    }
                } == .invalidUse)
            #expect(!connection.isInTransaction)
            #expect(try connection.prepare("SELECT count(*) FROM t").number() == 0)
            connection.rollback()  // has no effect without a transaction
        }
    }

    @Test func aReaderWritesNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/test.sqlite"
        let writer = try SQLiteConnection(path: path, isReader: false, cacheBytes: 1 << 20)
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT")
        let reader = try SQLiteConnection(path: path, isReader: true, cacheBytes: 1 << 20)
        for sql in ["INSERT INTO t VALUES (1)", "DELETE FROM t", "CREATE TABLE u (id)", "DROP TABLE t", "PRAGMA user_version = 3"] {
            #expect(self.code { try reader.execute(sql) } != nil, "\(sql)")
        }
        #expect(try reader.prepare("SELECT count(*) FROM t").number() == 0)
        #expect(self.code { _ = try SQLiteConnection(path: folder.path + "/none.sqlite", isReader: true, cacheBytes: 1 << 20) } == .io)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none.sqlite"))
    }

    @Test(arguments: ["SELEC 1", "SELECT nothing FROM t", "", "SELECT ?1 FROM none"])
    func aWrongStatementIsAMistake(sql: String) throws {
        try self.connection { connection in #expect(self.code { _ = try connection.prepare(sql) } != nil) }
    }

    // MARK: A full disk

    /// At the limit of pages a batch fails as on a full disk, with `SQLITE_FULL`.
    @Test func aFullDiskUndoesTheBatchAndPasses() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        func add(_ seqs: ClosedRange<Int64>, _ body: String) throws {
            var changes = Changes()
            let key = ConversationKey(1)
            var row = ConversationRow(key: key, kind: .group, createdAt: 1, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN) = (seqs.upperBound, seqs.upperBound)
            changes.conversations = [
                ConversationChange(key: key, counters: row.counters, row: seqs.lowerBound == 1 ? row : nil, isNew: seqs.lowerBound == 1)
            ]
            changes.events = seqs.map { EventRow(conversation: key, seq: $0, n: $0, sender: UserKey(1), at: $0, kind: .text, body: body) }
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
        }
        try add(1...2, "{}")
        let pages = try storage.connection.prepare("PRAGMA page_count").number()
        try storage.connection.execute("PRAGMA max_page_count = \(pages + 10)")
        #expect(self.code { try add(3...200, String(repeating: "x", count: 2_000)) } == .full)
        #expect(storage.failure == nil)  // a full disk does not damage the storage
        try storage.probe()
        try storage.connection.execute("PRAGMA max_page_count = 1000000")
        try add(3...4, "{}")
        let found = try storage.connection.prepare("SELECT count(*), max(length(body)) FROM event").first { ($0.int(0), $0.int(1)) }
        #expect(found.map { $0 == (4, 2) } == true)
        #expect(try storage.check().isEmpty)
    }

    // MARK: Damage

    @Test func damagedPagesAreFoundAndReported() throws {
        let folder = try TemporaryFolder()
        do {
            let storage = try folder.open()
            var changes = Changes()
            changes.accounts = (1...500).map {
                AccountRow(key: UserKey($0), name: .init(prepared: "name\($0)"), nickname: "nick", selfConversation: ConversationKey($0))
            }
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
            try storage.connection.checkpoint(truncates: true)
        }
        let file = folder.path + "/chat.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        // The schema is at the start of the file, and the rows are at its end.
        for index in stride(from: bytes.count * 2 / 3, to: bytes.count, by: 64) { bytes[index] = bytes[index] &+ 0x55 }
        try bytes.write(to: URL(fileURLWithPath: file))
        let code = self.code {
            let storage = try folder.open()
            _ = try storage.accounts(after: nil, limit: 10_000)
            guard try storage.check().isEmpty else { throw StorageError(.corrupt, message: "found") }
        }
        #expect(code == .corrupt)
    }

    @Test(arguments: [1, 15, 99, 4_096, 10_000])
    func aTruncatedFileIsNotTreatedAsEmpty(count: Int) throws {
        let folder = try TemporaryFolder()
        do {
            let storage = try folder.open()
            try storage.connection.checkpoint(truncates: true)
        }
        let file = URL(fileURLWithPath: folder.path + "/chat.sqlite")
        let bytes = try Data(contentsOf: file)
        try #require(bytes.count > 20_000)
        try bytes.prefix(count).write(to: file)
        let code = self.code {
            let storage = try folder.open()
            if try !storage.check().isEmpty { throw StorageError(.corrupt, message: "found") }
        }
        #expect(code == .corrupt || code == .invalidUse || code == .io)
    }

    // MARK: A backup

    @Test func aBackupIsCompleteAndIsNotOverwritten() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock)
        var changes = Changes()
        changes.accounts = [
            AccountRow(key: UserKey(1), name: .init(prepared: "ann"), nickname: "Ann", selfConversation: ConversationKey(1))
        ]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        let reads = try SQLiteReads(lock)
        let path = other.path + "/chat.sqlite"
        try reads.backUp(to: path)
        #expect(self.code { try reads.backUp(to: path) } != nil)
        // After a failed backup, the reader still cannot write.
        #expect(self.code { try reads.connection.execute("DELETE FROM account") } != nil)
        #expect(try other.open().accounts(after: nil, limit: 9).map(\.nickname) == ["Ann"])
        #expect(try reads.check().isEmpty)
        let counts = Dictionary(uniqueKeysWithValues: try reads.statistics().map { ($0.name, $0.count) })
        #expect(counts["accounts"] == 1 && counts["events"] == 0 && counts["database bytes"].map { $0 > 4_096 } == true)
        try storage.vacuum()
        #expect(try storage.accounts(after: nil, limit: 9).count == 1)
    }

    @Test func reportsAreResolvedOnce() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        var changes = Changes()
        changes.reports = (1...3).map { index in
            let event = index == 2 ? nil : EventAddress(ConversationKey(7), Int64(index))
            return ReportRow(
                reporter: UserKey(1), subject: UserKey(2), event: event, reason: "spam", text: "text \(index)", at: Int64(index))
        }
        changes.reports.append(ReportRow(reporter: UserKey(1), conversation: ConversationKey(7), reason: "spam", text: "Title", at: 4))
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        let all = try storage.reports(isOpen: true, before: .max, limit: 9)
        #expect(all.map(\.report) == changes.reports.reversed())
        let number = all[2].number
        #expect(try storage.resolveReport(number, at: 50))
        #expect(try !storage.resolveReport(number, at: 60) && !storage.resolveReport(999, at: 60) && !storage.resolveReport(.max, at: 60))
        #expect(try storage.reports(isOpen: true, before: .max, limit: 9).map(\.report.at) == [4, 3, 1])
        #expect(try storage.reports(isOpen: false, before: .max, limit: 9).map(\.report.resolvedAt) == [0, 0, 50, 0])
        #expect(try storage.reports(isOpen: false, before: number, limit: 1).map(\.report.at) == [1])
    }

    @Test func aBatchIsBegunAndEndedOnce() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        #expect(self.code { _ = try storage.commit(Changes()) } == .invalidUse)
        _ = try storage.begin(Needs())
        #expect(self.code { _ = try storage.begin(Needs()) } == .invalidUse)
        #expect(self.code { try storage.probe() } == .invalidUse)
        let need = BlobNeed(user: UserKey(1), blob: try #require(BlobID(String(repeating: "0f", count: 32))))
        #expect(self.code { try storage.addUpload(need) } == .invalidUse)
        #expect(self.code { _ = try storage.forgetRequests(before: 1, limit: 1) } == .invalidUse)
        #expect(self.code { _ = try storage.forgetTextChanges(before: 1, limit: 1) } == .invalidUse)
        let before = try storage.position()
        #expect(try storage.commit(Changes()).commit == 0)  // a batch without changes is not counted
        #expect(try storage.position() == before)
        storage.abandon()
        _ = try storage.begin(Needs())
        storage.abandon()
        storage.abandon()
    }
}
