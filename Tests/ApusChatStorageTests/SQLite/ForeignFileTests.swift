import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatSQLite

/// Files of the data folder that the server did not write, or that were changed while it was not
/// running.
@Suite struct ForeignFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Commits batches, each of which writes an account, and closes the storage.
    private func work(_ keys: ClosedRange<Int64>) throws {
        let storage = try self.folder.open()
        for key in keys {
            var changes = Changes()
            changes.accounts = [
                AccountRow(key: UserKey(key), name: .init(prepared: "user\(key)"), nickname: "", selfConversation: ConversationKey(1))
            ]
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
        }
    }

    private func keys() throws -> [Int64] { try self.folder.open().accounts(after: nil, limit: 99).map(\.key.rawValue) }

    private func epoch() throws -> String { try self.folder.open().position().epoch }

    private var note: String {
        get throws { try String(contentsOf: URL(fileURLWithPath: self.folder.path + "/chat.place"), encoding: .utf8) }
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.folder.path + "/" + name))
    }

    // MARK: The database

    /// A file without content is a new database, as after `touch`.
    @Test func anEmptyFileIsANewDatabase() throws {
        try self.write("", to: "chat.sqlite")
        try self.work(1...2)
        #expect(try self.keys() == [1, 2])
    }

    /// A database of another program is refused, and its rows remain.
    @Test(arguments: ["conversation", "event", "account", "meta"]) func aDatabaseOfAnotherProgramIsRefused(table: String) throws {
        let path = self.folder.path + "/chat.sqlite"
        do {
            let connection = try SQLiteConnection(path: path, isReader: false, cacheBytes: 1 << 20)
            try connection.execute("CREATE TABLE \(table) (note TEXT); INSERT INTO \(table) VALUES ('kept')")
        }
        #expect(self.code { _ = try self.folder.open() } == .invalidUse)
        let connection = try SQLiteConnection(path: path, isReader: true, cacheBytes: 1 << 20)
        #expect(try connection.prepare("SELECT note FROM \(table)").all { $0.text(0) } == ["kept"])
        #expect(try ChatSchema.foundVersion(connection) == 0)
        #expect(try connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'credential'").number() == 0)
    }

    /// A log that does not belong to the database is ignored.
    @Test func aForeignLogIsIgnored() throws {
        try self.work(1...3)
        for size in [1, 31, 32, 4_096, 100_000] {
            try Data(repeating: 0x37, count: size).write(to: URL(fileURLWithPath: self.folder.path + "/chat.sqlite-wal"))
            #expect(try self.keys() == [1, 2, 3], "\(size) bytes")
        }
        try self.work(4...4)
        #expect(try self.keys() == [1, 2, 3, 4])
    }

    /// The index of the log is rebuilt if it is damaged.
    @Test func aDamagedIndexOfTheLogIsRebuilt() throws {
        let copy = try TemporaryFolder()
        do {
            let storage = try self.folder.open()
            var changes = Changes()
            changes.accounts = [
                AccountRow(key: UserKey(1), name: .init(prepared: "ann"), nickname: "", selfConversation: ConversationKey(1))
            ]
            _ = try storage.begin(Needs())
            _ = try storage.commit(changes)
            for name in ["chat.sqlite", "chat.sqlite-wal"] { try self.folder.copy(name, to: copy) }
        }
        try TemporaryFolder.write([UInt8](repeating: 0xA5, count: 32_768), to: copy.path + "/chat.sqlite-shm")
        #expect(try copy.open().accounts(after: nil, limit: 9).map(\.key.rawValue) == [1], "the batch was in the log only")
    }

    // MARK: The note of the place

    /// The epoch is kept if and only if the note has the token of the database and the number of a
    /// batch that the database has.
    @Test(arguments: [
        ("TOKEN 3", true), ("TOKEN 2", true), ("TOKEN 0", true), ("TOKEN 4", false), ("TOKEN 9223372036854775807", false), ("TOKEN", false),
        ("TOKEN ", false), ("TOKEN x", false), ("TOKEN 3 x", false), ("TOKEN 3\n", false), ("TOKEN 9223372036854775808", false),
        ("other 3", false), (" 3", false), ("3", false), ("TOKEN\u{0} 3", false), ("tOKEN 3", false), ("\u{FEFF}TOKEN 3", false),
        ("", false),
    ])
    func aNoteIsCompared(text: String, isKept: Bool) throws {
        try self.work(1...3)
        let before = try self.epoch()
        let token = try #require(try self.note.split(separator: " ").first)
        #expect(try self.note == "\(token) 3")
        try self.write(text.replacingOccurrences(of: "TOKEN", with: token), to: "chat.place")
        let after = try self.epoch()
        #expect((after == before) == isKept)
        #expect(try self.epoch() == after, "the new note is valid")
        #expect(try (self.note.split(separator: " ").first == token) == isKept)
        #expect(try self.note.hasSuffix(" 3") && self.keys() == [1, 2, 3])
    }

    @Test func aNoteThatCannotBeWrittenIsReported() throws {
        try self.work(1...1)
        try FileManager.default.removeItem(atPath: self.folder.path + "/chat.place")
        try FileManager.default.createDirectory(atPath: self.folder.path + "/chat.place", withIntermediateDirectories: false)
        let error = #expect(throws: StorageError.self) { try self.folder.open() }
        #expect(error?.code == .io && error?.message.contains("/chat.place cannot be opened") == true)
        try FileManager.default.removeItem(atPath: self.folder.path + "/chat.place")
        #expect(try self.keys() == [1])
    }

    /// A storage that could not be opened does not change the note. A lower number in it would hide
    /// that an older database was restored afterwards.
    @Test func aFailedStartKeepsTheNote() throws {
        try self.work(1...3)
        let (note, epoch) = (try self.note, try self.epoch())
        let path = self.folder.path + "/chat.sqlite"
        do {
            try SQLiteConnection(path: path, isReader: false, cacheBytes: 1 << 20).execute("INSERT INTO schema_version VALUES (99)")
        }
        #expect(self.code { _ = try self.folder.open() } == .newerSchema)
        #expect(try self.note == note)
        do {
            let connection = try SQLiteConnection(path: path, isReader: false, cacheBytes: 1 << 20)
            try connection.execute("DELETE FROM schema_version WHERE version = 99")
            // The restored database has fewer batches.
            try connection.execute("UPDATE meta SET last_commit = 2")
        }
        #expect(try self.epoch() != epoch)
    }

    /// The note has the last batch, whether it is committed before or after a recovery or
    /// checkpoint.
    @Test func theNoteHasTheLastBatch() throws {
        try self.work(1...2)
        #expect(try self.note.hasSuffix(" 2"))
        do {
            var environment = SQLiteEnvironment()
            environment.checkpointPages = 1
            let storage = try self.folder.open(environment)
            #expect(try self.note.hasSuffix(" 2"))
            func add(_ key: Int64) throws {
                var changes = Changes()
                changes.accounts = [
                    AccountRow(key: UserKey(key), name: .init(prepared: "user\(key)"), nickname: "", selfConversation: ConversationKey(1))
                ]
                _ = try storage.begin(Needs())
                _ = try storage.commit(changes)
            }
            try add(3)
            #expect(try self.note.hasSuffix(" 2"), "a batch does not write it")
            try storage.checkpointIfDue()
            #expect(try self.note.hasSuffix(" 3"))
            try add(4)
            try storage.recover()
            try add(5)
        }
        #expect(try self.note.hasSuffix(" 5"))
        _ = try self.epoch()
        #expect(try self.note.hasSuffix(" 5"), "a start without batches")
    }

    /// A database that replaces the file by a rename has another inode.
    @Test func aReplacedDatabaseHasANewEpoch() throws {
        try self.work(1...2)
        let first = try self.epoch()
        // The first file still exists when it is copied, so the inodes differ.
        try self.folder.copy("chat.sqlite", to: self.folder, as: "kept.sqlite")
        try FileManager.default.removeItem(atPath: self.folder.path + "/chat.sqlite")
        try FileManager.default.moveItem(atPath: self.folder.path + "/kept.sqlite", toPath: self.folder.path + "/chat.sqlite")
        let second = try self.epoch()
        #expect(second != first)
        #expect(try self.epoch() == second && self.keys() == [1, 2])
    }

    // MARK: The lock

    /// The content of the lock file is not used and not changed.
    @Test func aLockFileWithContentIsLocked() throws {
        try self.write("4711\n", to: "chat.lock")
        let lock = try ChatFolder(self.folder.path)
        #expect(self.code { _ = try ChatFolder(self.folder.path) } == .locked)
        #expect(FileManager.default.contents(atPath: self.folder.path + "/chat.lock") == Data("4711\n".utf8))
        lock.unlock()
    }

    @Test func aLockThatIsADirectoryIsReported() throws {
        try FileManager.default.createDirectory(atPath: self.folder.path + "/chat.lock", withIntermediateDirectories: false)
        let error = #expect(throws: StorageError.self) { try ChatFolder(self.folder.path) }
        #expect(error?.code == .io && error?.message.contains("/chat.lock cannot be opened") == true)
    }

    /// A second server that is refused leaves the files as they are.
    @Test func aRefusedFolderIsNotChanged() throws {
        let storage = try self.folder.open()
        let before = try FileManager.default.contentsOfDirectory(atPath: self.folder.path).sorted()
        for _ in 0..<3 { #expect(self.code { _ = try self.folder.open() } == .locked) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path).sorted() == before)
        #expect(try storage.check().isEmpty)
    }

    /// A note is read up to 256 bytes.
    @Test func aLongNoteIsCut() throws {
        let lock = try ChatFolder(self.folder.path)
        for (count, expected) in [(1, 1), (255, 255), (256, 256), (257, 256), (9_999, 256)] {
            try lock.write(String(repeating: "a", count: count), to: "note", isSynced: false)
            #expect(lock.text(of: "note")?.count == expected)
        }
    }
}
