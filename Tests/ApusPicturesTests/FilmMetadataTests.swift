import Testing

@testable import ApusPictures

/// Checks the changes of built films: `Secret` marks data that is removed, `Kept` data that
/// remains.
@Suite("Film metadata")
struct FilmMetadataTests {
    // MARK: Boxes

    private static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        return self.number(content.count + 8) + type.unicodeScalars.map { UInt8($0.value) } + content
    }

    private static func longBox(_ type: String, _ content: [UInt8]) -> [UInt8] {
        self.number(1) + Array(type.utf8) + self.number(content.count + 16, 8) + content
    }

    private static let secret = Array("Secret".utf8)
    private static let kept = Array("Kept".utf8)
    private static let type = box("ftyp", Array("isom".utf8), number(512), Array("isommp42".utf8))
    private static let times = number(0x5365_6372) + number(0x6574_5365)  // "SecretSe"

    /// A track of video with a matrix for a rotation, or of another kind.
    private static func track(_ handler: String = "vide", _ samples: [UInt8] = [], extra: [UInt8] = []) -> [UInt8] {
        let matrix = [0, 0x1_0000, 0, -0x1_0000, 0, 0, 0, 0, 0x4000_0000].flatMap { Self.number($0) }
        return box(
            "trak", box("tkhd", number(7), times, number(1), matrix, kept),
            box(
                "mdia", box("mdhd", number(0), times, number(600), kept),
                box("hdlr", number(0), number(0), Array(handler.utf8), number(0, 12), secret), box("udta", secret),
                box("minf", box("vmhd", kept), box("meta", secret), box("stbl", box("stsd", kept), box("udta", secret), samples))),
            extra)
    }

    private static func movie(_ parts: [UInt8]...) -> [UInt8] {
        self.box("moov", self.box("mvhd", self.number(0), self.times, self.number(600), self.kept), parts.flatMap { $0 })
    }

    // MARK: Matroska elements

    private static func element(_ id: [UInt8], _ content: [UInt8]..., unknownSize: Bool = false) -> [UInt8] {
        let content = content.flatMap { $0 }
        if unknownSize { return id + [0x01] + [UInt8](repeating: 0xFF, count: 7) + content }
        return id + (content.count < 127 ? [0x80 | UInt8(content.count)] : [0x40 | UInt8(content.count >> 8), UInt8(content.count & 0xFF)])
            + content
    }

    private static let header = element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("webm".utf8)))
    private static let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]
    private static let tags = element([0x12, 0x54, 0xC3, 0x67], secret)

    private static func matroska(unknownSize: Bool) -> [UInt8] {
        let information = element(
            [0x15, 0x49, 0xA9, 0x66], element([0xBF], Array("Secr".utf8)), element([0x2A, 0xD7, 0xB1], kept),
            element([0x7B, 0xA9], secret),
            element([0x44, 0x61], Array("SecretSe".utf8)), element([0x44, 0x89], kept), element([0x57, 0x41], kept))
        let tracks = element(
            [0x16, 0x54, 0xAE, 0x6B], element([0xAE], element([0xD7], [1]), element([0x53, 0x6E], secret), element([0x86], kept)))
        let frames = element(cluster, element([0xE7], [0]), element([0xA3], kept), unknownSize: unknownSize)
        return header
            + element(
                segment, element([0x11, 0x4D, 0x9B, 0x74], kept), information, tracks, frames, frames,
                element([0x10, 0x43, 0xA7, 0x70], secret),
                element([0x19, 0x41, 0xA4, 0x69], secret), tags, element([0xEC], secret), element([0xEC]),
                element([0x12, 0x34, 0x56, 0x79], [UInt8](repeating: 9, count: 300), secret), unknownSize: unknownSize)
    }

    // MARK: Files

    private static func data(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

    private static let user = data(
        box("udta", box("\u{A9}xyz", secret), box("loci", secret), number(0)), box("meta", box("keys", secret), box("ilst", secret)),
        box("uuid", secret), box("free", secret), box("Xtra", secret))

    static let films: [(String, FilmFormat, [UInt8])] = [
        ("header first", .isoMedia, data(type, movie(track(), user), box("mdat", kept))),
        ("header last", .isoMedia, data(type, box("wide"), box("mdat", kept), movie(user, track("soun", extra: user), number(0)))),
        (
            "long sizes", .isoMedia,
            data(type, longBox("uuid", secret), longBox("mdat", kept), longBox("moov", track()), longBox("skip", secret))
        ),
        ("at the top", .isoMedia, data(type, user, movie(track()), box("mdat", kept), box("mpvd", secret), box("sefd", secret))),
        ("to the end", .isoMedia, data(type, movie(track(), user), number(0), Array("mdat".utf8), kept)),
        ("metadata to the end", .isoMedia, data(type, movie(track()), box("mdat", kept), number(0), Array("uuid".utf8), secret)),
        ("cut off", .isoMedia, data(type, movie(track(), user), number(900), Array("mdat".utf8), kept)),
        ("trailer", .isoMedia, data(type, movie(track()), box("mdat", kept), secret, secret, secret)),
        ("short trailer", .isoMedia, data(type, movie(track()), box("mdat", kept), secret)),
        (
            "fragments", .isoMedia,
            data(
                type, movie(track(), box("mvex", kept), user),
                box("moof", box("mfhd", kept), box("traf", box("trun", kept), box("udta", secret))),
                box("mdat", kept), box("emsg", secret), box("moof", box("uuid", secret)), box("mdat", kept))
        ),
        (
            "version 1", .isoMedia,
            data(
                type, box("moov", box("mvhd", [1, 0, 0, 0], times, times, number(600), kept), track()), box("mdat", kept))
        ),
        ("known sizes", .matroska, matroska(unknownSize: false)),
        ("unknown sizes", .matroska, matroska(unknownSize: true)),
        ("Matroska with a trailer", .matroska, matroska(unknownSize: false) + secret),
        ("Matroska with zeros", .matroska, matroska(unknownSize: true) + [0, 0, 0]),
        (
            "cut off block", .matroska,
            header + element(segment, tags, element(cluster, [0xA3, 0x90] + kept, unknownSize: true), unknownSize: true)
        ),
    ]

    private static func changes(_ format: FilmFormat, _ file: [UInt8]) throws -> [FilmChange] {
        try FilmMetadata.changes(in: format, size: Int64(file.count)) { offset, count in
            #expect(count <= 4_096)
            return Array(file[Int(offset)..<Int(offset) + count])
        }
    }

    private static func cleaned(_ format: FilmFormat, _ file: [UInt8]) throws -> [UInt8] {
        var result = file
        for change in try self.changes(format, file) {
            let bytes = change.bytes + [UInt8](repeating: 0, count: Int(change.zeros))
            result.replaceSubrange(Int(change.offset)..<Int(change.offset) + bytes.count, with: bytes)
        }
        #expect(result.count == file.count)
        return result
    }

    private static func count(_ text: String, in file: [UInt8]) -> Int {
        let text = Array(text.utf8)
        return file.indices.count { file[$0...].starts(with: text) }
    }

    @Test(arguments: films.indices)
    func onlyTheFilmStays(index: Int) throws {
        let (name, format, file) = Self.films[index]
        let cleaned = try Self.cleaned(format, file)
        #expect(Self.count("Secr", in: cleaned) == 0, "\(name)")
        #expect(Self.count("Kept", in: cleaned) == Self.count("Kept", in: file), "\(name)")
        // Repeated cleaning changes nothing, so an interrupted upload has the same hash.
        #expect(try Self.cleaned(format, cleaned) == cleaned, "\(name)")
    }

    @Test func removedBoxesAreFreeSpaceOfTheSameSize() throws {
        let cleaned = try Self.cleaned(
            .isoMedia, Self.data(Self.type, Self.movie(Self.track(), Self.box("udta", Self.secret)), Self.longBox("uuid", Self.secret)))
        #expect(cleaned.suffix(22).elementsEqual(Self.longBox("free", [UInt8](repeating: 0, count: 6))))
        #expect(Self.count("free", in: cleaned) == 5)
        #expect(Self.count("tkhd", in: cleaned) == 1)
        let rotation = Self.data(Self.number(0x1_0000), Self.number(0), Self.number(-0x1_0000))
        #expect(cleaned.indices.contains { cleaned[$0...].starts(with: rotation) })
    }

    @Test func removedElementsAreVoidOfTheSameSize() throws {
        for count in [0, 1, 6, 7, 8, 126] {
            let content = [UInt8](repeating: 9, count: count)
            let element = Self.element([0x12, 0x54, 0xC3, 0x67], content)
            let cleaned = try Self.cleaned(.matroska, Self.header + Self.element(Self.segment, element)).suffix(element.count)
            #expect(cleaned.first == 0xEC)
            #expect(!cleaned.contains(9))
            let long = cleaned.dropFirst().first == 0x01
            #expect(
                long ? Int(cleaned.dropFirst(8).first ?? 0) == count + 5 - 9 : cleaned.dropFirst().first == UInt8(0x80 + element.count - 2))
        }
    }

    @Test func theDataOfALargeFilmAreNotRead() throws {
        let start = Self.data(Self.type, Self.number(1), Array("mdat".utf8), Self.number(1 << 40, 8))
        let end = Self.movie(Self.track(), Self.user)
        let moved = Int64(Self.type.count) + (1 << 40)
        var reads = 0
        let changes = try FilmMetadata.changes(in: .isoMedia, size: moved + Int64(end.count)) { offset, count in
            reads += 1
            let isEnd = offset >= moved
            let known = isEnd ? end.dropFirst(Int(offset - moved)) : start.dropFirst(Int(min(offset, 1 << 20)))
            return Array((known + [UInt8](repeating: 7, count: 4_096)).prefix(count))
        }
        #expect(changes.contains { $0.offset > moved && $0.bytes == Array("free".utf8) })
        #expect(reads < 10)
    }

    // MARK: Telemetry

    /// A film whose data is `Kept`, then two samples of 6 bytes in one chunk, and a third one.
    private static func telemetry(sizes: [UInt8], offsets: (Int) -> [UInt8]) -> [UInt8] {
        let runs = box("stsc", number(0), number(2), number(1), number(2), number(1), number(2), number(1), number(1))
        func film(_ start: Int) -> [UInt8] {
            data(
                type, movie(track(), track("meta", data(sizes, runs, offsets(start)))),
                box("mdat", kept, secret, secret, kept, secret, kept))
        }
        return film(film(0).count - 30 + 4)
    }

    @Test(arguments: [4, 8])
    func samplesOfTelemetryAreRemoved(width: Int) throws {
        for sizes in [
            Self.box("stsz", Self.number(0), Self.number(6), Self.number(3)),
            Self.box("stsz", Self.number(0), Self.number(0), Self.number(3), Self.number(6), Self.number(6), Self.number(6)),
        ] {
            let file = Self.telemetry(sizes: sizes) { start in
                Self.box(
                    width == 4 ? "stco" : "co64", Self.number(0), Self.number(2), Self.number(start, width), Self.number(start + 16, width))
            }
            let cleaned = try Self.cleaned(.isoMedia, file)
            #expect(Self.count("Secret", in: cleaned) == 0)
            #expect(cleaned.suffix(30).elementsEqual(Self.data(Self.kept, Self.number(0, 12), Self.kept, Self.number(0, 6), Self.kept)))
            #expect(Self.count("trak", in: cleaned) == 1)
            #expect(try Self.cleaned(.isoMedia, cleaned) == cleaned)
        }
    }

    @Test(arguments: [0, 40, Int(UInt32.max)])
    func samplesOutsideTheDataAreDamage(offset: Int) {
        let file = Self.telemetry(sizes: Self.box("stsz", Self.number(0), Self.number(6), Self.number(3))) { _ in
            Self.box("stco", Self.number(0), Self.number(1), Self.number(offset))
        }
        #expect(throws: DamagedFilm.self) { try Self.changes(.isoMedia, file) }
    }

    /// With samples that share data, a small file could make the server write far more bytes than
    /// the file has.
    @Test func samplesThatClaimTheSameDataAreDamage() {
        let count = 200
        let file = Self.telemetry(sizes: Self.box("stsz", Self.number(0), Self.number(6), Self.number(2 * count))) { start in
            Self.box(
                "stco", Self.number(0), Self.number(count), Self.data(Array(repeating: Self.number(start), count: count).flatMap { $0 }))
        }
        #expect(throws: DamagedFilm("parts of the metadata overlap")) { try Self.changes(.isoMedia, file) }
    }

    /// The runs of samples count as parts.
    @Test func runsOfSamplesAreBounded() {
        let runs = Self.box("stsc", Self.number(0), Self.number(500), Self.number(0, 12 * 500))
        let tables = Self.data(
            Self.box("stsz", Self.number(0), Self.number(6), Self.number(1)), runs,
            Self.box("stco", Self.number(0), Self.number(1), Self.number(0)))
        let file = Self.data(Self.type, Self.movie(Self.track("meta", tables)), Self.box("mdat", Self.kept))
        for (maximum, isDamage) in [(1_000, false), (400, true)] {
            var cleaner = ISOMediaCleaner(FilmReader(size: Int64(file.count), maximumParts: maximum) { Array(file[Int($0)...].prefix($1)) })
            #expect(((try? cleaner.clean()) == nil) == isDamage)
        }
    }

    // MARK: Damage

    /// Boxes within boxes of their own kind are not examined: each level would need a part of the
    /// stack.
    @Test(arguments: ["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"])
    func theDepthIsBounded(type: String) throws {
        let levels = 200_000
        var nested: [UInt8] = []
        nested.reserveCapacity(8 * levels)
        for level in 0..<levels { nested += Self.number(8 * (levels - level)) + Array(type.utf8) }
        for outer in [["moov"], ["moov", "trak"], ["moov", "trak", "mdia"], ["moov", "trak", "mdia", "minf"], ["moof"], []] {
            let file = Self.type + outer.reversed().reduce(nested) { Self.box($1, $0) }
            _ = try? Self.changes(.isoMedia, file)
        }
    }

    @Test(arguments: [
        movie(number(7), Array("udta".utf8)), movie(number(60), Array("udta".utf8), secret), movie(box("cmov", secret)),
        number(1) + Array("moov".utf8) + number(-1, 8), number(1) + Array("moov".utf8) + number(15, 8), number(1) + Array("moov".utf8),
        number(-1) + Array("moov".utf8), box("moov", box("mvhd", [2, 0, 0, 0] + number(0, 40))), box("moov", box("mvhd", number(0, 8))),
        box("moov", box("trak", box("mdia", box("hdlr", number(0, 8))))), box("mdat") + number(3) + Array("udta".utf8),
    ])
    func aStructureThatIsNotValidIsDamage(part: [UInt8]) {
        #expect(throws: DamagedFilm.self) { try Self.changes(.isoMedia, Self.type + part) }
    }

    @Test(arguments: [
        tags + [0x09], element([0x15, 0x49, 0xA9, 0x66], [0x7B, 0xA9, 0x90]), element([0x15, 0x49, 0xA9, 0x66], [0x00, 0x80]),
        element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], unknownSize: true)),
        [0x12, 0x54, 0xC3, 0x67, 0x01] + [UInt8](repeating: 0xFE, count: 7),
        [0x12, 0x54, 0xC3, 0x67], [0x12, 0x54, 0xC3, 0x67, 0xFF],
    ])
    func anElementThatIsNotValidIsDamage(part: [UInt8]) {
        #expect(throws: DamagedFilm.self) { try Self.changes(.matroska, Self.header + Self.element(Self.segment, part, unknownSize: true)) }
    }

    @Test func aFileOfTooManyPartsIsDamage() {
        let parts = 1 << 16
        let boxes = [UInt8]((0...parts).map { _ in Self.box("uuid") }.joined())
        #expect(throws: DamagedFilm("the file has more than 65536 parts of metadata")) { try Self.changes(.isoMedia, Self.type + boxes) }
        let frames = Self.header + [UInt8]((0..<10).map { _ in [0xA3, 0x80] }.joined())
        for (maximum, isDamage) in [(11, false), (10, true)] {
            var cleaner = MatroskaCleaner(
                FilmReader(size: Int64(frames.count), maximumParts: maximum) { Array(frames[Int($0)...].prefix($1)) })
            let changes = try? cleaner.clean()
            #expect((changes == nil) == isDamage)
        }
    }

    @Test func errorsOfTheFileAreThrown() {
        struct Failure: Error {}
        for format in FilmFormat.allCases {
            #expect(throws: Failure.self) { try FilmMetadata.changes(in: format, size: 100) { _, _ in throw Failure() } }
            // A file that became shorter.
            #expect(throws: DamagedFilm.self) { try FilmMetadata.changes(in: format, size: 100) { _, _ in [0, 0, 0, 9] } }
        }
    }

    /// Every byte of every sample is replaced in turn. The result is stable, or an error.
    @Test(arguments: films.indices)
    func damageNeverTraps(index: Int) {
        let (_, format, file) = Self.films[index]
        for position in file.indices {
            for value: UInt8 in [0x00, 0x01, 0x7F, 0xFF] {
                var bytes = file
                bytes[position] = value
                guard let cleaned = try? Self.cleaned(format, bytes) else { continue }
                #expect((try? Self.cleaned(format, cleaned)) == cleaned)
            }
        }
        for count in file.indices { _ = try? Self.cleaned(format, Array(file.prefix(count))) }
    }
}
