/// The media type of a file by its first bytes, among those that browsers show without executing
/// anything.
///
/// Source: the MIME Sniffing Standard (WHATWG), sections 6.1 to 6.3. All other files are served as
/// downloads (docs/hazards.md, 22).
enum MediaType {
    static let other = "application/octet-stream"

    /// The number of bytes that `sniffed` examines.
    static let prefixBytes = 64

    /// Returns the type of audio or video; `other` for everything else, also for pictures, whose
    /// structure is examined separately.
    static func sniffed(_ prefix: [UInt8]) -> String {
        func has(_ text: String, at index: Int = 0) -> Bool {
            prefix.count >= index + text.utf8.count && prefix[index..<index + text.utf8.count].elementsEqual(text.utf8)
        }
        if has("ftyp", at: 4) { return has("M4A", at: 8) ? "audio/mp4" : has("qt  ", at: 8) ? "video/quicktime" : "video/mp4" }
        if prefix.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return "video/webm" }
        if has("OggS") { return "audio/ogg" }
        if has("fLaC") { return "audio/flac" }
        if has("RIFF"), has("WAVE", at: 8) { return "audio/wav" }
        if has("ID3") { return "audio/mpeg" }
        // A frame of MPEG audio: 11 set bits, then neither a reserved version nor layer.
        if prefix.count >= 2, prefix[0] == 0xFF, prefix[1] & 0xE0 == 0xE0, prefix[1] & 0x18 != 0x08, prefix[1] & 0x06 != 0 {
            return prefix[1] & 0x06 == 0x02 ? "audio/mpeg" : self.other
        }
        return self.other
    }

    /// Whether a file begins as a picture of the formats that `ApusPictures` reads.
    static func isPicture(_ prefix: [UInt8]) -> Bool {
        prefix.starts(with: [0x89, 0x50, 0x4E, 0x47]) || prefix.starts(with: [0xFF, 0xD8, 0xFF]) || prefix.starts(with: Array("GIF8".utf8))
            || (prefix.starts(with: Array("RIFF".utf8)) && prefix.dropFirst(8).starts(with: Array("WEBP".utf8)))
    }

    /// Whether a browser may show a type, instead of storing the file.
    static func isShown(_ type: String) -> Bool { type.hasPrefix("image/") || type.hasPrefix("audio/") || type.hasPrefix("video/") }
}
