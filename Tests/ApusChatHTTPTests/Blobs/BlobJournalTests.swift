import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatHTTP

/// The records of blobs whose bytes and rows may disagree after a stop of the server.
@Suite("Journal of blobs")
struct BlobJournalTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func blob(_ digit: Character) throws -> BlobID { try #require(BlobID(String(repeating: digit, count: 64))) }

    @Test func aRecordStaysUntilItIsRemoved() throws {
        try self.withFolder { folder in
            let (a, b, c) = (try self.blob("a"), try self.blob("b"), try self.blob("0"))
            let journal = try BlobJournal("changed", in: folder)
            #expect(try journal.blobs().isEmpty && !journal.contains(a))
            try journal.note(a)
            try journal.add(b, upload: "upload/1?x=ü")
            try journal.add(c)
            // A later start of the server finds the same.
            for journal in [journal, try BlobJournal("changed", in: folder)] {
                #expect(try journal.blobs() == [c, a, b])
                #expect(journal.contains(a) && journal.contains(b) && journal.contains(c))
                #expect(journal.upload(of: a) == nil && journal.upload(of: b) == "upload/1?x=ü" && journal.upload(of: c) == nil)
            }
            #expect(try BlobJournal("other", in: folder).blobs().isEmpty, "each journal has its own records")
            journal.remove(b)
            journal.remove(b)
            #expect(try journal.blobs() == [c, a] && journal.upload(of: b) == nil && !journal.contains(b))
        }
    }

    /// A note of a change does not forget the upload that a record names.
    @Test func aNoteKeepsAnUploadAndAnAdditionReplacesIt() throws {
        try self.withFolder { folder in
            let journal = try BlobJournal("changed", in: folder)
            let blob = try self.blob("7")
            try journal.add(blob, upload: "a long name of an upload")
            try journal.note(blob)
            #expect(journal.upload(of: blob) == "a long name of an upload")
            try journal.add(blob, upload: "short")
            #expect(journal.upload(of: blob) == "short")
            try journal.add(blob)
            #expect(journal.upload(of: blob) == nil && journal.contains(blob))
        }
    }

    @Test func otherFilesAreNotRecords() throws {
        try self.withFolder { folder in
            let journal = try BlobJournal("changed", in: folder)
            let blob = try self.blob("f")
            try journal.add(blob)
            for name in [
                "x", ".tmp", String(repeating: "F", count: 64), String(repeating: "f", count: 63), String(repeating: "f", count: 65),
                String(repeating: "g", count: 64), String(repeating: "f", count: 64) + ".tmp",
            ] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/changed/\(name)"))
            }
            #expect(try journal.blobs() == [blob])
        }
    }

    /// A record that is longer than the id of an upload is damaged.
    @Test(arguments: [(1, true), (2_048, true), (2_049, false), (1_000_000, false)]) func aRecordHasALimit(bytes: Int, isRead: Bool) throws
    {
        try self.withFolder { folder in
            let journal = try BlobJournal("changed", in: folder)
            let blob = try self.blob("1")
            try Data(repeating: 0x61, count: bytes).write(to: URL(fileURLWithPath: "\(folder)/changed/\(blob.rawValue)"))
            #expect(journal.upload(of: blob) == (isRead ? String(repeating: "a", count: bytes) : nil))
            #expect(journal.contains(blob), "the blob is examined nevertheless")
        }
    }

    /// A link in the folder is not followed, so that no other file is changed or read.
    @Test func aLinkIsNotFollowed() throws {
        try self.withFolder { folder in
            let journal = try BlobJournal("changed", in: folder)
            let blob = try self.blob("2")
            let target = folder + "/target"
            try Data("secret".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/changed/\(blob.rawValue)", withDestinationPath: target)
            #expect(journal.upload(of: blob) == nil)
            #expect(throws: StorageError.self) { try journal.note(blob) }
            try journal.add(blob, upload: "new")
            #expect(journal.upload(of: blob) == "new")
            #expect(FileManager.default.contents(atPath: target) == Data("secret".utf8))
        }
    }

    @Test func aFolderThatCannotBeMadeIsAnError() {
        #expect(throws: StorageError.self) { try BlobJournal("changed", in: "/dev/null") }
        #expect(throws: StorageError.self) { try BlobJournal("changed", in: "/no/such/folder") }
    }
}
