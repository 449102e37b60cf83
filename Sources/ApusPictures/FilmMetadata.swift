/// A container format of films and recordings in which this module finds metadata.
package enum FilmFormat: Hashable, Sendable, CaseIterable {
    /// MP4, QuickTime, M4A and 3GP.
    case isoMedia
    /// WebM and Matroska.
    case matroska

    /// - Parameter mediaType: A media type that was determined from the content. Returns `nil` for
    ///   an unsupported one.
    package init?(mediaType: String) {
        switch mediaType {
        case "video/mp4", "video/quicktime", "audio/mp4": self = .isoMedia
        case "video/webm", "audio/webm": self = .matroska
        default: return nil
        }
    }
}

/// Finds the metadata of films and recordings: position, camera, time, titles, cover pictures, and
/// data after the end of the film. Frames, sound, subtitles, rotation and color do not change.
///
/// The metadata is overwritten by free space of the same size, because a film refers to its frames
/// by their positions in the file.
package enum FilmMetadata {
    /// Returns the changes that remove the metadata of a file, at most 65,536.
    ///
    /// The frames are not read. For a file that was already changed, the function returns changes
    /// without effect.
    ///
    /// - Parameters:
    ///   - size: The size of the file, in bytes.
    ///   - read: Returns bytes of the file. The arguments are the offset and the number of bytes,
    ///     at most 4,096.
    /// - Throws: ``DamagedFilm`` if the structure is not valid, and the errors of `read`. A damaged
    ///   file must not be served as a film, because a decoder that repairs it could read metadata
    ///   that was not found here.
    package static func changes(
        in format: FilmFormat, size: Int64, read: @escaping (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) throws -> [FilmChange] {
        let reader = FilmReader(size: size, read: read)
        switch format {
        case .isoMedia:
            var cleaner = ISOMediaCleaner(reader)
            return try cleaner.clean()
        case .matroska:
            var cleaner = MatroskaCleaner(reader)
            return try cleaner.clean()
        }
    }
}

/// Bytes to write at an offset of a file. The size of the file does not change.
package struct FilmChange: Hashable, Sendable {
    package let offset: Int64
    package let bytes: [UInt8]
    /// The number of zeros to write after the bytes.
    package let zeros: Int64
}

/// The error of a film whose structure is not valid or exceeds a limit.
package struct DamagedFilm: Error, Hashable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

/// Reads parts of a file through a window of 4 KiB. Each read is checked.
struct FilmReader {
    private static let windowBytes: Int64 = 4_096
    /// The maximum number of parts (boxes or elements) of a file. A film of ten hours in fragments
    /// of one second has about 250,000.
    static let maximumParts = 1 << 20

    let size: Int64
    private let read: (Int64, Int) throws -> [UInt8]
    private let maximumParts: Int
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
    private var parts = 0

    init(size: Int64, maximumParts: Int = Self.maximumParts, read: @escaping (Int64, Int) throws -> [UInt8]) {
        self.size = size
        self.read = read
        self.maximumParts = maximumParts
    }

    /// Counts a part. Throws an error if the file has too many parts.
    mutating func countPart() throws(DamagedFilm) {
        self.parts += 1
        guard self.parts <= self.maximumParts else { throw DamagedFilm("the file has more than \(self.maximumParts) parts") }
    }

    /// Returns at most `count` and at most 4,096 bytes; fewer at the end of the file.
    mutating func bytes(at offset: Int64, upTo count: Int) throws -> ArraySlice<UInt8> {
        guard offset >= 0, offset < self.size else { return [] }
        let count = Int64(min(count, Int(Self.windowBytes)))
        let wanted = min(count, self.size - offset)
        if offset < self.windowStart || self.windowStart + Int64(self.window.count) - offset < wanted {
            self.window = try self.read(offset, Int(min(Self.windowBytes, self.size - offset)))
            self.windowStart = offset
        }
        return self.window.dropFirst(Int(offset - self.windowStart)).prefix(Int(wanted))
    }

    mutating func bytes(at offset: Int64, _ count: Int, _ what: String) throws -> ArraySlice<UInt8> {
        let bytes = try self.bytes(at: offset, upTo: count)
        guard bytes.count == count else { throw DamagedFilm("the file ends within \(what)") }
        return bytes
    }

    mutating func bigEndian(at offset: Int64, _ count: Int, _ what: String) throws -> UInt64 {
        try self.bytes(at: offset, count, what).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns whether the file has only zeros from an offset.
    mutating func hasOnlyZeros(from offset: Int64) throws -> Bool {
        var offset = offset
        while offset < self.size {
            let bytes = try self.bytes(at: offset, upTo: Int(Self.windowBytes))
            guard !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) else { return false }
            offset += Int64(bytes.count)
        }
        return true
    }
}

/// Collects a bounded number of changes. Together they have at most the size of the file, so that
/// samples that claim the same data do not multiply the bytes to write.
struct FilmChanges {
    private static let maximum = 1 << 16
    private(set) var all: [FilmChange] = []
    /// The number of bytes that further changes may have.
    private var remaining: Int64

    /// - Parameter size: The size of the file, in bytes.
    init(size: Int64) { self.remaining = size }

    mutating func add(_ offset: Int64, _ bytes: [UInt8] = [], zeros: Int64) throws(DamagedFilm) {
        guard self.all.count < Self.maximum else { throw DamagedFilm("the file has more than \(Self.maximum) parts of metadata") }
        let count = Int64(bytes.count)
        guard count <= self.remaining, zeros <= self.remaining - count else { throw DamagedFilm("parts of the metadata overlap") }
        self.remaining -= count + zeros
        self.all.append(FilmChange(offset: offset, bytes: bytes, zeros: zeros))
    }
}
