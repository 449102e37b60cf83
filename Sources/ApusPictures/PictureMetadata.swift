/// Removes metadata from pictures: position, camera, time, comments, thumbnails, and data after the
/// end of the picture. The pixels are not decoded and do not change. The result contains only the
/// data that is needed to show the picture: pixels, animation, color space, resolution and
/// orientation.
package enum PictureMetadata {
    /// Returns the file without metadata.
    ///
    /// Running time and memory are linear in the size of the file.
    ///
    /// - Throws: ``DamagedPicture`` if the structure is not valid. A damaged file must not be
    ///   served as a picture, because a decoder that repairs it could read metadata that was not
    ///   found here.
    package static func removed(from bytes: [UInt8], of format: PictureFormat) throws(DamagedPicture) -> [UInt8] {
        switch format {
        case .png: try PNGCleaner.clean(bytes)
        case .jpeg: try JPEGCleaner.clean(bytes)
        case .gif: try GIFCleaner.clean(bytes)
        case .webP: try WebPCleaner.clean(bytes)
        }
    }
}

/// Reads the bytes of a file from a position. Each read is checked.
struct PictureReader {
    let bytes: ArraySlice<UInt8>
    private(set) var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    var remaining: Int { self.bytes.endIndex - self.index }

    mutating func take(_ count: Int, _ what: String) throws(DamagedPicture) -> ArraySlice<UInt8> {
        guard count >= 0, count <= self.remaining else { throw DamagedPicture("the file ends within \(what)") }
        defer { self.index += count }
        return self.bytes[self.index..<self.index + count]
    }

    mutating func byte(_ what: String) throws(DamagedPicture) -> UInt8 {
        guard self.remaining > 0 else { throw DamagedPicture("the file ends within \(what)") }
        defer { self.index += 1 }
        return self.bytes[self.index]
    }

    mutating func bigEndian(_ count: Int, _ what: String) throws(DamagedPicture) -> Int {
        try self.take(count, what).reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func littleEndian(_ count: Int, _ what: String) throws(DamagedPicture) -> Int {
        try self.take(count, what).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
