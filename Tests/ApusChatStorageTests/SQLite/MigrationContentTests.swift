import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The results of all migrations: a database that was created by any version has the schema and the
/// rows of one that was created by the present version.
@Suite struct MigrationContentTests {
    /// The columns and the indexes of each table, in the order in which SQLite stores them.
    private func schema(_ connection: SQLiteConnection) throws -> [String] {
        let columns = try connection.prepare(
            """
            SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk
            FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND t.type = 'table' AND t.name <> 'sqlite_schema'
            ORDER BY t.name, c.cid
            """
        ).all { $0.text(0) }
        let tables = try connection.prepare(
            "SELECT name || ' ' || type || ' ' || wr || ' ' || strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
        ).all { $0.text(0) }
        let indexes = try connection.prepare(
            "SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE type = 'index' ORDER BY name"
        ).all { row in "\(row.text(0)) \(row.text(1)) " + row.text(2).split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        return columns + tables + indexes
    }

    @Test(arguments: 1...ChatSchema.version) func eachVersionBecomesTheSameSchema(_ version: Int64) throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let found = try self.schema(Fixture.open(version, in: folder).connection)
        let expected = try self.schema(other.open().connection)
        #expect(found.count > 100 && Set(found).symmetricDifference(expected) == [])
        #expect(found == expected)
    }

    /// The rows that earlier versions cannot have.
    private static let later: [Int64: Set<String>] = [
        1: ["credential", "device", "code", "invitation", "quota", "scheduled", "counter"], 2: ["scheduled", "counter"],
    ]

    @Test(arguments: 1..<ChatSchema.version) func eachVersionKeepsItsRows(_ version: Int64) throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let found = try DatabaseDump(Fixture.open(version, in: folder).connection)
        let expected = try DatabaseDump(Fixture.open(ChatSchema.version, in: other).connection)
        for table in Set(found.tables.keys).union(expected.tables.keys).sorted() {
            if Self.later[version]?.contains(table) == true || ["event_place", "event_recent"].contains(table) { continue }
            #expect(found[table] == expected[table], "\(table)")
        }
        #expect(found["event_recent"].isEmpty && found["event_place"].count == found["event"].count)
        #expect(!found["event"].isEmpty && !found["member"].isEmpty && !found["mention"].isEmpty && !found["annotation"].isEmpty)
        for table in Self.later[version] ?? [] where table != "counter" { #expect(found[table].isEmpty, "\(table)") }
    }

    /// A second start changes nothing.
    @Test(arguments: [1, 4, 9, ChatSchema.version]) func aMigrationHappensOnce(_ version: Int64) throws {
        let folder = try TemporaryFolder()
        let (dump, position) = try { () throws -> (DatabaseDump, SyncPosition) in
            let storage = try Fixture.open(version, in: folder)
            return (try DatabaseDump(storage.connection), try storage.position())
        }()
        let storage = try folder.open()
        let again = try DatabaseDump(storage.connection)
        #expect(again == dump, "\(again.difference(from: dump))")
        #expect(try storage.position() == position && position.position == "3")
        #expect(try ChatSchema.foundVersion(storage.connection) == ChatSchema.version)
    }

    /// The users of each version read and write as those of a new server.
    @Test(arguments: 1...ChatSchema.version) func aMigratedLogContinues(_ version: Int64) throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(version, in: folder)
        let (ann, bob, group) = (UserKey(1), UserKey(2), ConversationKey(7))
        let first = EventAddress(group, 1)
        let id = try #require(ClientID("id-1"))
        var needs = Needs()
        (needs.sends, needs.events) = ([SendAddress(group, ann, id)], [first])
        var target = try #require(try storage.begin(needs).events[first])
        storage.abandon()
        #expect(target.clientID == id && target.mentions == [bob])
        (target.original, target.body, target.state) = (target.body, #"{"text":"edited"}"#, .edited)
        (target.editedAt, target.editSeq, target.isPinned) = (9, 3, true)
        var changes = Changes()
        var counters = try #require(try storage.head(of: bob, in: group)).conversation.counters
        (counters.lastSeq, counters.lastN) = (4, 3)
        changes.conversations = [ConversationChange(key: group, counters: counters)]
        changes.events = [
            EventRow(conversation: group, seq: 3, n: 0, sender: ann, at: 9, kind: .edit, ref: 1, body: "{}"),
            EventRow(conversation: group, seq: 4, n: 3, sender: bob, at: 10, kind: .text, body: "{}", mentionsAll: true),
        ]
        changes.targets = [target]
        changes.blanks = [EventBlank(address: EventAddress(group, 2), state: .erased)]
        _ = try storage.begin(Needs())
        #expect(try storage.commit(changes).commit == 4)
        let events = try storage.events(in: group, .from(1), as: ann, limit: 9)
        #expect(events.map { $0.row?.state } == [.edited, .erased, .normal, .normal])
        #expect(try storage.events(in: group, .edits(of: 1), as: ann, limit: 9).map(\.seq) == [3])
        #expect(try storage.head(of: ann, in: group)?.pins == [1] && storage.head(of: ann, in: group)?.mentions == 1)
        #expect(try storage.head(of: bob, in: group)?.mentions == 1, "the mention of the earlier version")
        #expect(try storage.events(in: group, .from(2), as: bob, limit: 1).first?.row == nil, "hidden by the earlier version")
        #expect(try storage.check().isEmpty)
    }

    /// The index of texts reads the events of all versions, in the order of their places.
    @Test(arguments: 1...ChatSchema.version) func aMigratedLogIsIndexed(_ version: Int64) throws {
        let folder = try TemporaryFolder()
        do { _ = try Fixture.open(version, in: folder) }
        let lock = try ChatFolder(folder.path)
        let storage = try SQLiteStorage(lock)
        let index = try SearchIndex(lock)
        while try index.update(at: 0) {}
        func found(_ word: String, as user: Int64) throws -> [Int64] {
            let need = SearchNeed(words: SearchWords(word))
            return try SQLiteReads(lock).search(need, as: UserKey(user), limit: 9).hits.map(\.view.seq)
        }
        #expect(try found("hello", as: 1) == [1] && found("hello", as: 2) == [1])
        #expect(try found("hidden", as: 1) == [2] && found("hidden", as: 2) == [], "hidden from the second user")
        #expect(try storage.forgetTextChanges(before: .max, limit: 9) == 0)
    }
}
