import Testing

@testable import ApusPictures

@Suite("Picture metadata")
struct PictureMetadataTests {
    /// Whether the file contains one of the markers of ``SamplePictures``, or the reference that
    /// Exif makes to a position: tag 0x8825 in either byte order.
    private static func hasMetadata(_ bytes: [UInt8]) -> Bool {
        self.contains(bytes, Array("Secret".utf8)) || self.contains(bytes, [0x88, 0x25, 0, 4]) || self.contains(bytes, [0x25, 0x88, 4, 0])
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.count >= part.count && (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }

    @Test(arguments: SamplePictures.all.indices)
    func onlyThePictureAndItsOrientationStay(index: Int) throws {
        let sample = SamplePictures.all[index]
        #expect(Self.hasMetadata(sample.bytes))
        let cleaned = try PictureMetadata.removed(from: sample.bytes, of: sample.format)
        #expect(!Self.hasMetadata(cleaned))
        #expect(cleaned.count < sample.bytes.count)
        #expect(PictureHeader(cleaned) == PictureHeader(sample.bytes))
        if sample.hasOrientation {
            let orientation = try #require(PictureOrientation(tiff: Self.orientation6[...]))
            #expect(Self.contains(cleaned, orientation.tiff))
        }
        // Repeated cleaning changes nothing, so the same picture is stored once.
        #expect(try PictureMetadata.removed(from: cleaned, of: sample.format) == cleaned)
    }

    @Test(arguments: SamplePictures.all.indices)
    func truncatedFilesAreDamaged(index: Int) {
        let sample = SamplePictures.all[index]
        let whole = (try? PictureMetadata.removed(from: sample.bytes, of: sample.format)) ?? []
        for count in 0..<whole.count {
            #expect(throws: DamagedPicture.self) { try PictureMetadata.removed(from: Array(whole.prefix(count)), of: sample.format) }
        }
    }

    @Test func theErrorReportsTheByteThatBeginsNoBlock() {
        let bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0] + [0x2B]
        let error = #expect(throws: DamagedPicture.self) { try PictureMetadata.removed(from: bytes, of: .gif) }
        #expect(error?.description == "byte 0x2B at offset 13 begins neither an image, nor an extension, nor the trailer")
    }

    /// Every byte of every sample is replaced in turn. The result is a picture or an error.
    @Test(arguments: SamplePictures.all.indices)
    func damageNeverTraps(index: Int) {
        let sample = SamplePictures.all[index]
        for position in sample.bytes.indices {
            for value: UInt8 in [0x00, 0x7F, 0xFF] {
                var bytes = sample.bytes
                bytes[position] = value
                _ = PictureHeader(bytes)
                guard let cleaned = try? PictureMetadata.removed(from: bytes, of: sample.format) else { continue }
                #expect((try? PictureMetadata.removed(from: cleaned, of: sample.format)) == cleaned)
            }
        }
    }

    private static let orientation6: [UInt8] = [
        0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
    ]

    @Test func orientationIsReadInBothByteOrders() throws {
        let little = try #require(PictureOrientation(tiff: Self.orientation6[...]))
        #expect(little.value == 6)
        #expect(PictureOrientation(tiff: little.tiff[...]) == little)
    }

    @Test(arguments: [
        (18, UInt8(1)),  // the normal orientation needs no metadata
        (18, 9), (14, 2), (12, 4), (0, 0x50), (4, 200), (8, 0),
    ])
    func otherOrientationsAreNil(position: Int, value: UInt8) {
        var bytes = Self.orientation6
        bytes[position] = value
        #expect(PictureOrientation(tiff: bytes[...]) == nil)
    }
}
