import ApusFramedProtocol
@testable import ApusFramedSocket
import Crypto
import Foundation
import NIOCore
import Testing

/// Tests of resumption with files that crashes, other processes or other users left in the folder.
@Suite struct ReceivingFolderTests {
    private let path: String
    private let folder: ReceivingFolder
    private let offer: TransferOffer

    init() throws {
        self.path = NSTemporaryDirectory() + "apus-folder-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        self.folder = try ReceivingFolder(path: self.path)
        self.offer = try TransferOffer(id: "x", name: SafeFileName("photo.jpg"), size: 10)
    }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: self.path)) ?? []).sorted() }
    private func bytes(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: self.path + "/" + name).map(Array.init) }
    private func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: self.path + "/" + name)) }

    private func code(_ body: () throws -> Void) -> TransferError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TransferError)?.code
        }
    }

    @Test func anUnfinishedFileIsResumed() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        do { try self.folder.openPart(self.offer).append([ByteBuffer(bytes: [1, 2, 3])]) }
        let part = try self.folder.openPart(self.offer)
        #expect(try part.status().size == 3 && self.names == [self.offer.partName])
        let shown = PrefixProof(bytes: 3, sha256: SHA256.hash(data: [1, 2, 3]).hexadecimal)
        #expect(try self.folder.compare(part, with: shown))
        #expect(part.size == 3)
    }

    @Test func aPartWithOtherContentIsEmptied() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        for shown in [
            PrefixProof(bytes: 3, sha256: SHA256.hash(data: [1, 2, 4]).hexadecimal),
            PrefixProof(bytes: 2, sha256: SHA256.hash(data: [1, 2, 3]).hexadecimal),
        ] {
            try self.write(self.offer.partName, [1, 2, 3])
            let part = try self.folder.openPart(self.offer)
            #expect(try !self.folder.compare(part, with: shown))
            #expect(part.size == 0 && self.bytes(self.offer.partName) == [])
        }
    }

    /// A part that is longer than the file is discarded.
    @Test func aPartThatIsTooLongIsNotResumed() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try self.write(self.offer.partName, [UInt8](repeating: 1, count: 11))
        #expect(try self.folder.openPart(self.offer).size == 0)
        #expect(self.bytes(self.offer.partName) == [])
    }

    /// A crash between linking the final name and removing the other leaves both. The finished file
    /// must not be written to.
    @Test func aFinishedFileIsNotWrittenTo() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try self.write("photo.jpg", [7, 7, 7, 7, 7, 7, 7, 7, 7, 7])
        #expect(link(self.path + "/photo.jpg", self.path + "/" + self.offer.partName) == 0)
        let part = try self.folder.openPart(self.offer)
        try part.append([ByteBuffer(bytes: [1, 2, 3])])
        #expect(self.bytes("photo.jpg") == [7, 7, 7, 7, 7, 7, 7, 7, 7, 7])
    }

    /// docs/hazards.md, 21: a link, folder or FIFO under the name of an unfinished file is not
    /// opened.
    @Test func onlyARegularFileIsResumed() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        try self.write("secret", [1])
        let part = self.path + "/" + self.offer.partName
        try FileManager.default.createSymbolicLink(atPath: part, withDestinationPath: self.path + "/secret")
        #expect(self.code { _ = try self.folder.openPart(self.offer) } == .storage)
        try FileManager.default.removeItem(atPath: part)
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: false)
        #expect(self.code { _ = try self.folder.openPart(self.offer) } == .storage)
        try FileManager.default.removeItem(atPath: part)
        #expect(mkfifo(part, 0o600) == 0)
        #expect(self.code { _ = try self.folder.openPart(self.offer) } == .storage)
        #expect(self.bytes("secret") == [1])
    }

    @Test func anUploadHasOneWriterAlsoOverProcesses() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let part = try self.folder.openPart(self.offer)
        #expect(self.code { _ = try ReceivingFolder(path: self.path).openPart(self.offer) } == .busy)
        part.unlock()
        #expect(self.code { _ = try ReceivingFolder(path: self.path).openPart(self.offer) } == nil)
    }

    @Test func onlyAbandonedPartsAreRemoved() throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -8 * 24 * 3600)]
        let open = try self.folder.openPart(TransferOffer(id: "open", name: SafeFileName("a"), size: 1))
        for name in [open.name, ".apus-0.part", ".apus-1.part", ".apus-3.part", "photo.jpg", ".apus-2.txt"] {
            if name != open.name { try self.write(name, name == ".apus-3.part" ? [] : [1]) }
            if name != ".apus-1.part", name != ".apus-3.part" {
                try FileManager.default.setAttributes(old, ofItemAtPath: self.path + "/" + name)
            }
        }
        // One expired file and one empty file.
        #expect(self.folder.removeAbandoned() == 2)
        #expect(self.names == [".apus-1.part", ".apus-2.txt", open.name, "photo.jpg"].sorted())
    }
}
