import ApusChatProtocol
import ApusChatStorage
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// The rows that the writer caches agree with the file after a restart, a recovery, an abandoned
/// batch and a failed one.
@Suite struct WriterCacheTests {
    /// An incident between two batches.
    enum Interruption: String, CaseIterable {
        case none, restart, recovery, abandonedBatch, fullDisk, faultyDisk, lostRows
    }

    private final class Writer {
        let folder: TemporaryFolder
        let fault: CommitFault
        private(set) var storage: SQLiteStorage
        private var lock: ChatFolder
        let user = UserKey(1)

        init() throws {
            let (folder, fault) = (try TemporaryFolder(), CommitFault())
            let lock = try ChatFolder(folder.path)
            (self.folder, self.fault, self.lock) = (folder, fault, lock)
            self.storage = try SQLiteStorage(lock, environment: Self.environment(fault))
        }

        private static func environment(_ fault: CommitFault) -> SQLiteEnvironment {
            var environment = fault.environment
            (environment.syncsCommits, environment.recentPlaces) = (false, 5)
            return environment
        }

        func interrupt(_ interruption: Interruption) throws {
            switch interruption {
            case .none: break
            case .restart:
                self.storage = try TemporaryFolder().open()  // releases the storage, which notes its last batch
                self.lock.unlock()
                self.lock = try ChatFolder(self.folder.path)
                self.storage = try SQLiteStorage(self.lock, environment: Self.environment(self.fault))
            case .recovery: try self.storage.recover()
            case .abandonedBatch:
                _ = try self.storage.begin(self.needs)
                self.storage.abandon()
            case .fullDisk, .faultyDisk:
                self.fault.code = interruption == .fullDisk ? SQLITE_FULL : SQLITE_IOERR
                #expect(throws: StorageError.self) { try self.commit(self.refused) }
                self.fault.code = SQLITE_OK
                if interruption == .faultyDisk { try self.storage.recover() }
            case .lostRows: self.storage.hot.removeAll()
            }
        }

        /// A batch that changes each cached row. It must never be seen.
        private var refused: Changes {
            var changes = Changes()
            changes.conversations = [self.group(1, last: 99), self.group(50, last: 0)]
            changes.conversations[0].row?.profile.title = "refused"
            changes.members = ([1, 50] as [Int64]).map { key in
                var row = MemberRow(address: MemberAddress(ConversationKey(key), self.user), role: .guest, state: .banned)
                row.readN = 77
                return row
            }
            changes.folderRemovals = [FolderRemoval(user: self.user, folders: .max)]
            changes.accounts = [self.account(.deleted)]
            return changes
        }

        private func account(_ state: AccountState) -> AccountRow {
            var row = AccountRow(key: self.user, name: UserName(prepared: "ann"), nickname: "", selfConversation: ConversationKey(1))
            row.state = state
            return row
        }

        func group(_ key: Int64, last: Int64) -> ConversationChange {
            var row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 1, settings: ConversationSettings())
            row.profile.title = "group \(key)"
            (row.counters.lastSeq, row.counters.lastN, row.counters.memberCount) = (last, last, 1)
            return ConversationChange(key: row.key, counters: row.counters, row: row, isNew: last == 0)
        }

        var needs: Needs {
            var needs = Needs()
            needs.conversations = (1...9).map { ConversationKey($0) }
            needs.members = needs.conversations.map { MemberAddress($0, self.user) }
            return needs
        }

        func commit(_ changes: Changes) throws {
            _ = try self.storage.begin(self.needs)
            _ = try self.storage.commit(changes)
        }

        func add(_ key: Int64) throws {
            var changes = Changes()
            changes.conversations = [self.group(key, last: 0)]
            var member = MemberRow(address: MemberAddress(ConversationKey(key), self.user), role: .owner, state: .joined)
            member.folders = 7
            changes.members = [member]
            changes.accounts = [self.account(.active)]
            try self.commit(changes)
        }

        func send(_ seq: Int64, to key: Int64) throws {
            var changes = Changes()
            changes.conversations = [ConversationChange(key: ConversationKey(key), counters: self.group(key, last: seq).counters)]
            changes.events = [
                EventRow(
                    conversation: ConversationKey(key), seq: seq, n: seq, sender: self.user, at: seq, kind: .text, body: "\(key) \(seq)")
            ]
            try self.commit(changes)
        }

        func bodies(_ key: Int64) throws -> [String?] {
            try self.storage.events(in: ConversationKey(key), .from(1), as: self.user, limit: 99).map { $0.row?.body }
        }
    }

    /// Conversations receive slots of their own, so that their logs do not mix. Numbers of batches
    /// continue.
    @Test(arguments: Interruption.allCases) func logsDoNotMix(_ interruption: Interruption) throws {
        let writer = try Writer()
        for key in 1...5 as ClosedRange<Int64> {
            try writer.add(key)
            try writer.interrupt(interruption)
            for other in 1...key {
                try writer.send(key - other + 1, to: other)
                try writer.interrupt(interruption)
            }
        }
        for key in 1...5 as ClosedRange<Int64> {
            #expect(try writer.bodies(key) == (1...(6 - key)).map { "\(key) \($0)" }, "conversation \(key)")
        }
        let slots = try writer.storage.connection.prepare("SELECT slot FROM conversation ORDER BY slot").all { $0.int(0) }
        #expect(Set(slots).count == 5 && slots.allSatisfy { $0 > 0 })
        #expect(try writer.storage.position().position == "20")
        #expect(try writer.storage.check().isEmpty)
        #expect(try writer.storage.connection.prepare("SELECT count(*) FROM event_recent").number() < 5)
    }

    /// The facts of a batch are those of the file.
    @Test(arguments: Interruption.allCases) func factsAreThoseOfTheFile(_ interruption: Interruption) throws {
        let writer = try Writer()
        for key in 1...3 as ClosedRange<Int64> { try writer.add(key) }
        try writer.send(1, to: 1)
        for round in 0..<3 {
            try writer.interrupt(interruption)
            let cached = try writer.storage.begin(writer.needs)
            writer.storage.abandon()
            writer.storage.hot.removeAll()
            let read = try writer.storage.begin(writer.needs)
            writer.storage.abandon()
            for key in writer.needs.conversations { #expect(cached.conversations[key] == read.conversations[key], "round \(round)") }
            for address in writer.needs.members { #expect(cached.members[address] == read.members[address], "round \(round)") }
            let first = ConversationKey(1)
            #expect(read.conversations[first]?.profile.title == "group 1" && read.conversations[first]?.counters.lastSeq == 1)
            #expect(read.members[MemberAddress(first, writer.user)]?.folders == 7)
            #expect(cached.deletedAccounts.isEmpty, "the account is active")
            #expect(try writer.storage.accounts([writer.user]).map(\.state) == [.active])
        }
    }

    /// The accounts that were deleted since the start are known to each batch, and not after the
    /// next start.
    @Test(arguments: Interruption.allCases) func deletedAccountsAreKnownUntilTheNextStart(_ interruption: Interruption) throws {
        let writer = try Writer()
        try writer.add(1)
        var changes = Changes()
        var row = try #require(try writer.storage.accounts([writer.user]).first)
        row.state = .deleted
        changes.accounts = [row]
        try writer.commit(changes)
        try writer.interrupt(interruption)
        #expect(try writer.storage.begin(Needs()).deletedAccounts == (interruption == .restart ? [] : [writer.user]))
        writer.storage.abandon()
        #expect(try writer.storage.deletedAccounts(limit: 9) == [writer.user], "the file knows it")
    }

    /// A reader that looked for a conversation before it existed finds it afterwards.
    @Test func aReaderFindsNewConversations() throws {
        let folder = try TemporaryFolder()
        let fault = CommitFault()
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock, environment: fault.environment)
        let reader = try SQLiteReads(lock)
        let (key, user) = (ConversationKey(4), UserKey(1))
        let row = ConversationRow(key: key, kind: .group, createdAt: 1, settings: ConversationSettings())
        var changes = Changes()
        changes.conversations = [ConversationChange(key: key, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(key, user), role: .owner, state: .joined)]
        for code in [SQLITE_FULL, SQLITE_BUSY, SQLITE_OK] {
            #expect(try reader.head(of: user, in: key) == nil && storage.head(of: user, in: key) == nil)
            fault.code = code
            _ = try storage.begin(Needs())
            if code != SQLITE_OK { #expect(throws: StorageError.self) { try storage.commit(changes) } }
        }
        _ = try storage.commit(changes)
        #expect(try reader.head(of: user, in: key) != nil && reader.head(of: user, in: key) == storage.head(of: user, in: key))
        #expect(try reader.slot(of: key) == storage.slot(of: key))
    }

    /// Each batch that was committed is in the files, as another process finds them if this one
    /// ends without closing them.
    @Test(arguments: [1, 5, 600]) func eachBatchSurvivesTheEndOfTheProcess(recentPlaces: Int) throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        (environment.recentPlaces, environment.checkpointPages) = (recentPlaces, 40)
        let storage = try folder.open(environment)
        let memory = MemoryStorage()
        var logs = LogScript(seed: UInt64(recentPlaces))
        for step in 0..<25 {
            var changes = Changes()
            let facts = try memory.begin(logs.needs())
            logs.add(to: &changes, facts, blobs: [])
            _ = try memory.commit(changes)
            _ = try storage.begin(logs.needs())
            _ = try storage.commit(changes)
            if step % 4 == 0 { try storage.checkpointIfDue() }
            let copy = try TemporaryFolder()
            for name in ["chat.sqlite", "chat.sqlite-wal", "chat.place"] { try folder.copy(name, to: copy) }
            let found = try copy.open()
            let (ours, theirs) = (try DatabaseDump(storage.connection), try DatabaseDump(found.connection))
            #expect(ours == theirs, "after batch \(step): \(theirs.difference(from: ours))")
            #expect(try found.check().isEmpty)
        }
    }
}
