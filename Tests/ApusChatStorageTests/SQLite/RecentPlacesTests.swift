import ApusChatProtocol
import ApusChatStorage
import GRDBSQLite
import Testing

@testable import ApusChatSQLite

/// The two tables of the index of ids: new events in `event_recent`, the others in `event_place`.
@Suite struct RecentPlacesTests {
    private let folder: TemporaryFolder
    private let fault = CommitFault()
    private let user = UserKey(1)

    init() throws { self.folder = try TemporaryFolder() }

    /// Opens a storage that moves entries when there are four.
    private func open(recentPlaces: Int = 4) throws -> (storage: SQLiteStorage, lock: ChatFolder) {
        var environment = self.fault.environment
        environment.recentPlaces = recentPlaces
        environment.syncsCommits = false
        let lock = try ChatFolder(self.folder.path)
        return (try SQLiteStorage(lock, environment: environment), lock)
    }

    private func addGroup(_ storage: SQLiteStorage, _ key: Int64) throws {
        var row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 1, settings: ConversationSettings())
        row.counters.memberCount = 1
        var changes = Changes()
        changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(row.key, self.user), role: .owner, state: .joined)]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }

    /// Sends messages in one batch.
    private func send(
        _ storage: SQLiteStorage, _ seqs: ClosedRange<Int64>, to keys: Int64..., configure: (inout Changes) -> Void = { _ in }
    )
        throws
    {
        var changes = Changes()
        for key in keys.map({ ConversationKey($0) }) {
            changes.events += seqs.map { EventRow(conversation: key, seq: $0, n: $0, sender: self.user, at: $0, kind: .text, body: "{}") }
            var counters = ConversationCounters()
            (counters.lastSeq, counters.lastN) = (seqs.upperBound, seqs.upperBound)
            changes.conversations.append(ConversationChange(key: key, counters: counters))
        }
        configure(&changes)
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }

    private func seqs(_ reads: SQLiteReads, _ key: Int64 = 1) throws -> [Int64] {
        try reads.events(in: ConversationKey(key), .from(1), as: self.user, limit: 100).map(\.seq)
    }

    /// The numbers of rows of `event_recent` and of `event_place`.
    private func counts(_ reads: SQLiteReads) throws -> [Int64] {
        try ["event_recent", "event_place"].map { try reads.connection.prepare("SELECT count(*) FROM \($0)").number() }
    }

    /// A batch moves the entries of one conversation at a time, in turn.
    @Test func theEntriesOfAConversationAreMovedTogether() throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        try self.addGroup(storage, 2)
        var found: [[Int64]] = []
        for seq: Int64 in 1...5 {
            try self.send(storage, seq...seq, to: 2, 1)
            found.append(try self.counts(storage))
            #expect(try self.seqs(storage, 1) == Array(1...seq))
            #expect(try self.seqs(storage, 2) == Array(1...seq))
        }
        #expect(found == [[2, 0], [2, 2], [1, 5], [3, 5], [2, 8]])
        #expect(try storage.check().isEmpty)
    }

    /// A batch with several events for each conversation is not entered in `event_recent`.
    @Test func theEntriesOfADenseBatchAreNotMoved() throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        try self.addGroup(storage, 2)
        try self.send(storage, 1...1, to: 1, 2)
        try self.send(storage, 2...9, to: 2, 1)
        #expect(try self.counts(storage) == [2, 16])
        try self.send(storage, 10...10, to: 1)
        #expect(try self.counts(storage) == [3, 16])
        for key: Int64 in [1, 2] { #expect(try self.seqs(storage, key) == Array(1...(key == 1 ? 10 : 9))) }
        try self.send(storage, 10...10, to: 2)
        #expect(try self.counts(storage) == [2, 18])
        for key: Int64 in [1, 2] { #expect(try self.seqs(storage, key) == Array(1...10)) }
    }

    /// The number of entries stays below the limit, and the entries of each conversation are moved
    /// in turn.
    @Test func noConversationIsForgotten() throws {
        let (storage, _) = try self.open(recentPlaces: 12)
        let keys = Array(1...20 as ClosedRange<Int64>)
        for key in keys { try self.addGroup(storage, key) }
        var last = [Int64: Int64]()
        for step in 0..<300 {
            for key in Set([keys[step * 7 % 20], keys[step * step % 20], 1]) {
                last[key, default: 0] += 1
                try self.send(storage, last[key, default: 0]...last[key, default: 0], to: key)
                #expect(try self.counts(storage)[0] < 12)
            }
        }
        let oldest = try storage.connection.prepare("SELECT min(place) FROM event_recent").number()
        let newest = try storage.connection.prepare("SELECT max(place) FROM event").number()
        #expect(newest - oldest < 60, "an entry waits for about one round")
        for key in keys {
            #expect(try storage.events(in: ConversationKey(key), .from(1), as: self.user, limit: 999).count == Int(last[key] ?? 0))
        }
        #expect(try storage.check().isEmpty)
    }

    @Test func entriesSurviveARestartAndAreCounted() throws {
        do {
            let (storage, _) = try self.open()
            try self.addGroup(storage, 1)
            for seq: Int64 in 1...7 { try self.send(storage, seq...seq, to: 1) }
            #expect(try self.counts(storage) == [3, 4])
        }
        let (storage, _) = try self.open()
        #expect(try self.seqs(storage) == Array(1...7))
        try self.send(storage, 8...8, to: 1)
        #expect(try self.counts(storage) == [0, 8])
        #expect(try self.seqs(storage) == Array(1...8))
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR]) func aFailedMoveIsUndoneAndRepeated(code: Int32) throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...3 { try self.send(storage, seq...seq, to: 1) }
        self.fault.code = code
        #expect(throws: StorageError.self) { try self.send(storage, 4...4, to: 1) }
        self.fault.code = SQLITE_OK
        if storage.failure != nil { try storage.recover() }
        #expect(try self.counts(storage) == [3, 0])
        #expect(try self.seqs(storage) == [1, 2, 3])
        try self.send(storage, 4...4, to: 1)
        #expect(try self.counts(storage) == [0, 4])
        #expect(try self.seqs(storage) == [1, 2, 3, 4])
    }

    /// The batch that moves the entries also changes and blanks events that it moves.
    @Test func aBatchThatMovesChangesEvents() throws {
        let (storage, lock) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...3 { try self.send(storage, seq...seq, to: 1) }
        let group = ConversationKey(1)
        try self.send(storage, 4...4, to: 1) { changes in
            var target = EventRow(conversation: group, seq: 2, n: 2, sender: self.user, at: 2, kind: .text, body: #"{"text":"new"}"#)
            (target.editedAt, target.editSeq, target.state) = (9, 4, .edited)
            changes.targets = [target]
            changes.blanks = [EventBlank(address: EventAddress(group, 3), state: .recalled)]
            changes.events[0].isPinned = true
        }
        #expect(try self.counts(storage) == [0, 4])
        for reads in [storage, try SQLiteReads(lock)] {
            let rows = try reads.events(in: group, .from(1), as: self.user, limit: 9).compactMap(\.row)
            #expect(rows.map(\.body) == ["{}", #"{"text":"new"}"#, "", "{}"])
            #expect(rows.map(\.state) == [.normal, .edited, .recalled, .normal])
            #expect(rows.map(\.isPinned) == [false, false, false, true])
        }
    }

    @Test func aSnapshotIsNotChangedByAMove() throws {
        let (storage, lock) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...3 { try self.send(storage, seq...seq, to: 1) }
        let reads = try SQLiteReads(lock)
        try reads.inSnapshot {
            #expect(try self.seqs(reads) == [1, 2, 3])
            try self.send(storage, 4...4, to: 1)
            #expect(try self.counts(reads) == [3, 0])
            #expect(try self.seqs(reads) == [1, 2, 3])
        }
        #expect(try self.counts(reads) == [0, 4])
        #expect(try self.seqs(reads) == [1, 2, 3, 4])
    }

    @Test func aBackupHasBothTables() throws {
        let (storage, lock) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...6 { try self.send(storage, seq...seq, to: 1) }
        let other = try TemporaryFolder()
        try SQLiteReads(lock).backUp(to: other.path + "/chat.sqlite")
        try storage.vacuum()
        for copy in [storage, try other.open()] {
            #expect(try self.counts(copy) == [2, 4])
            #expect(try self.seqs(copy) == Array(1...6))
            #expect(try copy.check().isEmpty)
        }
    }

    @Test func theIndexFindsChangedTextsInBothTables() throws {
        let (storage, lock) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...6 { try self.send(storage, seq...seq, to: 1) { $0.events[0].body = #"{"text":"apple"}"# } }
        let index = try SearchIndex(lock)
        func found(_ word: String) throws -> [Int64] {
            while try index.update(at: 0) {}
            return try SQLiteReads(lock).search(SearchNeed(words: SearchWords(word)), as: self.user, limit: 9).hits.map(\.view.seq)
        }
        #expect(try found("apple") == [6, 5, 4, 3, 2, 1])
        for seq: Int64 in [2, 6] {
            var target = EventRow(conversation: ConversationKey(1), seq: seq, n: seq, sender: self.user, at: seq, kind: .text, body: "")
            (target.body, target.editedAt, target.state) = (#"{"text":"pear"}"#, 9, .edited)
            var changes = Changes()
            changes.targets = [target]
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
        }
        #expect(try found("pear") == [6, 2])
        #expect(try found("apple") == [5, 4, 3, 1])
    }

    // MARK: Damaged data

    /// Counters that were set back do not make the storage use the id of an event again.
    @Test(arguments: [2, 5] as [Int64]) func anIDIsNotUsedAgain(last: Int64) throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...6 { try self.send(storage, seq...seq, to: 1) }
        try storage.connection.execute("UPDATE counter SET last_seq = \(last)")
        storage.hot.removeAll()
        let error = #expect(throws: StorageError.self) { try self.send(storage, (last + 1)...(last + 1), to: 1) }
        #expect(error?.code == .invalidUse && storage.failure == nil)
        try storage.connection.execute("UPDATE counter SET last_seq = 6")
        try self.send(storage, 7...7, to: 1)
        #expect(try self.seqs(storage) == Array(1...7))
    }

    /// An entry that is in both tables does not make a batch fail.
    @Test func anEntryInBothTablesIsReplaced() throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        for seq: Int64 in 1...3 { try self.send(storage, seq...seq, to: 1) }
        try storage.connection.execute("INSERT INTO event_place SELECT id, place + 1 FROM event_recent")
        #expect(try self.seqs(storage) == [1, 2, 3])
        try self.send(storage, 4...4, to: 1)
        #expect(try self.counts(storage) == [0, 4])
        #expect(try self.seqs(storage) == [1, 2, 3, 4])
    }

    /// A wrong entry does not return an event of another conversation.
    @Test(arguments: ["event_recent", "event_place"]) func aWrongEntryFindsNothing(table: String) throws {
        let (storage, _) = try self.open()
        try self.addGroup(storage, 1)
        try self.addGroup(storage, 2)
        for seq: Int64 in 1...3 { try self.send(storage, seq...seq, to: 1, 2) }
        #expect(try self.counts(storage) == [1, 5])
        let (of1, of2) = (Int64(1) << 32, Int64(2) << 32)
        try storage.connection.execute(
            """
            UPDATE \(table) SET place = (SELECT place FROM event WHERE id = \(table).id + \(of2 - of1)) WHERE id < \(of2)
            """)
        let lost: [Int64] = table == "event_recent" ? [3] : [1, 2]
        #expect(try self.seqs(storage, 1) == [1, 2, 3].filter { !lost.contains($0) })
        #expect(try self.seqs(storage, 2) == [1, 2, 3])
        var needs = Needs()
        needs.events = (1...3).map { EventAddress(ConversationKey(1), $0) }
        let facts = try storage.begin(needs)
        storage.abandon()
        #expect(needs.events.filter { facts.events[$0] == nil }.map(\.seq) == lost)
        #expect(try storage.check() == lost.map { "event \(of1 + $0) is not found by its id" })
        try storage.connection.execute("DELETE FROM \(table)")
        #expect(try storage.check().count == (table == "event_recent" ? 1 : 5))
    }
}
