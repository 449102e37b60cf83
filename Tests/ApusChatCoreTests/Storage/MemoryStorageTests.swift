import ApusChatProtocol
import ApusChatStorage
import Testing

/// The behaviour of `MemoryStorage` that `StorageSuite` does not test for all storages.
@Suite struct MemoryStorageTests {
    let storage = MemoryStorage()

    @Test func oneBatchIsUnderWay() throws {
        _ = try self.storage.begin(Needs())
        #expect(throws: StorageError.self) { try self.storage.begin(Needs()) }
        self.storage.abandon()
        self.storage.abandon()
        _ = try self.storage.begin(Needs())
        _ = try self.storage.commit(Changes())
        #expect(throws: StorageError.self) { try self.storage.commit(Changes()) }
    }

    @Test func aHoleInALogIsAFaultOfTheCaller() throws {
        let row = ConversationRow(key: ConversationKey(1), kind: .group, createdAt: 0, settings: ConversationSettings())
        var changes = Changes()
        changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)]
        changes.events = [EventRow(conversation: row.key, seq: 2, n: 1, sender: UserKey(1), at: 0, kind: .text)]
        _ = try self.storage.begin(Needs())
        #expect(throws: StorageError.self) { try self.storage.commit(changes) }
    }

    @Test func commitsAreCounted() throws {
        var changes = Changes()
        changes.unscheduled = [ScheduledAddress(UserKey(1), try #require(ClientID("s")))]
        _ = try self.storage.begin(Needs())
        #expect(try self.storage.commit(changes) == CommitStamp(commit: 1))
        #expect(self.storage.position() == SyncPosition(epoch: "memory", position: "1"))
    }

    @Test(arguments: ["other.0", "memory.-1", "memory.2", "memory.x"]) func unknownPositionsAreAnsweredResync(text: String) throws {
        let position = try #require(SyncPosition(text))
        #expect(self.storage.changes(of: UserKey(1), after: position, cursor: nil, limit: 9) == .resync)
    }
}
