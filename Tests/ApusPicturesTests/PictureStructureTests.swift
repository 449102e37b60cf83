import Testing

@testable import ApusPictures

/// Files that are built part by part: which parts stay, where the orientation is found and written,
/// and the errors of files whose structure is not valid.
@Suite struct PictureStructureTests {
    private static let secret = Array("Secret".utf8)

    private static func tiff(_ orientation: UInt8, isBigEndian: Bool = true) -> [UInt8] {
        isBigEndian
            ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
            : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.count >= part.count && (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    private func problem(_ bytes: [UInt8], _ format: PictureFormat) -> String? {
        do throws(DamagedPicture) {
            _ = try PictureMetadata.removed(from: bytes, of: format)
            return nil
        } catch { return error.description }
    }

    // MARK: PNG

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func chunk(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        let count = UInt32(content.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + Array(type.utf8) + content + [1, 2, 3, 4]
    }

    private static let header = chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
    private static let end = chunk("IEND")

    @Test(
        arguments: [
            "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI", "sBIT", "bKGD", "hIST", "pHYs", "acTL", "fcTL", "fdAT",
        ])
    func chunksOfThePictureStay(type: String) throws {
        let chunk = Self.chunk(type, [9, 9])
        for file in [
            Self.signature + Self.header + chunk + Self.chunk("IDAT") + Self.end,
            Self.signature + Self.header + Self.chunk("IDAT") + chunk + Self.end,
        ] { #expect(try PictureMetadata.removed(from: file, of: .png) == file) }
    }

    @Test(arguments: ["tEXt", "zTXt", "iTXt", "tIME", "eXIf", "sPLT", "caBX", "vpAg", "gIFx", "prVt", "dSIG"])
    func otherChunksOfAPNGAreRemoved(type: String) throws {
        let chunk = Self.chunk(type, Self.secret)
        let plain = Self.signature + Self.header + Self.chunk("IDAT", [7]) + Self.end
        for file in [
            Self.signature + Self.header + chunk + Self.chunk("IDAT", [7]) + Self.end,
            Self.signature + Self.header + Self.chunk("IDAT", [7]) + chunk + Self.end, plain + Self.secret, plain + chunk,
        ] { #expect(try PictureMetadata.removed(from: file, of: .png) == plain) }
    }

    /// The chunk with the orientation may be before or after the data, and is written before it.
    @Test(arguments: [true, false], [UInt8(2), 5, 8])
    func theOrientationOfAPNGStays(isAfterData: Bool, orientation: UInt8) throws {
        let exif = Self.chunk("eXIf", Self.tiff(orientation, isBigEndian: !isAfterData) + Self.secret)
        let data = Self.chunk("IDAT", [7])
        let file = Self.signature + Self.header + (isAfterData ? data + exif : exif + data) + data + Self.end
        let cleaned = try PictureMetadata.removed(from: file, of: .png)
        let written = Self.chunk("eXIf", Self.tiff(orientation)).dropLast(4)
        #expect(cleaned.starts(with: Self.signature + Self.header + written) && !self.contains(cleaned, Self.secret))
        #expect(cleaned.count == file.count - Self.secret.count && cleaned.suffix(data.count * 2 + 12).starts(with: data + data))
        #expect(PictureMetadata.isTurned(cleaned, of: .png) == (orientation >= 5))
        #expect(try PictureMetadata.removed(from: cleaned, of: .png) == cleaned)
    }

    @Test(
        arguments: [
            ([], "the file ends within the signature"), (Array("not a PNG".utf8), "the signature is missing"),
            (signature + chunk("IDAT") + end, "the header is missing"), (signature + header + header + end, "the header is repeated"),
            (signature + header + end, "the picture has no data"),
            (signature + header + chunk("IDAX") + end, "the critical chunk \"IDAX\" is unknown"),
            (signature + header + [0xFF, 0xFF, 0xFF, 0xFF] + Array("IDAT".utf8), "the file ends within chunk \"IDAT\""),
            (signature + header + chunk("IDAT").dropLast(), "the file ends within the CRC of a chunk"),
            (signature + header + [0, 0], "the file ends within the length of a chunk"),
            (signature + header + [0, 0, 0, 0, 0x49], "the file ends within the type of a chunk"),
        ] as [([UInt8], String)])
    func errorsOfPNG(file: [UInt8], message: String) { #expect(self.problem(file, .png) == message) }

    // MARK: JPEG

    private static func segment(_ marker: UInt8, _ content: [UInt8] = []) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    /// A scan with an escaped byte and a restart marker.
    private static let scan = segment(0xDA, [1, 2]) + [1, 0xFF, 0x00, 2, 0xFF, 0xD3, 4]
    private static func jpeg(_ segments: [UInt8], _ rest: [UInt8] = []) -> [UInt8] {
        [0xFF, 0xD8] + segments + scan + [0xFF, 0xD9] + rest
    }

    @Test(
        arguments: [UInt8](0xC0...0xCF).filter { $0 != 0xC8 } + [0xDB, 0xDD, 0xDC])
    func segmentsOfThePictureStay(marker: UInt8) throws {
        let file = Self.jpeg(Self.segment(marker, Self.secret))
        #expect(try PictureMetadata.removed(from: file, of: .jpeg) == file)
    }

    @Test(arguments: [UInt8](0xE0...0xEF) + [0xFE])
    func otherSegmentsAreRemoved(marker: UInt8) throws {
        let plain = Self.jpeg([])
        for content in [Self.secret, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.secret, Array("MPF\0".utf8) + Self.secret, []] {
            #expect(try PictureMetadata.removed(from: Self.jpeg(Self.segment(marker, content)), of: .jpeg) == plain)
        }
    }

    @Test func partsOfSegmentsStay() throws {
        let jfif = Array("JFIF\0".utf8) + [1, 2, 1, 0, 72, 0, 72]
        let profile = Self.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1, 9])
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]
        let cleaned = try PictureMetadata.removed(
            from: Self.jpeg(
                Self.segment(0xE0, jfif + [1, 1] + Self.secret) + profile + Self.segment(0xEE, adobe + Self.secret)
                    + Self.segment(0xE2, Array("FPXR\0".utf8) + Self.secret), Self.secret), of: .jpeg)
        #expect(cleaned == Self.jpeg(Self.segment(0xE0, jfif + [0, 0]) + profile + Self.segment(0xEE, adobe)))
    }

    @Test(arguments: [true, false])
    func theFirstOrientationOfAJPEGIsKept(isFirst: Bool) throws {
        let exif = Self.segment(0xE1, Array("Exif\0\0".utf8) + Self.tiff(6) + Self.secret)
        let other = Self.segment(0xE1, Array("Exif\0\0".utf8) + Self.tiff(3))
        let quantization = Self.segment(0xDB, [1])
        let cleaned = try PictureMetadata.removed(
            from: Self.jpeg(isFirst ? exif + other + quantization : quantization + exif + other), of: .jpeg)
        #expect(cleaned == Self.jpeg(Self.segment(0xE1, Array("Exif\0\0".utf8) + Self.tiff(6)) + quantization))
        #expect(PictureMetadata.isTurned(cleaned, of: .jpeg))
    }

    @Test func fillBytesAndFurtherScansAreRead() throws {
        let cleaned = try PictureMetadata.removed(
            from: [0xFF, 0xD8, 0xFF, 0xFF, 0xFF] + Self.segment(0xFE, Self.secret).dropFirst() + Self.scan + [0xFF]
                + Self.segment(0xC4, [1])
                + Self.scan + [0xFF, 0xFF, 0xD9], of: .jpeg)
        #expect(cleaned == [0xFF, 0xD8] + Self.scan + Self.segment(0xC4, [1]) + Self.scan + [0xFF, 0xD9])
    }

    @Test(
        arguments: [
            ([0xFF], "the file ends within the start of the image"), ([0xFF, 0xD9], "the start of the image is missing"),
            ([0xFF, 0xD8, 0xFF, 0xD9], "the picture has no scan"), ([0xFF, 0xD8, 0x00], "a marker is missing between two segments"),
            ([0xFF, 0xD8, 0xFF, 0x00], "the marker FF00 is not permitted between two segments"),
            ([0xFF, 0xD8, 0xFF, 0xD8], "the marker FFD8 is not permitted between two segments"),
            ([0xFF, 0xD8, 0xFF, 0xDB, 0, 1], "a segment has a length of 1; the minimum is 2"),
            ([0xFF, 0xD8, 0xFF, 0xDB, 0, 3], "the file ends within a segment"),
            ([0xFF, 0xD8, 0xFF, 0xFF], "the file ends within a marker"),
            ([0xFF, 0xD8] + segment(0xDA) + [1, 2, 3], "the file ends within a marker"),
            ([0xFF, 0xD8] + segment(0xDA) + [1, 0xFF], "the file ends within a marker"),
        ] as [([UInt8], String)])
    func errorsOfJPEG(file: [UInt8], message: String) { #expect(self.problem(file, .jpeg) == message) }

    // MARK: GIF

    private static let screen: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
    private static let image: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]

    private static func blocks(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { [UInt8($0.count)] + $0 } + [0] }

    @Test(
        arguments: [
            [0x21, 0xF9] + blocks([4, 10, 0, 0]), [0x21, 0xFF] + blocks(Array("NETSCAPE2.0".utf8), [1, 0, 0]),
            [0x21, 0xFF] + blocks(Array("ANIMEXTS1.0".utf8), [1, 0, 0]),
        ] as [[UInt8]])
    func extensionsOfAnimationsStay(block: [UInt8]) throws {
        let file = Self.screen + block + Self.image + block + Self.image + [0x3B]
        #expect(try PictureMetadata.removed(from: file, of: .gif) == file)
    }

    @Test(
        arguments: [
            [0x21, 0xFE] + blocks(secret, secret), [0x21, 0xFF] + blocks(Array("XMP DataXMP".utf8), secret), [0x21, 0x01] + blocks(secret),
            [0x21, 0xFF] + blocks(Array("NETSCAPE2.".utf8), secret), [0x21, 0xFF] + blocks(), [0x21, 0x99] + blocks(secret),
            [0x21, 0xFE] + blocks([UInt8](repeating: 7, count: 255)),
        ] as [[UInt8]])
    func otherExtensionsAreRemoved(block: [UInt8]) throws {
        let plain = Self.screen + Self.image + [0x3B]
        for file in [Self.screen + block + Self.image + [0x3B], Self.screen + Self.image + block + [0x3B], plain + block] {
            #expect(try PictureMetadata.removed(from: file, of: .gif) == plain)
        }
    }

    /// The size of a color table is 3 · 2^(n + 1), with n in the lowest three bits.
    @Test(arguments: 0...7)
    func colorTablesHaveTheirSize(bits: Int) throws {
        let table = [UInt8](repeating: 9, count: 3 << (bits + 1))
        let head = Array("GIF87a".utf8) + [1, 0, 1, 0, 0x80 | UInt8(bits), 0, 0] + table
        let file = head + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80 | UInt8(bits)] + table + [2, 1, 0x44, 0, 0x3B]
        #expect(try PictureMetadata.removed(from: file + Self.secret, of: .gif) == file)
        for missing in 2...4 { #expect(self.problem(Array(file.dropLast(missing)), .gif) == "the file ends within a sub-block") }
    }

    @Test(
        arguments: [
            (Array("GIF8".utf8), "the file ends within the header"),
            (Array(screen.prefix(8)), "the file ends within the screen descriptor"),
            (Array(screen.prefix(15)), "the file ends within the global color table"), (screen, "the file ends within a block"),
            (screen + [0x3B], "the file has no image"), (screen + [0x21], "the file ends within an extension"),
            (screen + [0x2C, 0], "the file ends within an image descriptor"),
            (screen + [0x21, 0xFE, 3, 1], "the file ends within a sub-block"),
            (screen + image + [0x00], "byte 0x0 at offset 34 begins neither an image, nor an extension, nor the trailer"),
        ] as [([UInt8], String)])
    func errorsOfGIF(file: [UInt8], message: String) { #expect(self.problem(file, .gif) == message) }

    // MARK: WebP

    private static func riff(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let count = UInt32(content.count)
        return Array(type.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + content
            + (content.count % 2 == 1 ? [0] : [])
    }

    private static func webP(_ chunks: [UInt8]) -> [UInt8] { riff("RIFF", Array("WEBP".utf8) + chunks) }
    private static let pixels = riff("VP8L", [0x2F, 0, 0, 0, 0])
    private static func extended(_ flags: UInt8) -> [UInt8] { riff("VP8X", [flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]) }

    @Test(arguments: ["ICCP", "ALPH", "VP8 ", "ANIM"])
    func chunksOfAWebPStay(type: String) throws {
        let file = Self.webP(Self.extended(0x30) + Self.riff(type, [1, 2, 3]) + Self.pixels)
        #expect(try PictureMetadata.removed(from: file, of: .webP) == file)
    }

    @Test(arguments: ["EXIF", "XMP ", "ABCD", "    "])
    func otherChunksOfAWebPAreRemoved(type: String) throws {
        let secret = Self.riff(type, Self.secret + [1])
        let file = Self.webP(Self.extended(0x1C) + secret + Self.pixels + secret)
        #expect(try PictureMetadata.removed(from: file + Self.secret, of: .webP) == Self.webP(Self.extended(0x10) + Self.pixels))
        #expect(try PictureMetadata.removed(from: Self.webP(Self.pixels + secret), of: .webP) == Self.webP(Self.pixels))
    }

    @Test(arguments: [true, false])
    func theOrientationOfAWebPStays(hasName: Bool) throws {
        let exif = Self.riff("EXIF", (hasName ? Array("Exif\0\0".utf8) : []) + Self.tiff(8, isBigEndian: hasName) + Self.secret)
        let cleaned = try PictureMetadata.removed(from: Self.webP(Self.extended(0x04) + exif + Self.pixels), of: .webP)
        #expect(cleaned == Self.webP(Self.extended(0x08) + Self.pixels + Self.riff("EXIF", Self.tiff(8))))
        #expect(PictureMetadata.isTurned(cleaned, of: .webP))
    }

    @Test func framesOfAnAnimationAreCleaned() throws {
        func frame(_ chunks: [UInt8]) -> [UInt8] { Self.riff("ANMF", [UInt8](repeating: 3, count: 16) + chunks) }
        let secret = Self.riff("XMP ", Self.secret)
        let file = Self.webP(Self.extended(0x02) + frame(secret + Self.pixels + secret) + frame(Self.pixels))
        #expect(
            try PictureMetadata.removed(from: file, of: .webP) == Self.webP(Self.extended(0x02) + frame(Self.pixels) + frame(Self.pixels)))
    }

    @Test(
        arguments: [
            (Array("RIFX".utf8), "the RIFF header is missing"), (Array("RI".utf8), "the file ends within the header"),
            (riff("RIFF", Array("WAVE".utf8)), "the file is not WebP"), (webP([]), "the picture has no data"),
            (webP(extended(0)), "the picture has no data"), (webP(pixels + extended(0)), "the chunk VP8X is not the first one"),
            (webP(extended(0) + extended(0)), "the chunk VP8X is not the first one"),
            (webP(riff("VP8X", [0, 0]) + pixels), "the chunk VP8X has 2 bytes; the minimum is 10"),
            (webP(riff("ANMF", [0, 0])), "the file ends within an animation frame"),
            (webP(Array("VP8L".utf8) + [9, 0, 0, 0]), "the file ends within chunk \"VP8L\""),
            (Array(webP(pixels).dropLast()), "the file ends within the RIFF chunk"),
            (webP([0x56, 0x50]), "the file ends within the type of a chunk"),
        ] as [([UInt8], String)])
    func errorsOfWebP(file: [UInt8], message: String) { #expect(self.problem(file, .webP) == message) }

    // MARK: Orientation

    @Test(arguments: 0...9 as ClosedRange<UInt8>, [true, false])
    func orientationsHaveARange(value: UInt8, isBigEndian: Bool) {
        let orientation = PictureOrientation(tiff: Self.tiff(value, isBigEndian: isBigEndian)[...])
        #expect(orientation?.value == ((2...8).contains(value) ? value : nil))
        if let orientation { #expect(orientation.tiff == Self.tiff(value) && orientation.tiff.count == PictureOrientation.tiffBytes) }
    }

    /// Only the first directory counts, wherever it is, and only a number of 16 bits.
    @Test func theOrientationIsInTheFirstDirectory() {
        let other: [UInt8] = [0x01, 0x0F, 0, 2, 0, 0, 0, 4, 65, 66, 67, 0]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        func directory(_ offset: UInt8, _ padding: Int, _ entries: [[UInt8]]) -> [UInt8] {
            [0x4D, 0x4D, 0, 42, 0, 0, 0, offset] + [UInt8](repeating: 0, count: padding) + [0, UInt8(entries.count)]
                + entries.flatMap { $0 }
        }
        #expect(PictureOrientation(tiff: directory(8, 0, [other, entry])[...])?.value == 6)
        #expect(PictureOrientation(tiff: directory(20, 12, [other, other, entry])[...])?.value == 6)
        #expect(PictureOrientation(tiff: directory(200, 0, [entry])[...]) == nil)
        #expect(PictureOrientation(tiff: directory(8, 0, [other])[...]) == nil)
        for (index, value) in [(3, 4), (7, 2), (9, 1)] as [(Int, UInt8)] {
            var changed = entry
            changed[index] = value
            #expect(PictureOrientation(tiff: directory(8, 0, [changed])[...]) == nil, "\(index)")
        }
    }
}
