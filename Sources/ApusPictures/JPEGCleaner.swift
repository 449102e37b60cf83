/// Removes the metadata of JPEG files.
///
/// Sources: JPEG T.81, B.1.1 and B.2 (markers and segments); JFIF 1.02; ICC.1, B.4 (profiles in
/// APP2); CIPA DC-008 (Exif), 4.5.4 and 4.7.2 (APP1).
enum JPEGCleaner {
    private static let exifName = Array("Exif\0\0".utf8)
    private static let profileName = Array("ICC_PROFILE\0".utf8)
    private static let jfifName = Array("JFIF\0".utf8)
    private static let adobeName = Array("Adobe".utf8)

    static func clean(_ bytes: [UInt8]) throws(DamagedPicture) -> [UInt8] {
        var reader = PictureReader(bytes[...])
        guard try reader.take(2, "the start of the image") == [0xFF, 0xD8] else {
            throw DamagedPicture("the start of the image is missing")
        }
        var segments: [UInt8] = []
        segments.reserveCapacity(bytes.count)
        var orientation: PictureOrientation?
        var scans = 0
        while true {
            let marker = try self.marker(&reader)
            switch marker {
            case 0xD9:  // end of image; the bytes behind it are not part of the picture
                guard scans > 0 else { throw DamagedPicture("the picture has no scan") }
                return [0xFF, 0xD8] + self.exif(orientation) + segments + [0xFF, 0xD9]
            case 0x01, 0xD0...0xD7:  // markers without a length
                segments += [0xFF, marker]
            case 0x00, 0xD8:
                throw DamagedPicture("the marker \(marker == 0 ? "FF00" : "FFD8") is not permitted between two segments")
            default:
                let length = try reader.bigEndian(2, "the length of a segment")
                guard length >= 2 else { throw DamagedPicture("a segment has a length of \(length); the minimum is 2") }
                let content = try reader.take(length - 2, "a segment")
                if marker == 0xE1, content.starts(with: self.exifName) {
                    orientation = orientation ?? PictureOrientation(tiff: content.dropFirst(self.exifName.count))
                }
                guard let kept = self.kept(content, of: marker) else { continue }
                segments += [0xFF, marker, UInt8((kept.count + 2) >> 8), UInt8((kept.count + 2) & 0xFF)]
                segments += kept
                if marker == 0xDA {
                    segments += self.scan(&reader)
                    scans += 1
                }
            }
        }
    }

    /// Reads a marker, and the fill bytes before it (B.1.1.2).
    private static func marker(_ reader: inout PictureReader) throws(DamagedPicture) -> UInt8 {
        guard try reader.byte("a marker") == 0xFF else { throw DamagedPicture("a marker is missing between two segments") }
        var marker = try reader.byte("a marker")
        while marker == 0xFF { marker = try reader.byte("a marker") }
        return marker
    }

    /// Reads the entropy-coded data of a scan, up to but not including the next marker. In the
    /// data, 0xFF is followed by 0 or is a restart marker (B.1.1.5).
    private static func scan(_ reader: inout PictureReader) -> ArraySlice<UInt8> {
        let bytes = reader.bytes
        var index = reader.index
        while index < bytes.endIndex {
            guard bytes[index] == 0xFF else {
                index += 1
                continue
            }
            guard index + 1 < bytes.endIndex else { break }
            let next = bytes[index + 1]
            guard next == 0x00 || (0xD0...0xD7).contains(next) else { break }
            index += 2
        }
        // `index` is at most the end of the bytes, so `take` cannot fail.
        return (try? reader.take(index - reader.index, "a scan")) ?? []
    }

    /// Returns the part of a segment to keep; `nil` removes the segment.
    private static func kept(_ content: ArraySlice<UInt8>, of marker: UInt8) -> ArraySlice<UInt8>? {
        switch marker {
        case 0xE0:  // JFIF: density, without the thumbnail
            guard content.starts(with: self.jfifName), content.count >= 14 else { return nil }
            return content.prefix(12) + [0, 0]
        case 0xE2: return content.starts(with: self.profileName) ? content : nil
        case 0xEE: return content.starts(with: self.adobeName) ? content.prefix(12) : nil  // the color transform
        case 0xE1, 0xE3...0xED, 0xEF, 0xFE: return nil
        default: return content
        }
    }

    private static func exif(_ orientation: PictureOrientation?) -> [UInt8] {
        guard let orientation else { return [] }
        let content = self.exifName + orientation.tiff
        return [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
    }
}
