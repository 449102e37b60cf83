/// Finds the metadata of ISO base media files and QuickTime files.
///
/// Boxes that a player does not need become `free` boxes: `udta` and `meta`, in which phones write
/// the position, `uuid`, in which programs write XMP, and unknown ones. Times of creation and names
/// of handlers become empty. Tracks of telemetry, such as the positions of an action camera, are
/// removed with their samples. In fragmented files, which cameras do not write, the samples of
/// these tracks remain without an index.
///
/// Sources: ISO/IEC 14496-12, 4.2 (boxes), 6.2.3 (their order), 8 (their content); QuickTime File
/// Format Specification, "Overview of QTFF".
struct ISOMediaCleaner {
    private struct Box {
        let type: String
        let start: Int64
        /// The first byte after the size and the type.
        let content: Int64
        let end: Int64
    }

    /// The box whose content is examined. `inner` leads from each place to later ones only, which
    /// bounds the depth.
    private enum Place { case file, movie, track, media, mediaInformation, samples, fragment, trackFragment }

    private static let kept: [Place: Set<String>] = [
        .file: ["ftyp", "styp", "moov", "moof", "mdat", "imda", "sidx", "ssix", "mfra", "pdin"],
        .movie: ["mvhd", "trak", "mvex", "iods", "pssh", "clip", "ctab"],
        .track: ["tkhd", "edts", "mdia", "tref", "trgr", "tapt", "clip", "matt", "load", "imap"],
        .media: ["mdhd", "hdlr", "minf", "elng"],
    ]
    /// The boxes that are removed from places where many kinds of boxes are needed.
    private static let removed: Set<String> = ["udta", "meta", "uuid", "free", "skip", "wide"]
    private static let inner: [Place: [String: Place]] = [
        .file: ["moov": .movie, "moof": .fragment], .movie: ["trak": .track], .track: ["mdia": .media],
        .media: ["minf": .mediaInformation], .mediaInformation: ["stbl": .samples], .fragment: ["traf": .trackFragment],
    ]
    /// Boxes that may be cut off by the end of the file, because their content is not examined.
    private static let data: Set<String> = ["mdat", "imda"]
    /// Video, sound, transparency, texts, subtitles, time codes, hints and the descriptions of
    /// MPEG-4. Other tracks, such as `meta`, are telemetry.
    private static let handlers: Set<String> = [
        "vide", "soun", "auxv", "text", "sbtl", "subt", "clcp", "subp", "tmcd", "hint", "sdsm", "odsm",
    ]

    private var reader: FilmReader
    private var changes: FilmChanges
    private var media: [Range<Int64>] = []
    private var telemetry: [Box] = []
    private var hasMovie = false
    private var hasFragments = false

    init(_ reader: FilmReader) {
        self.reader = reader
        self.changes = FilmChanges(size: reader.size)
    }

    mutating func clean() throws -> [FilmChange] {
        try self.examine(0..<self.reader.size, .file)
        for track in self.telemetry { try self.removeSamples(of: track) }
        return self.changes.all
    }

    // MARK: Boxes

    private mutating func examine(_ range: Range<Int64>, _ place: Place) throws {
        var position = range.lowerBound
        while position < range.upperBound {
            let remaining = range.upperBound - position
            if try self.isTrailer(self.reader.bytes(at: position, upTo: 8), remaining, place) {
                return try self.changes.add(position, zeros: remaining)
            }
            let box = try self.box(at: position, before: range.upperBound, place)
            try self.examine(box, in: place)
            position = box.end
        }
    }

    private mutating func examine(_ box: Box, in place: Place) throws {
        if Self.removed.contains(box.type) || !(Self.kept[place]?.contains(box.type) ?? true) {
            // A compressed header (`cmov`) cannot be examined. It is an obsolete form of old
            // QuickTime files.
            guard place != .movie || box.type != "cmov" else { throw DamagedFilm("the movie header is compressed") }
            return try self.remove(box)
        }
        switch (place, box.type) {
        case (.file, _) where Self.data.contains(box.type): self.media.append(box.content..<box.end)
        case (.file, "moov"): self.hasMovie = true
        case (.file, "moof"): self.hasFragments = true
        case (.movie, "mvhd"), (.track, "tkhd"), (.media, "mdhd"): try self.clearTimes(of: box)
        case (.media, "hdlr"):
            // A name, such as the camera's, follows the version, the types and the reserved fields.
            if box.end - box.content > 24 { try self.changes.add(box.content + 24, zeros: box.end - box.content - 24) }
        case (.movie, "trak"):
            if let handler = try self.handler(of: box), !Self.handlers.contains(handler) {
                self.telemetry.append(box)
                return try self.remove(box)
            }
        default: break
        }
        if let inner = Self.inner[place]?[box.type] { try self.examine(box.content..<box.end, inner) }
    }

    /// Returns whether the rest of a box, or of the file, is not a box. Some writers end a box with
    /// a zero of 32 bits; others add data after the film.
    private func isTrailer(_ head: ArraySlice<UInt8>, _ remaining: Int64, _ place: Place) -> Bool {
        if remaining < 8 || head.allSatisfy({ $0 == 0 }) { return true }
        guard place == .file, self.hasMovie, !self.media.isEmpty, !self.hasFragments else { return false }
        let size = head.prefix(4).reduce(0) { $0 << 8 | Int64($1) }
        return !Self.data.contains(String(decoding: head.suffix(4), as: UTF8.self)) && (size > remaining || (2..<8).contains(size))
    }

    private mutating func box(at start: Int64, before limit: Int64, _ place: Place) throws -> Box {
        try self.reader.countPart()
        let head = try self.reader.bytes(at: start, 8, "a box")
        let type = String(decoding: head.suffix(4), as: UTF8.self)
        var (content, size) = (start + 8, head.prefix(4).reduce(0) { $0 << 8 | UInt64($1) })
        switch size {
        case 0: return Box(type: type, start: start, content: content, end: limit)  // to the end
        case 1:
            size = try self.reader.bigEndian(at: start + 8, 8, "the size of a box")
            content = start + 16
        default: break
        }
        guard let size = Int64(exactly: size), size >= content - start else {
            throw DamagedFilm("the size of box \(type.debugDescription) is not valid")
        }
        guard content <= limit else { throw DamagedFilm("the header of box \(type.debugDescription) exceeds the box around it") }
        if size > limit - start {
            guard place == .file, Self.data.contains(type) else {
                throw DamagedFilm("box \(type.debugDescription) exceeds the box around it")
            }
            return Box(type: type, start: start, content: content, end: limit)
        }
        return Box(type: type, start: start, content: content, end: start + size)
    }

    /// Returns the first box of a type within a box.
    private mutating func first(_ type: String, in box: Box) throws -> Box? {
        var position = box.content
        while box.end - position >= 8 {
            let found = try self.box(at: position, before: box.end, .samples)
            if found.type == type { return found }
            position = found.end
        }
        return nil
    }

    // MARK: Changes

    private mutating func remove(_ box: Box) throws {
        // A size of 64 bits, if present, is between the type and the content, and is kept.
        let size = try self.reader.bytes(at: box.start + 8, Int(box.content - box.start - 8), "a box")
        try self.changes.add(box.start + 4, Array("free".utf8) + size, zeros: box.end - box.content)
    }

    /// Clears the times of creation and change of `mvhd`, `tkhd` or `mdhd`, which are after the
    /// version and the flags. Zero is the value of an unknown time.
    private mutating func clearTimes(of box: Box) throws {
        let version = try self.reader.bigEndian(at: box.content, 1, "the version of \(box.type)")
        let count: Int64 = version == 0 ? 8 : 16
        guard version <= 1, box.end - box.content >= 4 + count else {
            throw DamagedFilm("the version or the size of the box \(box.type) is not valid")
        }
        try self.changes.add(box.content + 4, zeros: count)
    }

    // MARK: Telemetry

    private mutating func handler(of track: Box) throws -> String? {
        guard let media = try self.first("mdia", in: track), let handler = try self.first("hdlr", in: media) else { return nil }
        guard handler.end - handler.content >= 12 else { throw DamagedFilm("the box hdlr has fewer than 12 bytes") }
        return String(decoding: try self.reader.bytes(at: handler.content + 8, 4, "hdlr"), as: UTF8.self)
    }

    /// Overwrites the samples of a track. Only data of the film is overwritten, so that the
    /// structure of the file does not change.
    private mutating func removeSamples(of track: Box) throws {
        guard let media = try self.first("mdia", in: track), let information = try self.first("minf", in: media),
            let samples = try self.first("stbl", in: information), let sizes = try self.first("stsz", in: samples),
            let runs = try self.first("stsc", in: samples),
            let offsets = try self.first("stco", in: samples) ?? self.first("co64", in: samples)
        else { return }
        let usualSize = try self.reader.bigEndian(at: sizes.content + 4, 4, "stsz")
        let sizeTable = try self.table(sizes, at: 8, entryBytes: 4)
        let runTable = try self.table(runs, at: 4, entryBytes: 12)
        let offsetTable = try self.table(offsets, at: 4, entryBytes: offsets.type == "stco" ? 4 : 8)
        var (run, sample, perChunk) = (Int64(0), Int64(0), UInt64(0))
        for chunk in 0..<offsetTable.count {
            try self.reader.countPart()
            // An entry of `stsc` has the number of its first chunk, counted from 1, and the number
            // of samples in a chunk.
            while run < runTable.count, try self.reader.bigEndian(at: runTable.entry(run), 4, "stsc") <= chunk + 1 {
                try self.reader.countPart()
                perChunk = try self.reader.bigEndian(at: runTable.entry(run) + 4, 4, "stsc")
                run += 1
            }
            var length = usualSize * perChunk  // both factors have 32 bits
            if usualSize == 0 {
                for _ in 0..<min(perChunk, UInt64(sizeTable.count - sample)) {
                    try self.reader.countPart()
                    length += try self.reader.bigEndian(at: sizeTable.entry(sample), 4, "stsz")
                    sample += 1
                }
            }
            let offset = try self.reader.bigEndian(at: offsetTable.entry(chunk), Int(offsetTable.entryBytes), offsets.type)
            guard length > 0 else { continue }
            guard let start = Int64(exactly: offset), let length = Int64(exactly: length), self.isData(start, length) else {
                throw DamagedFilm("a sample is outside the data")
            }
            try self.changes.add(start, zeros: length)
        }
    }

    private struct Table {
        let start: Int64
        let count: Int64
        let entryBytes: Int64

        func entry(_ index: Int64) -> Int64 { self.start + index * self.entryBytes }
    }

    /// Returns the table of a box, whose number of entries is at an offset of the content.
    private mutating func table(_ box: Box, at offset: Int64, entryBytes: Int64) throws -> Table {
        let count = Int64(try self.reader.bigEndian(at: box.content + offset, 4, box.type))
        let start = box.content + offset + 4
        guard start <= box.end, count <= (box.end - start) / entryBytes || (box.type == "stsz" && box.end == start) else {
            throw DamagedFilm("the table of \(box.type) exceeds the box")
        }
        return Table(start: start, count: box.end == start ? 0 : count, entryBytes: entryBytes)
    }

    /// Returns whether a range is within one of the boxes of data, which are in ascending order.
    private func isData(_ start: Int64, _ length: Int64) -> Bool {
        var (low, high) = (0, self.media.count)
        while low < high {
            let middle = (low + high) / 2
            if self.media[middle].upperBound <= start { low = middle + 1 } else { high = middle }
        }
        guard low < self.media.count else { return false }
        return self.media[low].lowerBound <= start && length <= self.media[low].upperBound - start
    }
}
