/// Determines the media type of a file from its first bytes, for the types that browsers show
/// without executing code.
///
/// Source: the MIME Sniffing Standard (WHATWG), sections 6.1 to 6.3. All other files are served as
/// downloads (docs/hazards.md, 22).
enum MediaType {
    static let other = "application/octet-stream"

    /// The number of bytes that `sniffed` examines.
    static let prefixBytes = 64

    /// Returns the type of audio or video, and `other` for all other files. Pictures are also
    /// `other`, because their structure is examined separately.
    static func sniffed(_ prefix: [UInt8]) -> String {
        func has(_ text: String, at index: Int = 0) -> Bool {
            prefix.count >= index + text.utf8.count && prefix[index..<index + text.utf8.count].elementsEqual(text.utf8)
        }
        if has("ftyp", at: 4) { return self.type(ofBrands: prefix) }
        if prefix.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return "video/webm" }
        if has("OggS") { return "audio/ogg" }
        if has("fLaC") { return "audio/flac" }
        if has("RIFF"), has("WAVE", at: 8) { return "audio/wav" }
        if has("#!AMR\n") { return "audio/amr" }
        if has("ID3") { return "audio/mpeg" }
        // An MPEG audio frame begins with 11 set bits, followed by a version and a layer that are
        // not reserved.
        if prefix.count >= 2, prefix[0] == 0xFF, prefix[1] & 0xE0 == 0xE0, prefix[1] & 0x18 != 0x08, prefix[1] & 0x06 != 0 {
            return prefix[1] & 0x06 == 0x02 ? "audio/mpeg" : self.other
        }
        return self.other
    }

    /// Returns the type of an ISO base media file, determined from its brands.
    ///
    /// HEIC, AVIF and raw pictures have the same structure as videos. Their metadata is not removed
    /// here, so they are served as generic files. A file is a video only if it has a brand of
    /// videos and none of pictures.
    ///
    /// Source: ISO/IEC 14496-12 section 4.3, and the registry of mp4ra.org.
    private static func type(ofBrands prefix: [UInt8]) -> String {
        let size = prefix.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let end = min(prefix.count, max(16, size))
        // The minor version is between the major brand and the compatible brands.
        let starts = [8] + stride(from: 16, to: end, by: 4)
        let brands = starts.filter { $0 + 4 <= prefix.count }.map { String(decoding: prefix[$0..<$0 + 4], as: UTF8.self) }
        guard let major = brands.first, !brands.contains(where: { self.pictureBrands.contains($0) }) else { return self.other }
        switch major {
        case "M4A ", "M4B ", "F4A ": return "audio/mp4"
        case "qt  ": return "video/quicktime"
        default:
            let isFilm = self.filmBrands.contains(major) || self.filmBrandPrefixes.contains { major.hasPrefix($0) }
            return isFilm ? "video/mp4" : self.other
        }
    }

    private static let pictureBrands: Set = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "mif3", "msf1", "miaf", "avif", "avis", "avio",
        "jpeg", "jpgs", "j2ki", "jp2 ", "jpx ", "crx ", "vvic", "evbi",
    ]
    private static let filmBrands: Set = ["avc1", "av01", "hvc1", "dash", "mmp4", "MSNV", "M4V ", "M4VH", "M4VP", "F4V ", "ndsc", "XAVC"]
    private static let filmBrandPrefixes = ["iso", "mp4", "3gp", "3g2", "cmf"]

    /// Returns whether the first bytes of a file are those of a picture format that `ApusPictures`
    /// reads.
    static func isPicture(_ prefix: [UInt8]) -> Bool {
        prefix.starts(with: [0x89, 0x50, 0x4E, 0x47]) || prefix.starts(with: [0xFF, 0xD8, 0xFF]) || prefix.starts(with: Array("GIF8".utf8))
            || (prefix.starts(with: Array("RIFF".utf8)) && prefix.dropFirst(8).starts(with: Array("WEBP".utf8)))
    }

    /// Returns whether browsers may show files of this type instead of saving them.
    static func isShown(_ type: String) -> Bool { type.hasPrefix("image/") || type.hasPrefix("audio/") || type.hasPrefix("video/") }
}
