import Foundation
import NIOCore
import Testing

@testable import ApusArchive

@Suite struct ZIPWriterTests {
    @Test(
        arguments: [
            (0 as Int64, 0x0021 as UInt16, 0 as UInt16),  // before 1980
            (1_709_164_799_000, 0x585C, 0xBF7D),  // 2024-02-28 23:59:59
            (1_709_251_199_000, 0x585D, 0xBF7D),  // 2024-02-29 23:59:59
            (1_709_251_200_000, 0x5861, 0x0000),  // 2024-03-01
            (9_999_999_999_999, 0xFF9F, 0xBF7D),  // after 2107
        ])
    func timesMatchTheCalendar(milliseconds: Int64, date: UInt16, time: UInt16) {
        #expect(DOSTime(milliseconds: milliseconds).date == date)
        #expect(DOSTime(milliseconds: milliseconds).time == time)
    }

    /// Writes an archive in small pieces, and reads it with Python.
    @Test func pythonReadsWrittenArchives() throws {
        let noise = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 2_654_435_761 >> 13) }
        var archive = ByteBuffer()
        var writer = ZIPWriter()
        try writer.begin("notes/résumé 在吗.txt", time: 1_709_251_199_000, maximumSize: .max, compresses: true, into: &archive)
        for _ in 0..<1_000 { try writer.write(ByteBuffer(string: "the same line\n"), into: &archive) }
        try writer.end(into: &archive)
        try writer.begin("photo.png", time: 0, maximumSize: 100_000, compresses: false, into: &archive)
        for start in stride(from: 0, to: noise.count, by: 999) {
            try writer.write(ByteBuffer(bytes: noise[start..<min(start + 999, noise.count)]), into: &archive)
        }
        try writer.end(into: &archive)
        try writer.begin("empty", time: 0, maximumSize: 0, compresses: true, into: &archive)
        try writer.end(into: &archive)
        try writer.finish(into: &archive)
        #expect(archive.readableBytes < 105_000)
        let answer = try Python.run(
            """
            import sys, zipfile, zlib
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            print([(e.filename, e.date_time, e.file_size, zlib.crc32(archive.read(e))) for e in archive.infolist()])
            """, archive)
        let text = String(repeating: "the same line\n", count: 1_000)
        let sums = [ByteBuffer(string: text), ByteBuffer(bytes: noise)].map { crc32(0, continuedWith: $0) }
        #expect(
            answer == """
                [('notes/résumé 在吗.txt', (2024, 2, 29, 23, 59, 58), 14000, \(sums[0])), \
                ('photo.png', (1980, 1, 1, 0, 0, 0), 100000, \(sums[1])), ('empty', (1980, 1, 1, 0, 0, 0), 0, 0)]

                """)
    }

    @Test func aReaderOfAStreamFindsTheEntriesWithoutTheDirectory() throws {
        var archive = ByteBuffer()
        var writer = ZIPWriter()
        for (name, compresses) in [("a", true), ("b", false)] {
            try writer.begin(name, time: 0, maximumSize: 10, compresses: compresses, into: &archive)
            try writer.write(ByteBuffer(string: "text \(name)"), into: &archive)
            try writer.end(into: &archive)
        }
        let answer = try Python.run(
            """
            import struct, sys, zlib
            data, found = open(sys.argv[1], "rb").read(), []
            while data[:4] == b"PK\\x03\\x04":
                name, extra = struct.unpack("<HH", data[26:30])
                inflater = zlib.decompressobj(-15)
                found.append((data[30:30 + name].decode(), inflater.decompress(data[30 + name + extra:]).decode()))
                data = inflater.unused_data
                assert struct.unpack("<4sLLL", data[:16])[3] == len(found[-1][1])
                data = data[16:]
            print(found)
            """, archive)
        #expect(answer == "[('a', 'text a'), ('b', 'text b')]\n")
    }

    /// A directory with more entries than 16 bits can count, all for the same file.
    @Test func manyEntriesHaveAZip64Directory() throws {
        var archive = ByteBuffer()
        var writer = ZIPWriter()
        try writer.begin("a", time: 0, maximumSize: 0, compresses: true, into: &archive)
        try writer.end(into: &archive)
        let start = UInt64(archive.readableBytes)
        var entry = ZIPEntry(name: "a", time: DOSTime(milliseconds: 0), offset: 0, maximumSize: 0, isLarge: false)
        entry.compressedSize = 2
        for _ in 0..<65_536 { entry.writeDirectoryHeader(to: &archive) }
        ZIPDirectoryEnd(count: 65_536, size: UInt64(archive.readableBytes) - start, offset: start).write(to: &archive)
        let script = "import sys, zipfile; a = zipfile.ZipFile(sys.argv[1]); print(len(a.namelist()), a.read('a'))"
        #expect(try Python.run(script, archive) == "65536 b''\n")
    }

    /// The directory header of an entry whose size and offset do not fit into 32 bits.
    @Test func largeNumbersAreInTheExtraField() {
        var entry = ZIPEntry(name: "a", time: DOSTime(milliseconds: 0), offset: 1 << 33, maximumSize: 1 << 34, isLarge: true)
        (entry.size, entry.compressedSize) = (1 << 34, 5)
        var output = ByteBuffer()
        entry.writeDirectoryHeader(to: &output)
        let bytes = Array(output.readableBytesView)
        #expect(bytes[20..<28] == [5, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(bytes[42..<46] == [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(bytes.suffix(20) == [1, 0, 16, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0])
        output.clear()
        ZIPDirectoryEnd(count: 1, size: 67, offset: 1 << 34).write(to: &output)
        #expect(output.readableBytes == 56 + 20 + 22)
    }

    @Test func mistakesAreErrors() throws {
        var archive = ByteBuffer()
        var writer = ZIPWriter()
        #expect(throws: ArchiveError.self) { try writer.write(ByteBuffer(string: "x"), into: &archive) }
        #expect(throws: ArchiveError.self) { try writer.end(into: &archive) }
        #expect(throws: ArchiveError.self) {
            try writer.begin(String(repeating: "x", count: 70_000), time: 0, maximumSize: 1, compresses: true, into: &archive)
        }
        try writer.begin("x", time: 0, maximumSize: 1, compresses: true, into: &archive)
        #expect(throws: ArchiveError.self) { try writer.begin("y", time: 0, maximumSize: 1, compresses: true, into: &archive) }
        #expect(throws: ArchiveError.self) { try writer.finish(into: &archive) }
        #expect { try writer.write(ByteBuffer(string: "xy"), into: &archive) } throws: { ($0 as? ArchiveError)?.code == .invalidEntry }
    }
}

/// Runs a script of Python with a file.
enum Python {
    static func run(_ script: String, _ file: ByteBuffer) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)")
        try Data(file.readableBytesView).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-X", "utf8", "-c", script, path.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: answer, as: UTF8.self)
    }
}
