/// Finds the metadata of Matroska and WebM files.
///
/// `Tags`, `Chapters`, `Attachments`, the title and the date of the file, the names of tracks and
/// unknown elements become `Void` elements.
///
/// Sources: RFC 8794, 4 to 6 (identifiers and sizes), 11.3 (global elements); RFC 9559, 5.1
/// (elements).
struct MatroskaCleaner {
    private struct Element {
        let id: UInt64
        let start: Int64
        let content: Int64
        /// `nil` if the size is unknown, as in recordings of browsers.
        let end: Int64?
    }

    /// The element whose content is examined. The cases bound the depth.
    private enum Place { case file, information, tracks, track }

    private static let header: UInt64 = 0x1A45_DFA3
    private static let segment: UInt64 = 0x1853_8067
    private static let information: UInt64 = 0x1549_A966
    private static let tracks: UInt64 = 0x1654_AE6B
    private static let track: UInt64 = 0xAE
    private static let cluster: UInt64 = 0x1F43_B675
    private static let seekHead: UInt64 = 0x114D_9B74
    private static let cues: UInt64 = 0x1C53_BB6B
    /// The children of a cluster: `Timestamp`, `SilentTracks`, `Position`, `PrevSize`,
    /// `SimpleBlock`, `BlockGroup` and `EncryptedBlock`.
    private static let clusterChildren: Set<UInt64> = [0xE7, 0x5854, 0xA7, 0xAB, 0xA3, 0xA0, 0xAF]
    /// `TimestampScale`, `Duration`, and the names of the programs that wrote the file, which are
    /// required.
    private static let keptInformation: Set<UInt64> = [0x2A_D7B1, 0x4489, 0x4D80, 0x5741]
    private static let keptInFile = clusterChildren.union([header, segment, information, tracks, cluster, seekHead, cues])
    /// `Name`, `Void`, and `CRC-32`, which is not valid after a change.
    private static let removedFromTrack: Set<UInt64> = [0x536E, 0xEC, 0xBF]

    private var reader: FilmReader
    private var changes: FilmChanges
    private var segmentEnd: Int64?

    init(_ reader: FilmReader) {
        self.reader = reader
        self.changes = FilmChanges(size: reader.size)
    }

    mutating func clean() throws -> [FilmChange] {
        try self.examine(0..<self.reader.size, .file)
        return self.changes.all
    }

    /// Examines elements in order. At the level of the file, the content of a segment, or of a
    /// cluster of unknown size, is examined as if it followed its header at that level.
    private mutating func examine(_ range: Range<Int64>, _ place: Place) throws {
        var position = range.lowerBound
        while position < range.upperBound {
            guard let element = try self.element(at: position, before: range.upperBound, place) else {
                return try self.removeTrailer(from: position)
            }
            if place == .file, element.id == Self.segment {
                self.segmentEnd = element.end
                position = element.content
                continue
            }
            guard let end = element.end else {
                position = element.content
                continue
            }
            switch (place, element.id) {
            case (.file, Self.information): try self.examine(element.content..<end, .information)
            case (.file, Self.tracks): try self.examine(element.content..<end, .tracks)
            case (.tracks, Self.track): try self.examine(element.content..<end, .track)
            default: if !self.keeps(element.id, in: place) { try self.remove(element.start..<end) }
            }
            position = end
        }
    }

    private func keeps(_ id: UInt64, in place: Place) -> Bool {
        switch place {
        case .file: Self.keptInFile.contains(id)
        case .information: Self.keptInformation.contains(id)
        case .tracks: false
        case .track: !Self.removedFromTrack.contains(id)
        }
    }

    /// Returns the element at a position; `nil` if the bytes at the end of the file are not a valid
    /// element.
    private mutating func element(at start: Int64, before limit: Int64, _ place: Place) throws -> Element? {
        try self.reader.countPart()
        let head = try self.reader.bytes(at: start, upTo: Int(min(12, limit - start)))
        guard let (id, idBytes) = Self.number(head, maximumBytes: 4, keepsMarker: true),
            let (size, sizeBytes) = Self.number(head.dropFirst(idBytes), maximumBytes: 8, keepsMarker: false)
        else {
            guard place == .file else { throw DamagedFilm("an element is not valid") }
            return nil
        }
        let content = start + Int64(idBytes + sizeBytes)
        if size == (1 << (7 * UInt64(sizeBytes))) - 1 {
            guard place == .file, id == Self.segment || id == Self.cluster else { throw DamagedFilm("the size of an element is unknown") }
            return Element(id: id, start: start, content: content, end: nil)
        }
        guard let size = Int64(exactly: size), size <= limit - content else {
            guard place == .file else { throw DamagedFilm("an element extends beyond the end of its parent element") }
            // The end of an interrupted recording may be missing.
            guard id == Self.segment || id == Self.cluster || Self.clusterChildren.contains(id) else { return nil }
            return Element(id: id, start: start, content: content, end: limit)
        }
        return Element(id: id, start: start, content: content, end: content + size)
    }

    /// Reads a number of variable size, whose first byte has as many leading zeros as bytes follow.
    private static func number(_ bytes: ArraySlice<UInt8>, maximumBytes: Int, keepsMarker: Bool) -> (UInt64, Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let count = first.leadingZeroBitCount + 1
        guard count <= maximumBytes, bytes.count >= count else { return nil }
        let start = keepsMarker ? UInt64(first) : UInt64(first) & (0x7F >> UInt64(count - 1))
        return (bytes.dropFirst().prefix(count - 1).reduce(start) { $0 << 8 | UInt64($1) }, count)
    }

    private mutating func remove(_ range: Range<Int64>) throws {
        let count = Int64(range.count)
        if count < 9 {
            // An element has at least two bytes.
            try self.changes.add(range.lowerBound, [0xEC, 0x80 | UInt8(count - 2)], zeros: count - 2)
        } else {
            let content = UInt64(count - 9)
            let size = (0..<7).map { UInt8(truncatingIfNeeded: content >> (48 - 8 * UInt64($0))) }
            try self.changes.add(range.lowerBound, [0xEC, 0x01] + size, zeros: count - 9)
        }
    }

    private mutating func removeTrailer(from position: Int64) throws {
        if let end = self.segmentEnd, position >= end {
            try self.changes.add(position, zeros: self.reader.size - position)
        } else if try !self.reader.hasOnlyZeros(from: position) {
            throw DamagedFilm("an element is not valid")
        }
    }
}
