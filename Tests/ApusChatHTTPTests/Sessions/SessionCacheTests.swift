import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatHTTP

@Suite("Sessions in memory and in the journal")
struct SessionCacheTests {
    private func device(_ key: Int64, generation: Int64 = 0) -> DeviceRow {
        var row = DeviceRow(key: DeviceKey(key), user: UserKey(1), name: "d", platform: "web", at: 1)
        row.generation = generation
        return row
    }

    // MARK: The cache

    @Test func anEndedSessionDoesNotResume() {
        var cache = SessionCache()
        cache.insert(self.device(1))
        #expect(cache.find(DeviceKey(1)) == .device(self.device(1)))
        cache.end([DeviceKey(1), DeviceKey(2)])
        cache.insert(self.device(1))  // from a read that began before the session ended
        cache.insert(self.device(2))
        #expect(cache.find(DeviceKey(1)) == .ended && cache.find(DeviceKey(2)) == .ended && cache.find(DeviceKey(3)) == .unknown)
    }

    @Test func anOlderGenerationDoesNotReplaceANewerOne() {
        var cache = SessionCache()
        cache.insert(self.device(1, generation: 2))
        cache.insert(self.device(1, generation: 1))
        #expect(cache.find(DeviceKey(1)) == .device(self.device(1, generation: 2)))
        cache.insert(self.device(1, generation: 3))
        #expect(cache.find(DeviceKey(1)) == .device(self.device(1, generation: 3)))
    }

    @Test func theCacheIsBoundedAndKeepsRecentEntries() {
        var cache = SessionCache(capacity: 10)
        for key in 0..<100 {
            cache.insert(self.device(Int64(key)))
            #expect(cache.find(DeviceKey(0)) == .device(self.device(0)), "\(key)")  // it is used constantly
        }
        let found = (Int64(0)..<100).count { cache.find(DeviceKey($0)) != .unknown }
        #expect((2...20).contains(found))
    }

    @Test func endedSessionsAreKnownForTwoGenerations() {
        var cache = SessionCache(capacity: 10)
        for key in Int64(0)..<15 { cache.end([DeviceKey(key)]) }
        for key in Int64(0)..<15 { #expect(cache.find(DeviceKey(key)) == .ended) }
        for key in Int64(15)..<25 { cache.end([DeviceKey(key)]) }
        #expect(cache.find(DeviceKey(0)) == .unknown && cache.find(DeviceKey(15)) == .ended)
    }

    // MARK: The journal

    private func folder(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-journal-" + UUID().uuidString).path
        try DurableFile.makeFolder(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func endedSessionsSurviveARestart() throws {
        try self.folder { folder in
            let keys = [DeviceKey(1), DeviceKey(.max), DeviceKey(.min), DeviceKey(0)]
            do {
                let journal = try RevocationJournal(in: folder)
                for key in keys { try journal.add(key) }
            }
            let journal = try RevocationJournal(in: folder)
            #expect(journal.devices == keys)
            try journal.removeAll()
            #expect(journal.devices.isEmpty)
            #expect(try RevocationJournal(in: folder).devices.isEmpty)
            try journal.add(DeviceKey(9))
            #expect(try RevocationJournal(in: folder).devices == [DeviceKey(9)])
        }
    }

    @Test func theJournalHasItsSpaceFromTheStart() throws {
        try self.folder { folder in
            _ = try RevocationJournal(in: folder)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/chat.ended")
            #expect((attributes[.size] as? NSNumber)?.intValue == 65_536)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func aFullJournalRefuses() throws {
        try self.folder { folder in
            // The test writes a full journal at once, because 4,096 syncs would take too long.
            let bytes = (1...RevocationJournal.places).flatMap { number -> [UInt8] in
                let key = UInt64(number)
                return [key, ~key].flatMap { value in (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
            }
            #expect(FileManager.default.createFile(atPath: folder + "/chat.ended", contents: Data(bytes)))
            let journal = try RevocationJournal(in: folder)
            #expect(journal.devices.count == RevocationJournal.places && journal.devices.last == DeviceKey(4_096))
            #expect(throws: StorageError.self) { try journal.add(DeviceKey(5_000)) }
            try journal.removeAll()
            try journal.add(DeviceKey(5_000))
            #expect(journal.devices == [DeviceKey(5_000)])
        }
    }

    @Test func aTornPlaceIsNotASession() throws {
        try self.folder { folder in
            let path = folder + "/chat.ended"
            do {
                let journal = try RevocationJournal(in: folder)
                try journal.add(DeviceKey(1))
                try journal.add(DeviceKey(2))
            }
            var bytes = try #require(FileManager.default.contents(atPath: path))
            bytes[31] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try RevocationJournal(in: folder).devices == [DeviceKey(1)])
            try bytes.prefix(20).write(to: URL(fileURLWithPath: path))
            #expect(try RevocationJournal(in: folder).devices == [DeviceKey(1)])
        }
    }

    @Test func aLinkIsNotFollowed() throws {
        try self.folder { folder in
            let target = folder + "/target"
            for name in ["chat.ended", "chat.key", "a.part"] {
                try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: target)
            }
            #expect(throws: StorageError.self) { try RevocationJournal(in: folder) }
            #expect(throws: StorageError.self) { try ServerKey.load(from: folder) }
            #expect(throws: StorageError.self) { try OpenFile(folder + "/a.part", O_WRONLY | O_CREAT) }
            #expect(!DurableFile.exists(target))
        }
    }

    // MARK: The key

    @Test func theKeyIsMadeOnce() throws {
        try self.folder { folder in
            let key = try ServerKey.load(from: folder)
            #expect(key.count == 32 && key.contains { $0 != 0 })
            #expect(try ServerKey.load(from: folder) == key)
            #expect(
                try ServerKey.load(from: folder, named: "other.key", makes: { Array(repeating: 5, count: 32) })
                    == Array(repeating: 5, count: 32))
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/chat.key")
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func aTruncatedKeyIsNotReplaced() throws {
        try self.folder { folder in
            for count in [1, 31] {
                try Data(repeating: 1, count: count).write(to: URL(fileURLWithPath: folder + "/chat.key"))
                #expect { try ServerKey.load(from: folder) } throws: { ($0 as? StorageError)?.code == .corrupt }
                #expect(FileManager.default.contents(atPath: folder + "/chat.key")?.count == count)
            }
        }
    }
}
