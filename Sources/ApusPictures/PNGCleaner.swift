/// Removes the metadata of PNG files, including animated ones.
///
/// Source: PNG 3rd edition, 5.3 (chunk layout), 5.5 (CRC), 11.3 (ancillary chunks).
enum PNGCleaner {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The chunks that are kept: critical ones, transparency, color space, physical size and
    /// animation.
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI", "sBIT", "bKGD", "hIST", "pHYs",
        "acTL", "fcTL", "fdAT",
    ]

    static func clean(_ bytes: [UInt8]) throws(DamagedPicture) -> [UInt8] {
        var reader = PictureReader(bytes[...])
        guard try reader.take(8, "the signature").elementsEqual(self.signature) else { throw DamagedPicture("the signature is missing") }
        var result = self.signature
        result.reserveCapacity(bytes.count)
        var orientation: PictureOrientation?
        /// The position of the first chunk of data in the result.
        var dataStart: Int?
        while true {
            let start = reader.index
            let length = try reader.bigEndian(4, "the length of a chunk")
            let type = String(decoding: try reader.take(4, "the type of a chunk"), as: UTF8.self)
            let content = try reader.take(length, "chunk \(type.debugDescription)")
            _ = try reader.take(4, "the CRC of a chunk")
            let chunk = bytes[start..<reader.index]
            switch type {
            case "eXIf": orientation = PictureOrientation(tiff: content)
            case "IHDR" where result.count > 8: throw DamagedPicture("the header is repeated")
            case "IEND":
                guard let dataStart else { throw DamagedPicture("the picture has no data") }
                // The chunk may be before or after the data (PNG specification, section 5.6).
                if let orientation { result.insert(contentsOf: self.chunk("eXIf", orientation.tiff), at: dataStart) }
                return result + chunk
            case _ where self.kept.contains(type):
                guard result.count > 8 || type == "IHDR" else { throw DamagedPicture("the header is missing") }
                if type == "IDAT", dataStart == nil { dataStart = result.count }
                result += chunk
            default:
                // A capital first letter marks a chunk that a decoder must support (PNG
                // specification, section 5.4).
                guard let first = type.utf8.first, first & 0x20 != 0 else {
                    throw DamagedPicture("the critical chunk \(type.debugDescription) is unknown")
                }
            }
        }
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + content
        return self.bytes(UInt32(content.count)) + checked + self.bytes(self.crc(checked))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    /// Computes the CRC of Annex D bit by bit, because it is computed for 30 bytes only.
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
        }
    }
}
