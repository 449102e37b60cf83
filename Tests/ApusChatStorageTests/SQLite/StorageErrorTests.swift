import ApusChatProtocol
import ApusChatStorage
import Foundation
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// The errors of the storage, and what works after each of them.
@Suite struct StorageErrorTests {
    /// A storage with one account.
    private struct Disk {
        let folder: TemporaryFolder
        let storage: SQLiteStorage
        let fault: CommitFault

        init() throws {
            let (folder, fault) = (try TemporaryFolder(), CommitFault())
            self.folder = folder
            self.storage = try folder.open(fault.environment)
            self.fault = fault
            try self.write(1)
        }

        func write(_ key: Int64) throws {
            var changes = Changes()
            changes.accounts = [
                AccountRow(key: UserKey(key), name: .init(prepared: "user\(key)"), nickname: "", selfConversation: ConversationKey(key))
            ]
            _ = try self.storage.begin(Needs())
            _ = try self.storage.commit(changes)
        }

        var keys: [Int64] { get throws { try self.storage.accounts(after: nil, limit: 9).map(\.key.rawValue) } }
    }

    /// Returns the code of the error that an action throws; nil if it throws none.
    private func code(_ action: () throws -> Void) -> StorageError.Code? {
        do { try action() } catch { return (error as? StorageError)?.code }
        return nil
    }

    // MARK: Result codes

    private static let codes: [(Int32, StorageError.Code)] = [
        (SQLITE_FULL, .full), (SQLITE_BUSY, .contention), (SQLITE_BUSY | (2 << 8), .contention), (SQLITE_LOCKED, .contention),
        (SQLITE_CORRUPT, .corrupt), (SQLITE_CORRUPT | (1 << 8), .corrupt), (SQLITE_NOTADB, .corrupt), (SQLITE_FORMAT, .corrupt),
        (SQLITE_CONSTRAINT, .invalidUse), (SQLITE_MISUSE, .invalidUse), (SQLITE_RANGE, .invalidUse), (SQLITE_MISMATCH, .invalidUse),
        (SQLITE_TOOBIG, .invalidUse), (SQLITE_ERROR, .invalidUse), (SQLITE_IOERR, .io), (SQLITE_IOERR | (13 << 8), .io),
        (SQLITE_READONLY, .io), (SQLITE_CANTOPEN, .io), (SQLITE_NOMEM, .io), (SQLITE_PERM, .io), (SQLITE_AUTH, .io), (SQLITE_NOLFS, .io),
    ]

    @Test(arguments: Self.codes.indices) func aResultCodeHasItsError(index: Int) throws {
        let (code, expected) = Self.codes[index]
        let error = StorageError(sqlite: code, "commit the batch", detail: "why")
        #expect(error.code == expected)
        #expect(error.description == "\(expected.rawValue): SQLite cannot commit the batch: why (\(code))")
        let cause = try #require(error.cause as? SQLiteFailure)
        #expect(cause.code == code && cause.description == "SQLite error \(code): why")
        #expect(StorageError(sqlite: code, "x").message.hasPrefix("SQLite cannot x: "), "the text of SQLite replaces a missing detail")
    }

    // MARK: Failed batches

    /// After each error the batch is undone. After an I/O error, and with corrupt data, the storage
    /// is refused until it recovers.
    @Test(arguments: [
        (SQLITE_FULL, StorageError.Code.full, false), (SQLITE_BUSY, .contention, false), (SQLITE_CONSTRAINT, .invalidUse, false),
        (SQLITE_IOERR | (4 << 8), .io, true), (SQLITE_NOMEM, .io, true), (SQLITE_CORRUPT, .corrupt, true),
    ])
    func onlyAnUntrustedDiskIsRefused(fault: Int32, expected: StorageError.Code, isRefused: Bool) throws {
        let disk = try Disk()
        disk.fault.code = fault
        #expect(self.code { try disk.write(2) } == expected)
        #expect(try disk.keys == [1] && !disk.storage.connection.isInTransaction)
        disk.fault.code = SQLITE_OK
        let refusal = isRefused ? expected : nil
        #expect(disk.storage.failure?.code == refusal)
        #expect(self.code { _ = try disk.storage.forgetRequests(before: 1, limit: 1) } == refusal)
        #expect(self.code { _ = try disk.storage.forgetTextChanges(before: 1, limit: 1) } == refusal)
        #expect(self.code { try disk.write(3) } == refusal)
        #expect(self.code { try disk.storage.checkpointIfDue() } == nil, "a checkpoint waits for the recovery")
        if isRefused { try disk.storage.recover() }
        #expect(disk.storage.failure == nil)
        try disk.write(4)
        #expect(try disk.keys == (isRefused ? [1, 4] : [1, 3, 4]))
        #expect(try disk.storage.check().isEmpty)
    }

    /// The number of a failed batch is used again, so that no client misses a position.
    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR]) func aFailedBatchHasNoNumber(fault: Int32) throws {
        let disk = try Disk()
        let before = try disk.storage.position()
        disk.fault.code = fault
        #expect(throws: StorageError.self) { try disk.write(2) }
        #expect(try disk.storage.position() == before)
        disk.fault.code = SQLITE_OK
        if disk.storage.failure != nil { try disk.storage.recover() }
        #expect(try disk.storage.position() == before, "the epoch remains")
        try disk.write(2)
        #expect(try disk.storage.position().position == "\((Int64(before.position) ?? 0) + 1)")
    }

    /// A batch without changes takes no number and needs no disk.
    @Test func anEmptyBatchIsNotWritten() throws {
        let disk = try Disk()
        let before = try disk.storage.position()
        disk.fault.code = SQLITE_IOERR
        _ = try disk.storage.begin(Needs())
        #expect(try disk.storage.commit(Changes()).commit == Int64(before.position))
        #expect(try disk.storage.position() == before && disk.storage.failure == nil)
    }

    // MARK: The test of the disk

    @Test func aProbeFindsWhetherTheDiskWrites() throws {
        let disk = try Disk()
        let before = try disk.storage.position()
        try disk.storage.probe()
        #expect(try disk.storage.position() == before)
        disk.fault.code = SQLITE_FULL
        #expect(self.code { try disk.storage.probe() } == .full)
        #expect(disk.storage.failure == nil && !disk.storage.connection.isInTransaction)
        disk.fault.code = SQLITE_IOERR
        #expect(self.code { try disk.storage.probe() } == .io)
        #expect(disk.storage.failure?.code == .io)
        disk.fault.code = SQLITE_OK
        try disk.storage.recover()
        try disk.storage.probe()
        try disk.write(2)
        #expect(try disk.keys == [1, 2])
    }

    // MARK: The order of calls

    @Test func aCallWithinABatchIsRefused() throws {
        let disk = try Disk()
        let need = BlobNeed(user: UserKey(1), blob: try #require(BlobID(String(repeating: "a", count: 64))))
        let calls: [(String, () throws -> Void)] = [
            ("begin", { _ = try disk.storage.begin(Needs()) }), ("probe", { try disk.storage.probe() }),
            ("addUpload", { try disk.storage.addUpload(need) }),
            ("forgetRequests", { _ = try disk.storage.forgetRequests(before: 1, limit: 1) }),
            ("forgetTextChanges", { _ = try disk.storage.forgetTextChanges(before: 1, limit: 1) }),
        ]
        _ = try disk.storage.begin(Needs())
        for (name, call) in calls {
            let error = #expect(throws: StorageError.self) { try call() }
            #expect(error?.code == .invalidUse && error?.message.contains("`\(name)`") == true, "\(name)")
        }
        try disk.storage.checkpointIfDue()
        // None of them ended the batch.
        var changes = Changes()
        changes.accounts = [AccountRow(key: UserKey(2), name: .init(prepared: "b"), nickname: "", selfConversation: ConversationKey(2))]
        _ = try disk.storage.commit(changes)
        #expect(try disk.keys == [1, 2])
        for (name, call) in calls where name != "begin" { #expect(throws: Never.self, "\(name)") { try call() } }
    }

    @Test func aRecoveryAbandonsTheBatch() throws {
        let disk = try Disk()
        _ = try disk.storage.begin(Needs())
        try disk.storage.recover()
        #expect(self.code { _ = try disk.storage.commit(Changes()) } == .invalidUse)
        try disk.write(2)
        #expect(try disk.keys == [1, 2])
    }

    // MARK: Another program

    /// A backup program that holds the write lock delays batches and damages nothing.
    @Test func aLockedDatabaseIsContention() throws {
        let disk = try Disk()
        let other = try SQLiteConnection(path: disk.folder.path + "/chat.sqlite", isReader: false, cacheBytes: 1 << 20)
        try disk.storage.connection.execute("PRAGMA busy_timeout = 0")
        try other.execute("BEGIN IMMEDIATE")
        #expect(self.code { try disk.write(2) } == .contention)
        #expect(self.code { try disk.storage.probe() } == .contention)
        #expect(
            self.code {
                try disk.storage.addUpload(BlobNeed(user: UserKey(1), blob: try #require(BlobID(String(repeating: "a", count: 64)))))
            } == .contention)
        #expect(disk.storage.failure == nil)
        #expect(try disk.keys == [1], "reads do not wait")
        try other.execute("ROLLBACK")
        try disk.write(2)
        #expect(try disk.keys == [1, 2])
    }

    @Test func aSecondServerIsReported() throws {
        let disk = try Disk()
        let error = #expect(throws: StorageError.self) { try disk.folder.open() }
        #expect(error?.code == .locked && error?.message.contains("stop that server") == true)
    }

    // MARK: Opening

    @Test(arguments: [1, 9] as [Int64]) func aLaterSchemaIsNotTouched(by steps: Int64) throws {
        let folder = try TemporaryFolder()
        let version = ChatSchema.version + steps
        do { try folder.open().connection.execute("INSERT INTO schema_version (version) VALUES (\(version))") }
        let error = #expect(throws: StorageError.self) { try folder.open() }
        #expect(error?.code == .newerSchema)
        #expect(error?.message.contains("has schema \(version); this program supports at most \(ChatSchema.version)") == true)
        let connection = try SQLiteConnection(path: folder.path + "/chat.sqlite", isReader: true, cacheBytes: 1 << 20)
        #expect(try ChatSchema.foundVersion(connection) == version)
    }

    @Test func aFolderOfAnotherKindCannotBeOpened() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/chat.sqlite", withIntermediateDirectories: false)
        #expect(self.code { _ = try folder.open() } == .io)
        #expect(self.code { _ = try SQLiteConnection(path: folder.path + "/none.sqlite", isReader: true, cacheBytes: 1) } == .io)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/none.sqlite"), "a reader creates no file")
    }

    /// A database that lost its epoch is corrupt for its readers.
    @Test func aDatabaseWithoutAnEpochIsCorrupt() throws {
        let disk = try Disk()
        try disk.storage.connection.execute("DELETE FROM meta")
        #expect(self.code { _ = try disk.storage.position() } == .corrupt)
        #expect(
            self.code {
                _ = try disk.storage.changes(of: UserKey(1), after: SyncPosition(epoch: "e", position: "1"), cursor: nil, limit: 1)
            } == .corrupt)
    }

    // MARK: Refused batches

    /// A batch that writes to a conversation that does not exist is a mistake of the caller, and
    /// leaves nothing.
    @Test func aRowWithoutItsConversationIsRefused() throws {
        let disk = try Disk()
        let (nowhere, user) = (ConversationKey(99), UserKey(1))
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        let event = EventRow(conversation: nowhere, seq: 1, n: 1, sender: user, at: 1, kind: .text)
        var hidden = AnnotationRow(address: AnnotationAddress(event.address, user), n: 1)
        hidden.isHidden = true
        let batches: [(String, (inout Changes) -> Void)] = [
            ("an event", { $0.events = [event] }), ("a target", { $0.targets = [event] }),
            ("a member", { $0.members = [MemberRow(address: MemberAddress(nowhere, user), role: .member, state: .joined)] }),
            ("an annotation", { $0.annotations = [hidden] }),
            ("a blank", { $0.blanks = [EventBlank(address: event.address, state: .recalled)] }),
            ("a reference", { $0.blobReferences = [BlobReference(event: event.address, blob: blob)] }),
        ]
        for (name, configure) in batches {
            var changes = Changes()
            changes.accounts = [AccountRow(key: UserKey(2), name: .init(prepared: "b"), nickname: "", selfConversation: nowhere)]
            configure(&changes)
            _ = try disk.storage.begin(Needs())
            let error = #expect(throws: StorageError.self, "\(name)") { try disk.storage.commit(changes) }
            #expect(error?.code == .invalidUse && error?.message.contains("conversation 99") == true, "\(name)")
            #expect(try disk.keys == [1] && disk.storage.failure == nil, "\(name)")
        }
        try disk.write(2)
        #expect(try disk.keys == [1, 2])
    }

    /// Two accounts cannot have one name.
    @Test func aNameIsGivenOnce() throws {
        let disk = try Disk()
        var changes = Changes()
        changes.accounts = [AccountRow(key: UserKey(2), name: .init(prepared: "user1"), nickname: "", selfConversation: ConversationKey(2))]
        _ = try disk.storage.begin(Needs())
        #expect(self.code { _ = try disk.storage.commit(changes) } == .invalidUse)
        #expect(try disk.keys == [1] && disk.storage.userKeys(named: [.init(prepared: "user1")]) == [UserKey(1)])
        // The refused name is not in the search of names either.
        #expect(try disk.storage.accounts(containing: "user", after: nil, limit: 9).map(\.key.rawValue) == [1])
        #expect(try disk.storage.check().isEmpty)
    }

    /// The largest numbers of conversations and events are refused instead of used again.
    @Test func numbersEnd() throws {
        let disk = try Disk()
        func conversation(_ key: Int64, _ last: Int64) -> ConversationChange {
            var row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 1, settings: ConversationSettings())
            (row.counters.lastSeq, row.counters.lastN) = (last, last)
            return ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)
        }
        func commit(_ configure: (inout Changes) -> Void) throws {
            var changes = Changes()
            configure(&changes)
            _ = try disk.storage.begin(Needs())
            _ = try disk.storage.commit(changes)
        }
        try commit { $0.conversations = [conversation(5, EventPlace.largestSeq)] }
        disk.storage.hot.removeAll()
        let event = EventRow(conversation: ConversationKey(5), seq: EventPlace.largestSeq + 1, n: 1, sender: UserKey(1), at: 1, kind: .text)
        #expect(self.code { try commit { $0.events = [event] } } == .invalidUse)
        disk.storage.nextSlot = EventPlace.largestSlot
        try commit { $0.conversations = [conversation(6, 0)] }
        let error = #expect(throws: StorageError.self) { try commit { $0.conversations = [conversation(7, 0)] } }
        #expect(error?.code == .invalidUse && error?.message.contains("\(EventPlace.largestSlot)") == true)
        let last = EventRow(conversation: ConversationKey(6), seq: 1, n: 1, sender: UserKey(1), at: 1, kind: .text, body: "{}")
        try commit { $0.events = [last] }
        let facts = try disk.storage.begin(
            { () -> Needs in
                var needs = Needs()
                needs.events = [last.address]
                return needs
            }())
        disk.storage.abandon()
        #expect(facts.events[last.address] == last)
    }
}
