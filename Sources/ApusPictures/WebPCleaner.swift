/// Removes the metadata of WebP files, including animated ones.
///
/// Source: RFC 9649, 2.3 (RIFF chunks) to 2.7 (extended format).
enum WebPCleaner {
    private static let kept: Set<String> = ["VP8 ", "VP8L", "ICCP", "ANIM", "ALPH"]
    private static let keptInFrame: Set<String> = ["VP8 ", "VP8L", "ALPH"]
    private static let exifFlag: UInt8 = 0x08
    private static let xmpFlag: UInt8 = 0x04

    static func clean(_ bytes: [UInt8]) throws(DamagedPicture) -> [UInt8] {
        var reader = PictureReader(bytes[...])
        guard try reader.take(4, "the header").elementsEqual("RIFF".utf8) else { throw DamagedPicture("the RIFF header is missing") }
        // Bytes after the size in the header do not belong to the picture.
        let size = try reader.littleEndian(4, "the header")
        var content = PictureReader(try reader.take(size, "the RIFF chunk"))
        guard try content.take(4, "the header").elementsEqual("WEBP".utf8) else { throw DamagedPicture("the file is not WebP") }
        var chunks: [UInt8] = []
        chunks.reserveCapacity(size)
        var extended: ArraySlice<UInt8>?
        var orientation: PictureOrientation?
        var hasPixels = false
        while content.remaining > 0 {
            let (type, body) = try self.chunk(&content)
            switch type {
            case "VP8X":
                guard extended == nil, chunks.isEmpty else { throw DamagedPicture("the chunk VP8X is not the first one") }
                guard body.count >= 10 else { throw DamagedPicture("the chunk VP8X has \(body.count) bytes; the minimum is 10") }
                extended = body.prefix(10)
            case "ANMF":
                chunks += self.encoded("ANMF", try self.frame(body))
                hasPixels = true
            case "EXIF":
                // Some programs prefix the metadata with the name that Exif has in JPEG files.
                orientation = PictureOrientation(tiff: body.starts(with: Array("Exif\0\0".utf8)) ? body.dropFirst(6) : body)
            case _ where self.kept.contains(type):
                chunks += self.encoded(type, body)
                hasPixels = hasPixels || type.hasPrefix("VP8")
            default: continue
            }
        }
        guard hasPixels else { throw DamagedPicture("the picture has no data") }
        return self.file(extended, chunks, orientation)
    }

    private static func file(_ extended: ArraySlice<UInt8>?, _ chunks: [UInt8], _ orientation: PictureOrientation?) -> [UInt8] {
        var content = Array("WEBP".utf8)
        guard var header = extended, let flags = header.first else { return self.encoded("RIFF", content + chunks) }
        header[header.startIndex] = flags & ~(self.exifFlag | self.xmpFlag) | (orientation == nil ? 0 : self.exifFlag)
        content += self.encoded("VP8X", header)
        content += chunks
        if let orientation { content += self.encoded("EXIF", orientation.tiff[...]) }
        return self.encoded("RIFF", content)
    }

    /// Cleans an animation frame, which consists of 16 bytes and chunks.
    private static func frame(_ body: ArraySlice<UInt8>) throws(DamagedPicture) -> [UInt8] {
        var reader = PictureReader(body)
        var result = Array(try reader.take(16, "an animation frame"))
        while reader.remaining > 0 {
            let (type, body) = try self.chunk(&reader)
            if self.keptInFrame.contains(type) { result += self.encoded(type, body) }
        }
        return result
    }

    private static func chunk(_ reader: inout PictureReader) throws(DamagedPicture) -> (type: String, body: ArraySlice<UInt8>) {
        let type = String(decoding: try reader.take(4, "the type of a chunk"), as: UTF8.self)
        let length = try reader.littleEndian(4, "the length of a chunk")
        let body = try reader.take(length, "chunk \(type.debugDescription)")
        // Chunks are padded to an even size. Some writers omit the padding at the end of the file.
        if length % 2 == 1, reader.remaining > 0 { _ = try reader.byte("the padding of a chunk") }
        return (type, body)
    }

    private static func encoded(_ type: String, _ body: some Collection<UInt8>) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: body.count)
        return Array(type.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + body + (body.count % 2 == 1 ? [0] : [])
    }
}
