import Testing

@testable import ApusPictures

@Suite("Picture header")
struct PictureHeaderTests {
    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + bytes(width) + bytes(height) + [
            8, 2, 0, 0, 0, 0, 0, 0, 0,
        ]
    }
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC2, 0, 11, 8, 0, 3, 0, 2, 1, 0, 0]
    private static let gif: [UInt8] = Array("GIF89a".utf8) + [2, 0, 3, 0, 0, 0, 0]
    private static let webPX: [UInt8] = Array("RIFF....WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0]
    private static let webPL: [UInt8] = Array("RIFF....WEBPVP8L".utf8) + [9, 0, 0, 0, 0x2F, 1, 0x80, 0, 0, 0, 0, 0, 0, 0]
    private static let webP8: [UInt8] = Array("RIFF....WEBPVP8 ".utf8) + [9, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 2, 0, 3, 0]

    @Test(arguments: [
        (png(2, 3), PictureFormat.png), (jpeg, .jpeg), (gif, .gif), (webPX, .webP), (webPL, .webP), (webP8, .webP),
    ])
    func picturesAreMeasured(bytes: [UInt8], format: PictureFormat) {
        #expect(PictureHeader(bytes) == PictureHeader(format: format, width: 2, height: 3))
        // A truncated file has the same or an unknown format, and never causes a trap.
        for count in 0..<bytes.count {
            let header = PictureHeader(Array(bytes.prefix(count)))
            #expect(header == nil || header?.format == format)
        }
    }

    @Test(arguments: [
        Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array("<html><script>".utf8), [], png(0, 3),
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0],
        [0xFF, 0xD8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2],
    ])
    func everythingElseIsNotAPicture(bytes: [UInt8]) {
        #expect(PictureHeader(bytes) == nil)
    }
}
