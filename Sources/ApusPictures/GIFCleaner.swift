/// Removes the comments and the application data of GIF files. The repeat count of an animation is
/// kept.
///
/// Source: GIF89a, 15 (data sub-blocks), 17 to 27 (blocks), Appendix A.
enum GIFCleaner {
    private static let loopNames: Set<String> = ["NETSCAPE2.0", "ANIMEXTS1.0"]

    static func clean(_ bytes: [UInt8]) throws(DamagedPicture) -> [UInt8] {
        var reader = PictureReader(bytes[...])
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        result += try reader.take(6, "the header")
        let screen = try reader.take(7, "the screen descriptor")
        result += screen
        result += try reader.take(self.colorTableBytes(screen[screen.startIndex + 4]), "the global color table")
        var images = 0
        while true {
            switch try reader.byte("a block") {
            case 0x2C:
                let descriptor = try reader.take(9, "an image descriptor")
                result.append(0x2C)
                result += descriptor
                result += try reader.take(self.colorTableBytes(descriptor[descriptor.startIndex + 8]), "a local color table")
                result.append(try reader.byte("an image"))  // the minimum code size
                result += try self.subBlocks(&reader)
                images += 1
            case 0x21:
                let label = try reader.byte("an extension")
                let blocks = try self.subBlocks(&reader)
                guard self.keeps(label, blocks) else { continue }
                result += [0x21, label]
                result += blocks
            case 0x3B:  // trailer; the bytes behind it are not part of the picture
                guard images > 0 else { throw DamagedPicture("the file has no image") }
                return result + [0x3B]
            case let introducer:
                let hex = String(introducer, radix: 16, uppercase: true)
                throw DamagedPicture(
                    "byte 0x\(hex) at offset \(reader.index - 1) begins neither an image, nor an extension, nor the trailer")
            }
        }
    }

    private static func colorTableBytes(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1) }

    private static func subBlocks(_ reader: inout PictureReader) throws(DamagedPicture) -> ArraySlice<UInt8> {
        let start = reader.index
        while true {
            let count = try reader.byte("a sub-block")
            if count == 0 { return reader.bytes[start..<reader.index] }
            _ = try reader.take(Int(count), "a sub-block")
        }
    }

    private static func keeps(_ label: UInt8, _ blocks: ArraySlice<UInt8>) -> Bool {
        switch label {
        case 0xF9: true  // delay and transparency of the next image
        case 0xFF: blocks.count >= 12 && self.loopNames.contains(String(decoding: blocks.dropFirst().prefix(11), as: UTF8.self))
        default: false
        }
    }
}
