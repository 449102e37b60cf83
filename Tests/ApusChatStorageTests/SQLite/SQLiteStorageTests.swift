import ApusChatProtocol
import ApusChatStorage
import Foundation
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// Restarts, failures, copies and versions, which only a storage on disk has.
@Suite struct SQLiteStorageTests {
    private func addGroup(_ storage: SQLiteStorage, _ key: Int64 = 1) throws {
        var row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 1, settings: ConversationSettings())
        row.counters.memberCount = 1
        var changes = Changes()
        changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(row.key, UserKey(1)), role: .owner, state: .joined)]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }

    private func send(_ storage: SQLiteStorage, _ seq: Int64, to key: Int64 = 1) throws {
        var changes = Changes()
        let key = ConversationKey(key)
        changes.events = [EventRow(conversation: key, seq: seq, n: seq, sender: UserKey(1), at: seq, kind: .text, body: "{}")]
        var counters = ConversationCounters()
        (counters.lastSeq, counters.lastN) = (seq, seq)
        changes.conversations = [ConversationChange(key: key, counters: counters)]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }

    private func seqs(_ reads: some ChatReads, _ key: Int64 = 1) throws -> [Int64] {
        try reads.events(in: ConversationKey(key), .from(1), as: UserKey(1), limit: 100).map(\.seq)
    }

    @Test func committedDataSurvivesARestart() throws {
        let folder = try TemporaryFolder()
        var position: SyncPosition?
        do {
            let storage = try folder.open()
            try self.addGroup(storage)
            for seq: Int64 in 1...3 { try self.send(storage, seq) }
            position = try storage.position()
        }
        let storage = try folder.open()
        #expect(try storage.position() == position)
        #expect(try self.seqs(storage) == [1, 2, 3])
        try self.send(storage, 4)
        try self.addGroup(storage, 2)
        try self.send(storage, 1, to: 2)
        #expect(try self.seqs(storage) == [1, 2, 3, 4])
        #expect(try self.seqs(storage, 2) == [1])
    }

    @Test func readersSeeWholeBatchesOnly() throws {
        let folder = try TemporaryFolder()
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock)
        let reads = try SQLiteReads(lock)
        try self.addGroup(storage)
        try self.send(storage, 1)
        #expect(try self.seqs(reads) == [1])
        _ = try storage.begin(Needs())
        #expect(try self.seqs(reads) == [1])
        storage.abandon()
        #expect(try reads.position() == storage.position())
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | (4 << 8), SQLITE_BUSY]) func aFailedCommitLeavesNothing(_ code: Int32) throws {
        let folder = try TemporaryFolder()
        let fault = CommitFault()
        let storage = try folder.open(fault.environment)
        try self.addGroup(storage)
        try self.send(storage, 1)
        fault.code = code
        #expect(throws: StorageError.self) { try self.send(storage, 2) }
        fault.code = SQLITE_OK
        #expect(try self.seqs(storage) == [1])
        let isIOError = code & 0xFF == SQLITE_IOERR
        #expect((storage.failure != nil) == isIOError)
        if isIOError {
            // The storage refuses writes until it is recovered.
            #expect(throws: StorageError.self) { try self.send(storage, 2) }
            try storage.recover()
            #expect(storage.failure == nil)
        }
        try self.send(storage, 2)
        #expect(try self.seqs(storage) == [1, 2])
    }

    @Test func errorsHaveTheirKind() {
        let kinds: [(Int32, StorageError.Code)] = [
            (SQLITE_FULL, .full), (SQLITE_IOERR | (4 << 8), .io), (SQLITE_CORRUPT, .corrupt), (SQLITE_BUSY, .contention),
            (SQLITE_CONSTRAINT | (8 << 8), .invalidUse), (SQLITE_READONLY, .io), (SQLITE_NOMEM, .io),
        ]
        for (code, kind) in kinds { #expect(StorageError(sqlite: code, "commit the batch").code == kind) }
    }

    @Test func aRefusedEventUndoesItsBatch() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        try self.addGroup(storage)
        try self.send(storage, 1)
        #expect(throws: StorageError.self) { try self.send(storage, 3) }
        #expect(throws: StorageError.self) { try self.send(storage, 1, to: 9) }
        #expect(storage.failure == nil)
        try self.send(storage, 2)
        #expect(try self.seqs(storage) == [1, 2])
    }

    @Test func twoServersDoNotShareAFolder() throws {
        let folder = try TemporaryFolder()
        let lock = try ChatFolder(folder.path)
        #expect(throws: StorageError.self) { try ChatFolder(folder.path) }
        _ = lock.path
    }

    @Test func checkpointsEmptyTheLog() throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        environment.checkpointPages = 8
        let storage = try folder.open(environment)
        try self.addGroup(storage)
        for seq: Int64 in 1...5 { try self.send(storage, seq) }
        #expect(storage.connection.logPages >= 8)
        try storage.checkpointIfDue()
        #expect(storage.connection.logPages == 0)
        try self.send(storage, 6)
        #expect(try self.seqs(storage) == Array(1...6))
    }

    @Test func oldAnswersAreForgotten() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        var changes = Changes()
        changes.requests = (1...5).compactMap { index in
            ClientID("r-\(index)").map { id in
                let answer = StoredAnswer(conversation: ConversationKey(1), seq: 0, n: 0, at: 0)
                return RequestRow(address: RequestAddress(UserKey(1), id), hash: RequestHash(0, 0, 0, 0), answer: answer, at: Int64(index))
            }
        }
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 2)
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 1)
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 0)
    }

    @Test func anUploadMakesABlobReadable() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        let need = BlobNeed(user: UserKey(1), blob: try #require(BlobID(String(repeating: "ef", count: 32))))
        #expect(try !storage.mayRead(need))
        try storage.addUpload(need)
        try storage.addUpload(need)
        #expect(try storage.mayRead(need))
        #expect(try !storage.mayRead(BlobNeed(user: UserKey(2), blob: need.blob)))
    }

    /// The stored number of skipped messages equals a recount from either end.
    @Test func skippedMessagesAreCountedFromEitherEnd() throws {
        let folder = try TemporaryFolder()
        let storage = try folder.open()
        try self.addGroup(storage)
        let (key, user) = (ConversationKey(1), UserKey(1))
        var counters = ConversationCounters()
        var changes = Changes()
        for seq: Int64 in 1...2_000 {
            let isMessage = seq % 3 != 0
            counters.lastSeq = seq
            if isMessage { counters.lastN += 1 }
            let sender = UserKey(seq % 5 == 0 ? 1 : 2)
            changes.events.append(
                EventRow(
                    conversation: key, seq: seq, n: isMessage ? counters.lastN : 0, sender: sender, at: seq,
                    kind: isMessage ? .text : .react,
                    ref: isMessage ? 0 : 1))
            if isMessage, seq % 7 == 0 {
                var row = AnnotationRow(address: AnnotationAddress(EventAddress(key, seq), user), n: counters.lastN)
                row.isHidden = true
                changes.annotations.append(row)
            }
        }
        changes.conversations = [ConversationChange(key: key, counters: counters)]
        func expected(above n: Int64) -> Int64 {
            Int64(changes.events.filter { $0.n > n && ($0.sender == user || $0.seq % 7 == 0) }.count)
        }
        var member = MemberRow(address: MemberAddress(key, user), role: .owner, state: .joined)
        (member.readN, member.skipped) = (100, expected(above: 100))
        changes.members = [member]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        var needs = Needs()
        let positions = [0, 100, 101, 102, 350, 600, 800, 1_000, counters.lastN - 1, counters.lastN, counters.lastN + 5]
        needs.skips = positions.map { SkipNeed(member: member.address, above: $0) }
        let facts = try storage.begin(needs)
        storage.abandon()
        for need in needs.skips { #expect(facts.skips[need] == expected(above: need.above), "above \(need.above)") }
    }
}
