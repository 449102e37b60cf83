import ApusChatProtocol
import ApusChatStorage
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// A model test: random batches of all kinds of rows leave SQLite in the state of the storage in
/// memory. Between the batches, the storage on disk is closed and opened, recovers, fails to
/// commit, and abandons batches.
@Suite struct BatchModelTests {
    /// Both storages and the scripts of one run.
    private final class Run {
        let folder: TemporaryFolder
        let fault: CommitFault
        let environment: SQLiteEnvironment
        let memory = MemoryStorage()
        var lock: ChatFolder
        var disk: SQLiteStorage
        var logs: LogScript
        var people: PeopleScript
        var positions: [(memory: SyncPosition, disk: SyncPosition)] = []

        init(seed: UInt64) throws {
            let fault = CommitFault()
            self.fault = fault
            var environment = fault.environment
            environment.syncsCommits = false
            environment.hotRows = [2, 9, 100_000][Int(seed % 3)]
            environment.recentPlaces = [1, 3, 10, 40, 600][Int(seed % 5)]
            self.environment = environment
            let folder = try TemporaryFolder()
            let lock = try ChatFolder(folder.path)
            (self.folder, self.lock) = (folder, lock)
            self.disk = try SQLiteStorage(lock, environment: environment)
            self.logs = LogScript(seed: seed)
            self.people = PeopleScript(seed: seed)
        }

        /// Commits a batch in both storages. The first attempts on disk can fail.
        func step() throws {
            var needs = self.logs.needs()
            needs.accounts = self.people.users
            var changes = self.people.next()
            let blobs = self.people.blobs.filter { self.memory.blob($0) != nil }
            let facts = try self.memory.begin(needs)
            let found = try self.disk.begin(needs)
            for key in needs.accounts { #expect(found.accounts[key] == facts.accounts[key]) }
            for address in needs.members { #expect(found.members[address] == facts.members[address]) }
            self.logs.add(to: &changes, facts, blobs: blobs)
            switch self.logs.random(12) {
            case 0: try self.fail(changes, needs)
            case 1:
                self.disk.abandon()
                _ = try self.disk.begin(needs)
            default: break
            }
            let commit = try self.memory.commit(changes)
            #expect(try self.disk.commit(changes) == commit)
            if self.logs.chance(10) { self.positions.append((self.memory.position(), try self.disk.position())) }
        }

        /// Fails to commit, and begins the batch again.
        private func fail(_ changes: Changes, _ needs: Needs) throws {
            self.fault.code = self.logs.pick([SQLITE_FULL, SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT])
            #expect(throws: StorageError.self) { try self.disk.commit(changes) }
            self.fault.code = SQLITE_OK
            if self.disk.failure != nil { try self.disk.recover() }
            _ = try self.disk.begin(needs)
        }

        /// Closes the database and opens it.
        func restart() throws {
            // Two storages cannot exist at the same time, so a database in another folder stands
            // in.
            let other = try TemporaryFolder()
            self.disk = try other.open()
            self.lock.unlock()
            self.lock = try ChatFolder(self.folder.path)
            self.disk = try SQLiteStorage(self.lock, environment: self.environment)
        }

        var comparison: LogComparison { LogComparison(memory: self.memory, disk: self.disk, script: self.logs) }
    }

    @Test(arguments: 1...15 as ClosedRange<UInt64>) func theDiskFollowsTheMemory(seed: UInt64) throws {
        let run = try Run(seed: seed)
        for step in 0..<60 {
            try run.step()
            switch run.logs.random(15) {
            case 0: try run.restart()
            case 1: try run.disk.recover()
            case 2: try run.disk.vacuum()
            default: break
            }
            let user = run.logs.pick(run.logs.users)
            try run.comparison.compare(user, size: 1 + step % 4, after: Array(run.positions.suffix(2)))
            if step % 6 == 0 { try run.comparison.compareConversations(size: 1 + step % 5) }
        }
        for user in run.logs.users { try run.comparison.compare(user, size: 3, after: run.positions) }
        try run.comparison.compareConversations(size: 99)
        try run.comparison.compareFacts(run.logs.allNeeds)
        try PeopleScriptTests().compare(run.memory, run.disk, run.people)
        #expect(try run.disk.check().isEmpty)
    }

    /// The search index is updated after some batches only, and is closed and opened between them.
    @Test(arguments: 21...26 as ClosedRange<UInt64>) func theIndexFollowsTheLog(seed: UInt64) throws {
        let run = try Run(seed: seed)
        var index: SearchIndex? = nil
        for step in 0..<60 {
            try run.step()
            guard run.logs.chance(4) || step == 59 else { continue }
            if run.logs.chance(3) { index = nil }
            let open = try index ?? SearchIndex(run.lock)
            index = open
            while try open.update(at: 0) {}
            // The last change remains, so that the numbers increase.
            _ = try run.disk.forgetTextChanges(before: open.lastChange, limit: 999)
            let reader = try SQLiteReads(run.lock)
            for user in [run.logs.users[0], run.logs.pick(run.logs.users)] {
                try run.comparison.compareSearch(reader, user, size: 1 + step % 7)
            }
        }
    }

    /// Readers see each batch, through one connection that is opened once.
    @Test(arguments: 31...33 as ClosedRange<UInt64>) func aReaderFollowsTheWriter(seed: UInt64) throws {
        let run = try Run(seed: seed)
        let reader = try SQLiteReads(run.lock)
        for step in 0..<50 {
            try run.step()
            let size = 1 + step % 5
            for user in run.logs.users {
                #expect(try reader.heads(of: user, after: nil, limit: size) == run.disk.heads(of: user, after: nil, limit: size))
                for (key, _) in run.logs.conversations {
                    let expected = run.memory.events(in: key, .through(.max), as: user, limit: size)
                    #expect(try reader.events(in: key, .through(.max), as: user, limit: size) == expected)
                }
            }
            if step % 9 == 0 { try run.disk.recover() }
        }
    }
}
