extension PictureMetadata {
    /// Returns whether a picture is shown with width and height exchanged.
    ///
    /// - Parameter cleaned: The result of `removed`, whose orientation is at a known place.
    package static func isTurned(_ cleaned: [UInt8], of format: PictureFormat) -> Bool {
        let tiff: ArraySlice<UInt8>? =
            switch format {
            // Directly after the start of the image: a marker, a length and `Exif`.
            case .jpeg: cleaned.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]) ? cleaned.dropFirst(12) : nil
            case .png: self.exifChunk(cleaned)
            case .webP: self.lastChunk(cleaned)
            case .gif: nil
            }
        guard let tiff, let orientation = PictureOrientation(tiff: tiff) else { return false }
        return orientation.value >= 5
    }

    /// Returns the content of the chunk `eXIf`, which is before the first chunk of data.
    private static func exifChunk(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = PictureReader(bytes.dropFirst(8))
        while let length = try? reader.bigEndian(4, "a chunk"), let type = try? reader.take(4, "a chunk"),
            let content = try? reader.take(length, "a chunk"), (try? reader.take(4, "a chunk")) != nil
        {
            if type.elementsEqual("eXIf".utf8) { return content }
            if type.elementsEqual("IDAT".utf8) { return nil }
        }
        return nil
    }

    /// Returns the content of the chunk `EXIF`, which is the last one.
    private static func lastChunk(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let count = PictureOrientation.tiffBytes
        let start = bytes.suffix(count + 8)
        return start.prefix(4).elementsEqual("EXIF".utf8) ? start.suffix(count) : nil
    }
}
