import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatSQLite

/// The data epoch changes if and only if the data does not continue the state that clients have.
@Suite struct DataEpochTests {
    private func epoch(_ folder: TemporaryFolder) throws -> String { try folder.open().position().epoch }

    /// Commits batches, each of which writes an account.
    private func work(_ folder: TemporaryFolder, batches: Int) throws {
        let storage = try folder.open()
        for key in 1...batches {
            var changes = Changes()
            changes.accounts = [
                AccountRow(
                    key: UserKey(Int64(key)), name: .init(prepared: "user\(key)"), nickname: "", selfConversation: ConversationKey(1))
            ]
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
        }
    }

    @Test func aRestartKeepsTheEpoch() throws {
        let folder = try TemporaryFolder()
        let first = try self.epoch(folder)
        try self.work(folder, batches: 2)
        #expect(try self.epoch(folder) == first)
    }

    @Test func foldersHaveEpochsOfTheirOwn() throws {
        #expect(try self.epoch(TemporaryFolder()) != self.epoch(TemporaryFolder()))
    }

    @Test func aCopiedFolderHasANewEpoch() throws {
        let (folder, copy) = (try TemporaryFolder(), try TemporaryFolder())
        try self.work(folder, batches: 2)
        let first = try self.epoch(folder)
        for name in ["chat.sqlite", "chat.place"] { try folder.copy(name, to: copy) }
        #expect(try self.epoch(copy) != first)
        #expect(try self.epoch(folder) == first)
    }

    @Test func aDatabaseWithoutItsFolderHasANewEpoch() throws {
        let folder = try TemporaryFolder()
        let first = try self.epoch(folder)
        try FileManager.default.removeItem(atPath: folder.path + "/chat.place")
        let second = try self.epoch(folder)
        #expect(second != first)
        #expect(try self.epoch(folder) == second)
    }

    @Test func anOlderStateInTheSameFileHasANewEpoch() throws {
        let folder = try TemporaryFolder()
        try self.work(folder, batches: 1)
        let first = try self.epoch(folder)
        let file = URL(fileURLWithPath: folder.path + "/chat.sqlite")
        let backup = try Data(contentsOf: file)
        try self.work(folder, batches: 3)
        #expect(try self.epoch(folder) == first)
        // The backup is written into the existing file, as by `cp`, so that the inode stays.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: backup)
        try handle.close()
        for name in ["chat.sqlite-wal", "chat.sqlite-shm"] { try? FileManager.default.removeItem(atPath: folder.path + "/" + name) }
        #expect(try self.epoch(folder) != first)
    }

    @Test func anImportRenewsTheEpoch() throws {
        let folder = try TemporaryFolder()
        let first = try self.epoch(folder)
        try folder.open().renewEpoch()
        let second = try self.epoch(folder)
        #expect(second != first)
        #expect(try self.epoch(folder) == second)
    }
}
