import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatSQLite

@Suite struct SchemaTests {
    @Test func aNewerSchemaIsRefused() throws {
        let folder = try TemporaryFolder()
        do {
            let storage = try folder.open()
            try storage.connection.execute("INSERT INTO schema_version (version) VALUES (\(ChatSchema.version + 1))")
        }
        let error = #expect(throws: StorageError.self) { try folder.open() }
        #expect(error?.code == .newerSchema)
    }

    @Test func aFileThatIsNotADatabaseIsRefused() throws {
        let folder = try TemporaryFolder()
        try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: folder.path + "/chat.sqlite"))
        let error = #expect(throws: StorageError.self) { try folder.open() }
        #expect(error?.code == .corrupt)
    }

    @Test func everyVersionHasAFixture() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Fixture.folder.path).filter { $0.hasSuffix(".sql") }
        #expect(Set(files) == Set((1...ChatSchema.version).map { "schema-\($0).sql" }))
    }

    /// A database of each version is opened, migrated to the current version, read and written.
    @Test(arguments: 1...ChatSchema.version) func aDatabaseOfEachVersionIsOpened(_ version: Int64) throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(version, in: folder)
        #expect(try ChatSchema.foundVersion(storage.connection) == ChatSchema.version)
        let (ann, bob, group) = (UserKey(1), UserKey(2), ConversationKey(7))
        let events = try storage.events(in: group, .from(1), as: bob, limit: 9)
        #expect(events.map { $0.row?.body } == [#"{"text":"hello"}"#, nil])
        #expect(try storage.head(of: bob, in: group)?.mentions == 1)
        #expect(try storage.accounts(containing: "nn", after: nil, limit: 9).map(\.key) == [ann])
        #expect(try storage.connection.prepare("PRAGMA integrity_check").first { $0.text(0) } == "ok")
        var changes = Changes()
        var counters = try #require(try storage.head(of: bob, in: group)).conversation.counters
        (counters.lastSeq, counters.lastN) = (3, 3)
        changes.conversations = [ConversationChange(key: group, counters: counters)]
        changes.events = [EventRow(conversation: group, seq: 3, n: 3, sender: ann, at: 5, kind: .text, body: "{}")]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        #expect(try storage.events(in: group, .from(3), as: bob, limit: 9).map(\.seq) == [3])
    }

    /// All events enter the table that replaces the index of ids.
    @Test func stepElevenPlacesAllEvents() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(10, in: folder) { connection in
            for (slot, seqs) in [(5, [3, 1, 2]), (4, [2, 1])] {
                for seq in seqs {
                    try connection.execute(
                        """
                        INSERT INTO event (id, n, is_message, sender, at, kind, state, body)
                        VALUES (\(slot << 32 | seq), 1, 1, 1, 1, 'text', 0, '{}')
                        """)
                }
            }
        }
        let places = try storage.connection.prepare("SELECT id, place FROM event_place ORDER BY id").all { [$0.int(0), $0.int(1)] }
        let events = try storage.connection.prepare("SELECT id, place FROM event ORDER BY id").all { [$0.int(0), $0.int(1)] }
        #expect(places == events && places.count >= 7)
        #expect(try storage.connection.prepare("SELECT count(*) FROM event_recent").number() == 0)
        #expect(try storage.connection.prepare("SELECT count(*) FROM pragma_index_list('event') WHERE name = 'event_id'").number() == 0)
        #expect(try storage.check().isEmpty)
    }

    /// The times of edits and blocks become positions in the log: a block is placed after the last
    /// event before it, and an edit or a change of a call at its own event.
    @Test func stepTenPlacesEditsAndBlocksInTheLog() throws {
        let folder = try TemporaryFolder()
        let event = "INSERT INTO event (id, n, is_message, sender, at, kind, ref, state, body, edited_at) VALUES "
        let (slot, first) = (Int64(3), Int64(3) << 32)
        let connection = try Fixture.open(9, in: folder) { connection in
            try connection.execute("DELETE FROM event WHERE id >> 32 = \(slot)")
            for (seq, at, kind, ref, edited) in [
                (1, 10, "text", 0, 40), (2, 20, "call", 0, 60), (3, 30, "text", 0, 0), (4, 30, "edit", 1, 0), (5, 40, "edit", 1, 0),
                (6, 60, "call.update", 2, 0),
            ] {
                let ref = ref == 0 ? "NULL" : "\(first + Int64(ref))"
                try connection.execute(event + "(\(first + Int64(seq)), \(seq), 1, 1, \(at), '\(kind)', \(ref), 0, '{}', \(edited))")
            }
            try connection.execute("UPDATE member SET blocks_peer = 45 WHERE slot = \(slot)")
            try connection.execute("UPDATE member SET blocks_peer = 5 WHERE slot = 2")
        }.connection
        let edits = try connection.prepare("SELECT edit_seq FROM event WHERE id > \(first) ORDER BY id").all { $0.int(0) }
        #expect(edits == [5, 6, 0, 0, 0, 0])
        #expect(try connection.prepare("SELECT block_seq FROM member WHERE slot = \(slot)").all { $0.int(0) } == [5])
        #expect(try connection.prepare("SELECT block_seq FROM member WHERE slot = 2").all { $0.int(0) } == [1], "before the first event")
        #expect(try connection.prepare("SELECT max(block_seq) FROM member WHERE slot = 1").number() == 0)
    }
}
