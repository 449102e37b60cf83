/// The format and the dimensions of a picture, from its header. The picture is not decoded
/// (docs/hazards.md, 22).
///
/// Sources: PNG 3rd edition, 5.2 and 11.2.2; JPEG T.81, B.1 and B.2.2; GIF89a, 17 and 18; WebP
/// container (RFC 9649), 2.5 to 2.7.
package struct PictureHeader: Hashable, Sendable {
    package let format: PictureFormat
    /// The stored width in pixels, before the orientation is applied.
    package let width: Int
    /// The stored height in pixels, before the orientation is applied.
    package let height: Int

    package init(format: PictureFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads the header of a file. Returns `nil` unless the file is a PNG, JPEG, GIF or WebP
    /// picture.
    package init?(_ bytes: [UInt8]) {
        for (format, read) in Self.readers {
            guard let (width, height) = read(bytes) else { continue }
            self.init(format: format, width: width, height: height)
            return
        }
        return nil
    }

    private static let readers: [(PictureFormat, @Sendable ([UInt8]) -> (Int, Int)?)] = [
        (.png, { Self.png($0) }), (.jpeg, { Self.jpeg($0) }), (.gif, { Self.gif($0) }), (.webP, { Self.webP($0) }),
    ]

    private static func png(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), bytes.count >= 33,
            bytes[12..<16].elementsEqual("IHDR".utf8)
        else { return nil }
        return Self.positive(Self.bigEndian(bytes, 16, 4), Self.bigEndian(bytes, 20, 4))
    }

    private static func gif(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.count >= 13, bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) else { return nil }
        return Self.positive(Self.littleEndian(bytes, 6, 2), Self.littleEndian(bytes, 8, 2))
    }

    private static func webP(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.count >= 30, bytes.starts(with: Array("RIFF".utf8)), bytes[8..<12].elementsEqual("WEBP".utf8) else { return nil }
        switch String(decoding: bytes[12..<16], as: UTF8.self) {
        case "VP8X":
            return (Self.littleEndian(bytes, 24, 3) + 1, Self.littleEndian(bytes, 27, 3) + 1)
        case "VP8L":
            guard bytes[20] == 0x2F else { return nil }
            let bits = Self.littleEndian(bytes, 21, 4)
            return ((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1)
        case "VP8 ":
            guard bytes[23] == 0x9D, bytes[24] == 0x01, bytes[25] == 0x2A else { return nil }
            return Self.positive(Self.littleEndian(bytes, 26, 2) & 0x3FFF, Self.littleEndian(bytes, 28, 2) & 0x3FFF)
        default:
            return nil
        }
    }

    /// Scans the segments up to the first start of frame. Each step advances, so the loop
    /// terminates.
    private static func jpeg(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
        var index = 2
        while index + 4 <= bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            switch marker {
            case 0xFF:  // fill byte
                index += 1
            case 0x01, 0xD0...0xD8:  // markers without a length
                index += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:  // start of frame
                guard index + 9 <= bytes.count else { return nil }
                return Self.positive(Self.bigEndian(bytes, index + 7, 2), Self.bigEndian(bytes, index + 5, 2))
            case 0xD9, 0xDA:  // end of image or start of scan without a frame
                return nil
            default:
                let length = Self.bigEndian(bytes, index + 2, 2)
                guard length >= 2 else { return nil }
                index += 2 + length
            }
        }
        return nil
    }

    private static func positive(_ width: Int, _ height: Int) -> (Int, Int)? { width > 0 && height > 0 ? (width, height) : nil }

    private static func bigEndian(_ bytes: [UInt8], _ index: Int, _ count: Int) -> Int {
        bytes[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func littleEndian(_ bytes: [UInt8], _ index: Int, _ count: Int) -> Int {
        bytes[index..<index + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
