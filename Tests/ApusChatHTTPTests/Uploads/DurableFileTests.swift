import ApusChatProtocol
import ApusChatStorage
import Foundation
import NIOCore
import Testing

@testable import ApusChatHTTP

@Suite("Files of uploads")
struct DurableFileTests {
    private func folder(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-files-" + UUID().uuidString).path
        try DurableFile.makeFolder(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test func aFileIsReplacedAsAWhole() throws {
        try self.folder { folder in
            let path = folder + "/a.info"
            try DurableFile.replace(path, with: [1, 2, 3], in: folder)
            try DurableFile.replace(path, with: [4], in: folder)
            #expect(DurableFile.bytes(of: path, upTo: 10) == [4])
            try DurableFile.replace(path, with: [], in: folder)
            #expect(DurableFile.bytes(of: path, upTo: 10) == [])
            #expect(!DurableFile.exists(path + ".new"))
        }
    }

    @Test func aFailureKeepsTheOldContent() throws {
        try self.folder { folder in
            let path = folder + "/a.info"
            try DurableFile.replace(path, with: [1], in: folder)
            try DurableFile.makeFolder(path + ".new")  // the temporary file cannot be written
            #expect(throws: StorageError.self) { try DurableFile.replace(path, with: [2], in: folder) }
            #expect(DurableFile.bytes(of: path, upTo: 10) == [1])
            #expect(throws: StorageError.self) { try DurableFile.replace(folder + "/none/a", with: [2], in: folder) }
        }
    }

    @Test func longFilesAreNotRead() throws {
        try self.folder { folder in
            let path = folder + "/a"
            try DurableFile.replace(path, with: Array(repeating: 1, count: 100), in: folder)
            #expect(DurableFile.bytes(of: path, upTo: 100)?.count == 100)
            #expect(DurableFile.bytes(of: path, upTo: 99) == nil && DurableFile.bytes(of: folder + "/none", upTo: 99) == nil)
        }
    }

    @Test func piecesEndWithTheFile() throws {
        try self.folder { folder in
            let path = folder + "/a"
            try DurableFile.replace(path, with: Array(0..<10), in: folder)
            let file = try OpenFile(path, O_RDONLY)
            #expect(try file.size() == 10)
            #expect(try file.read(at: 0, count: 4) == ByteBuffer(bytes: 0..<4))
            #expect(try file.read(at: 8, count: 4) == ByteBuffer(bytes: 8..<10))
            #expect(try file.read(at: 10, count: 4).readableBytes == 0 && file.read(at: 99, count: 4).readableBytes == 0)
            #expect(throws: StorageError.self) { try file.write([1], at: 0) }  // the file is open for reading only
        }
    }

    @Test func aLinkIsMadeOnce() throws {
        try self.folder { folder in
            try DurableFile.replace(folder + "/a", with: [1], in: folder)
            try DurableFile.replace(folder + "/b", with: [2], in: folder)
            try DurableFile.link(folder + "/a", as: folder + "/blob")
            try DurableFile.link(folder + "/b", as: folder + "/blob")  // the name identifies the content, so the existing file is kept
            #expect(DurableFile.bytes(of: folder + "/blob", upTo: 9) == [1])
            #expect(throws: StorageError.self) { try DurableFile.link(folder + "/none", as: folder + "/other") }
            try DurableFile.makeFolder(folder)
            #expect(throws: StorageError.self) { try DurableFile.makeFolder(folder + "/none/inner") }
        }
    }

    // MARK: Parts after a restart

    private static let valid = #"{"user":"1","length":6,"expires":9}"#

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"user":1,"length":6,"expires":9}"#, #"{"user":"x","length":6,"expires":9}"#,
        #"{"user":"1","length":-1,"expires":9}"#, #"{"user":"1","length":0,"expires":9}"#, #"{"user":"1","length":1.5,"expires":9}"#,
        #"{"user":"1","length":1e300,"expires":9}"#, #"{"user":"1","length":6}"#, String(repeating: " ", count: 5_000) + Self.valid,
    ])
    func aDamagedPartIsNone(info: String) throws {
        try self.folder { folder in
            try Data(info.utf8).write(to: URL(fileURLWithPath: folder + "/a.info"))
            try Data(Self.record(3)).write(to: URL(fileURLWithPath: folder + "/a.offset"))
            #expect(UploadPart(existing: "a", in: folder) == nil)
        }
    }

    private static func record(_ offset: UInt64, check: UInt64? = nil) -> [UInt8] {
        [offset, check ?? ~offset].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }

    private static let records: [(record: [UInt8], offset: Int64)] = [
        (record(3), 3), (record(6), 6), (record(0), 0),
        // These records are invalid, so that the upload starts from the first byte.
        (record(7), 0), (record(.max), 0), (record(3, check: 3), 0), (record(3).dropLast(), 0), (record(3) + [0], 0), ([], 0),
        (Array(repeating: 0, count: 16), 0),
    ]

    @Test(arguments: Self.records)
    func anOffsetIsTrustedWithItsCheck(record: [UInt8], offset: Int64) throws {
        try self.folder { folder in
            try Data(Self.valid.utf8).write(to: URL(fileURLWithPath: folder + "/a.info"))
            try Data(record).write(to: URL(fileURLWithPath: folder + "/a.offset"))
            let part = try #require(UploadPart(existing: "a", in: folder))
            #expect(part.offset == offset && part.length == 6 && part.user == UserKey(1) && part.blob == nil)
            #expect(try part.begin().offset == offset)
        }
    }

    @Test func aRemovedPartTakesNothingMore() throws {
        try self.folder { folder in
            let part = try UploadPart(id: "a", user: UserKey(1), length: 6, expiresAt: 1, in: folder)
            let (transfer, _) = try part.begin()
            #expect(try part.append(ByteBuffer(string: "abc"), transfer, syncBytes: 1) == .done)
            part.remove()
            #expect(try part.append(ByteBuffer(string: "def"), transfer, syncBytes: 1) == .ended)
            #expect(try part.end(transfer) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test func aFinishedPartReportsItsBlobAfterARestart() throws {
        try self.folder { folder in
            let id = try #require(BlobID(String(repeating: "0f", count: 32)))
            let part = try UploadPart(id: "a", user: UserKey(1), length: 6, expiresAt: 1, in: folder)
            let row = BlobRow(id: id, size: 5, type: "image/png", width: 4, height: 3, createdAt: 0)
            try part.finish(row)
            let again = try #require(UploadPart(existing: "a", in: folder))
            #expect(again.blob == row && again.offset == 6)
            let (transfer, offset) = try again.begin()
            #expect(offset == 6)
            #expect(try again.append(ByteBuffer(string: "x"), transfer, syncBytes: 1) == .ended)
        }
    }

    // MARK: Names and dates

    @Test(arguments: [
        (Int64(0), "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_709_251_199_999, "Thu, 29 Feb 2024 23:59:59 GMT"), (1_735_689_599_000, "Tue, 31 Dec 2024 23:59:59 GMT"),
        (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"), (253_402_300_799_000, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func datesMatchHTTP(milliseconds: Int64, text: String) { #expect(HTTPDate.text(milliseconds) == text) }

    @Test(arguments: [
        ("\u{1A}E\u{DF}\u{A3}", "video/webm"), ("OggS....", "audio/ogg"), ("fLaC....", "audio/flac"), ("RIFF....WAVE", "audio/wav"),
        ("RIFF....AVI ", "application/octet-stream"), ("ID3\u{4}", "audio/mpeg"), ("<html>", "application/octet-stream"),
        ("<?xml version=\"1.0\"?><svg", "application/octet-stream"), ("%PDF-1.7", "application/octet-stream"),
        ("", "application/octet-stream"),
        ("....ftypM4A \u{0}\u{0}\u{0}\u{0}isom", "audio/mp4"), ("....ftypqt  ", "video/quicktime"), ("....ftypisom", "video/mp4"),
        ("....ftypmp42", "video/mp4"), ("....ftyp3gp5", "video/mp4"), ("....ftypheic", "application/octet-stream"),
        ("\u{0}\u{0}\u{0}\u{14}ftypisom\u{0}\u{0}\u{0}\u{0}avif", "application/octet-stream"), ("....ftypXXXX", "application/octet-stream"),
        ("....ftyp", "application/octet-stream"), ("....ftyp\u{0}", "application/octet-stream"),
    ])
    func contentHasItsType(prefix: String, type: String) {
        let bytes = prefix.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        #expect(MediaType.sniffed(bytes) == type)
    }

    @Test(
        arguments: [
            ([0xFF, 0xFB, 0x90], "audio/mpeg"), ([0xFF, 0xF3], "audio/mpeg"), ([0xFF, 0xEB], "application/octet-stream"),
            ([0xFF, 0xF9], "application/octet-stream"), ([0xFF, 0xFD], "application/octet-stream"), ([0xFF], "application/octet-stream"),
            ([0xFE, 0xFB], "application/octet-stream"),
        ] as [([UInt8], String)])
    func framesOfMPEGAreLayerThree(bytes: [UInt8], type: String) { #expect(MediaType.sniffed(bytes) == type) }

    @Test func anyPrefixHasAType() {
        for length in 0...MediaType.prefixBytes {
            for byte in [0x00, 0xFF, 0x66] as [UInt8] {
                var prefix = Array(repeating: byte, count: length)
                _ = MediaType.sniffed(prefix)
                if length >= 8 { prefix.replaceSubrange(4..<8, with: Array("ftyp".utf8)) }
                #expect(!MediaType.isShown("text/html") && !MediaType.sniffed(prefix).isEmpty)
                #expect(!MediaType.isPicture(prefix))
            }
        }
    }

    /// Each type that a browser shows has a file extension.
    @Test(arguments: [
        "image/png", "image/jpeg", "image/gif", "image/webp", "audio/mp4", "audio/ogg", "audio/flac", "audio/wav", "audio/mpeg",
        "video/mp4",
        "video/webm", "video/quicktime",
    ])
    func shownTypesHaveAnExtension(type: String) {
        #expect(MediaType.isShown(type) && MediaType.fileExtension(of: type) != "bin")
        #expect(MediaType.fileExtension(of: "text/html") == "bin" && !MediaType.isShown("application/octet-stream"))
    }
}
