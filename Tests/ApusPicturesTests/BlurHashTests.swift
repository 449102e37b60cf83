import Testing

@testable import ApusPictures

@Suite struct BlurHashTests {
    private static func picture(_ width: Int, _ height: Int, _ color: (Int, Int) -> [Int]) throws -> PixelMap {
        var samples: [UInt8] = []
        for y in 0..<height { for x in 0..<width { samples += color(x, y).map { UInt8(truncatingIfNeeded: $0) } } }
        return try #require(PixelMap(width: width, height: height, samples: samples))
    }

    /// The texts are those of the algorithm's reference implementation in Python.
    @Test func theTextMatchesTheReference() throws {
        let wide = try Self.picture(8, 4) { x, y in [x * 36, y * 85, x * y * 11] }
        #expect(BlurHash.text(of: wide) == "LxH.rZ3La{x?*iNMfQnPdte@fQe:")
        let tall = try Self.picture(3, 6) { x, y in [x * 120, y * 50, 200] }
        #expect(BlurHash.text(of: tall) == "T$IX^2Cm2EzPREN]eqe;fQ%gT0N]")
    }

    @Test(arguments: [(1, 1), (1, 64), (64, 1), (32, 32)]) func everySizeHasAText(width: Int, height: Int) throws {
        for value in [0, 255] {
            #expect(BlurHash.text(of: try Self.picture(width, height) { _, _ in [value, value, value] }).utf8.count == 28)
        }
    }

    @Test func aMapIsRead() {
        let color = PixelMap(portable: Array("P6\n# a comment\n2 1\n255\n".utf8) + [1, 2, 3, 4, 5, 6, 7])
        #expect(color?.samples == [1, 2, 3, 4, 5, 6])
        #expect(color?.width == 2 && color?.height == 1)
        #expect(PixelMap(portable: Array("P5 1 2 255 ".utf8) + [8, 9])?.samples == [8, 8, 8, 9, 9, 9])
    }

    @Test(arguments: [
        "", "P", "P6", "P6\n", "P6 1 1 255", "P6 1 1 255\n12", "P7 1 1 255\n123", "P6 0 1 255\n123", "P6 1 1 65535\n123456",
        "P6 99999 99999 255\n1", "P6 4097 1 255\n1", "P6 -1 1 255\n123", "P6 99999999999999999999 1 255\n", "P6 #", "P6 1 1 255 ",
    ]) func anotherFileIsRefused(text: String) { #expect(PixelMap(portable: Array(text.utf8)) == nil) }

    @Test(arguments: SamplePictures.all.indices) func aTurnedPictureIsFound(index: Int) throws {
        let sample = SamplePictures.all[index]
        // The samples have orientation 6, a quarter turn.
        let cleaned = try PictureMetadata.removed(from: sample.bytes, of: sample.format)
        #expect(PictureMetadata.isTurned(cleaned, of: sample.format) == sample.hasOrientation)
        for count in [0, 2, 4, 12, 20, 30] { _ = PictureMetadata.isTurned(Array(cleaned.prefix(count)), of: sample.format) }
    }
}
