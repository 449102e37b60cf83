import ApusChatProtocol
import ApusChatStorage
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatSQLite

/// The file of the search index with damage of several kinds.
@Suite struct SearchFileTests {
    enum Damage: CaseIterable {
        case missing, empty, oneByte, cutInTheHeader, cutInTheMiddle, cutAtTheEnd, garbage, otherHeader, garbageLog, garbageLogs,
            otherEpoch,
            otherVersion, noPosition, noTable, laterPages, lastPage, unreadable, directory, fullDirectories, directoryLog

        /// - Parameters:
        ///   - path: The file of the index.
        ///   - inPlace: Whether connections that have the file open see the damage.
        func apply(to path: String, inPlace: Bool = false) throws {
            let url = URL(fileURLWithPath: path)
            var bytes = try Data(contentsOf: url)
            switch self {
            case .missing: return try FileManager.default.removeItem(at: url)
            case .empty: bytes = Data()
            case .oneByte: bytes = Data([0x53])
            case .cutInTheHeader: bytes = bytes.prefix(60)
            case .cutInTheMiddle: bytes = bytes.prefix(bytes.count / 2)
            case .cutAtTheEnd: bytes = bytes.dropLast(4_096)
            case .garbage: bytes = Data(repeating: 0x41, count: bytes.count)
            case .otherHeader: bytes.replaceSubrange(0..<16, with: Data("SQLite format 9\0".utf8))
            case .garbageLog: return try Data(repeating: 0x37, count: 10_000).write(to: URL(fileURLWithPath: path + "-wal"))
            case .garbageLogs:
                for suffix in ["-wal", "-shm"] { try Data(repeating: 0, count: 32_768).write(to: URL(fileURLWithPath: path + suffix)) }
                return
            case .otherEpoch: return try self.execute("UPDATE position SET epoch = 'other'", path)
            case .otherVersion: return try self.execute("UPDATE position SET version = version + 1", path)
            case .noPosition: return try self.execute("DELETE FROM position", path)
            case .noTable: return try self.execute("DROP TABLE position", path)
            case .unreadable: return try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            case .directory:
                try FileManager.default.removeItem(at: url)
                return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            case .fullDirectories:
                try FileManager.default.removeItem(at: url)
                for folder in [url, URL(fileURLWithPath: path + ".unusable")] {
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                    try Data("kept".utf8).write(to: folder.appendingPathComponent("note"))
                }
                return
            case .directoryLog:
                try? FileManager.default.removeItem(atPath: path + "-wal")
                return try FileManager.default.createDirectory(atPath: path + "-wal", withIntermediateDirectories: false)
            case .laterPages: bytes.replaceSubrange(8_192..., with: Data(repeating: 0x41, count: bytes.count - 8_192))
            case .lastPage: bytes.replaceSubrange((bytes.count - 4_096)..., with: Data(repeating: 0x41, count: 4_096))
            }
            guard inPlace else { return try bytes.write(to: url) }
            let file = try FileHandle(forWritingTo: url)
            defer { try? file.close() }
            try file.write(contentsOf: bytes)
        }

        private func execute(_ sql: String, _ path: String) throws {
            try SQLiteConnection(path: path, isReader: false, cacheBytes: 1 << 20).execute(sql)
        }
    }

    private func say(_ text: String, in key: ConversationKey, _ world: StorageWorld) throws {
        try world.append(to: key, by: world.ann) { event, _ in event.body = #"{"text":"\#(text)"}"# }
    }

    /// Returns a world with three indexed messages and a closed index.
    private func world() throws -> (StorageWorld, ChatFolder, ConversationKey) {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann)
        for number in 1...3 { try self.say("word \(number)", in: group, world) }
        #expect(try world.found("word", as: world.ann) == [3, 2, 1])
        world.forgetIndex()
        return (world, try #require(world.lock), group)
    }

    /// Opens an index and updates it until it is complete, as a server does.
    private func start(_ lock: ChatFolder) throws {
        let index = try SearchIndex(lock)
        while try index.update(at: 0) {}
    }

    /// A damaged index is rebuilt at the start, or at the next start if only the first update
    /// detects the damage.
    @Test(arguments: Damage.allCases) func aDamagedIndexIsRebuilt(_ damage: Damage) throws {
        let (world, lock, group) = try self.world()
        try damage.apply(to: lock.searchPath)
        for number in 4...5 { try self.say("word \(number)", in: group, world) }
        do { try self.start(lock) } catch let error as StorageError where error.code == .corrupt {
            try self.start(lock)
        }
        let need = SearchNeed(words: SearchWords("word"))
        let page = try SQLiteReads(lock).search(need, as: world.ann, limit: 9)
        #expect(page.hits.map(\.view.seq) == [5, 4, 3, 2, 1])
        // The log is unchanged.
        #expect(try world.seqs(group, .from(1), as: world.ann) == [1, 2, 3, 4, 5])
    }

    /// The index is derived from the log: an update that finds it damaged rebuilds it, and readers
    /// use the new file.
    @Test func anUpdateThatFindsDamageRebuildsTheIndex() throws {
        let (world, lock, group) = try self.world()
        try Damage.laterPages.apply(to: lock.searchPath)
        let index = try SearchIndex(lock)
        let reads = try SQLiteReads(lock)
        try self.say("word 4", in: group, world)
        while try index.update(at: 0) {}
        let page = try reads.search(SearchNeed(words: SearchWords("word")), as: world.ann, limit: 9)
        #expect(page.hits.map(\.view.seq) == [4, 3, 2, 1] && page.indexedAt == nil)
    }

    /// Two readers have the file open while its pages are damaged. No update meets the damage, but
    /// each search does.
    @Test func aSearchThatFindsDamageIsAnsweredAndRebuildsTheIndex() throws {
        let (world, lock, group) = try self.world()
        let index = try SearchIndex(lock)
        let reports = NIOLockedValueBox(0)
        index.whenDamaged { reports.withLockedValue { $0 += 1 } }
        let readers = [try SQLiteReads(lock), try SQLiteReads(lock)]
        // The damage precedes the first search, so that no reader has a page in its cache.
        try Damage.laterPages.apply(to: lock.searchPath, inPlace: true)
        let need = SearchNeed(words: SearchWords("word"))
        for reader in readers + readers {
            let page = try reader.inSnapshot { try reader.search(need, as: world.ann, limit: 9) }
            #expect(page.hits.isEmpty && page.indexedAt == 0 && page.next == nil)
            #expect(try reader.events(in: group, .from(1), as: world.ann, limit: 9).count == 3, "the log is readable")
        }
        #expect(reports.withLockedValue { $0 } == 1)
        while try index.update(at: 0) {}
        for reader in readers {
            let page = try reader.inSnapshot { try reader.search(need, as: world.ann, limit: 9) }
            #expect(page.hits.map(\.view.seq) == [3, 2, 1] && page.indexedAt == nil)
        }
        try self.say("word 4", in: group, world)
        while try index.update(at: 0) {}
        #expect(try readers[0].search(need, as: world.ann, limit: 9).hits.count == 4)
    }

    /// A disk damages each new index. Each search finds it, and the index is rebuilt once a minute.
    @Test func anIndexThatIsDamagedAgainIsRebuiltAMinuteLater() throws {
        let (world, lock, group) = try self.world()
        let index = try SearchIndex(lock)
        let need = SearchNeed(words: SearchWords("word"))
        /// Returns the seqs that a new reader finds; nil if the index cannot be searched.
        func search() throws -> [Int64]? {
            let page = try SQLiteReads(lock).search(need, as: world.ann, limit: 9)
            return page.indexedAt == 0 ? nil : page.hits.map(\.view.seq)
        }
        /// Reports damage as a search does.
        func damage() throws {
            lock.search.damaged(lock.search.generation)
            #expect(try search() == nil)
        }
        let start: Int64 = 1_000_000
        try damage()
        while try index.update(at: start) {}
        #expect(try search() == [3, 2, 1] && lock.search.generation == 1)
        try damage()
        for time in [start, start + 1, start + SearchIndex.rebuildInterval - 1] {
            #expect { try index.update(at: time) } throws: { ($0 as? StorageError)?.code == .corrupt }
            #expect(try search() == nil && lock.search.generation == 1, "at \(time)")
        }
        #expect(try world.seqs(group, .from(1), as: world.ann) == [1, 2, 3], "the log is readable")
        while try index.update(at: start + SearchIndex.rebuildInterval) {}
        #expect(try search() == [3, 2, 1] && lock.search.generation == 2)
        // Each rebuild starts a new interval.
        try damage()
        #expect(throws: StorageError.self) { try index.update(at: start + 2 * SearchIndex.rebuildInterval - 1) }
        #expect(lock.search.generation == 2)
    }

    /// A late report of damage in a replaced file has no effect on the new file.
    @Test func lateDamageIsNotReported() {
        let health = SearchHealth()
        let reports = NIOLockedValueBox(0)
        health.whenDamaged { reports.withLockedValue { $0 += 1 } }
        health.damaged(0)
        health.damaged(0)
        #expect(health.isDamaged && reports.withLockedValue { $0 } == 1)
        health.replaced()
        health.damaged(0)
        #expect(!health.isDamaged && health.generation == 1 && reports.withLockedValue { $0 } == 1)
        health.damaged(1)
        #expect(health.isDamaged && reports.withLockedValue { $0 } == 2)
    }

    /// A directory in place of the file may contain data of the operator, so it is renamed.
    @Test func aDirectoryIsMovedAside() throws {
        let (world, lock, _) = try self.world()
        try withExtendedLifetime(world) {  // its end removes the folder
            try Damage.fullDirectories.apply(to: lock.searchPath)
            #expect(try SearchIndex(lock).moved == [lock.searchPath + ".unusable-2"])
            for suffix in ["", "-2"] {
                #expect(FileManager.default.contents(atPath: lock.searchPath + ".unusable\(suffix)/note") == Data("kept".utf8))
            }
            #expect(try SearchIndex(lock).moved == [])
        }
    }

    /// An index with an old position, as after a power failure, does not index a message twice.
    @Test func anIndexThatIsBehindContinues() throws {
        let (world, lock, group) = try self.world()
        let url = URL(fileURLWithPath: lock.searchPath)
        let earlier = try Data(contentsOf: url)
        for number in 4...6 { try self.say("word \(number)", in: group, world) }
        try self.start(lock)
        try earlier.write(to: url)
        try self.start(lock)
        let page = try SQLiteReads(lock).search(SearchNeed(words: SearchWords("word")), as: world.ann, limit: 20)
        #expect(page.hits.map(\.view.seq) == [6, 5, 4, 3, 2, 1])
    }
}
