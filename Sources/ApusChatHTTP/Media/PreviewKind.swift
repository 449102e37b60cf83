import ApusBytes

/// A preview or a conversion that the server makes of a file.
package enum PreviewKind: String, Sendable, CaseIterable {
    /// A picture of at most 300 pixels on each side, of a picture or a film. It is not animated.
    case thumbnail
    /// A picture of at most 1,600 pixels on each side. The preview of an animation is animated,
    /// unless it exceeds the limits of the tool.
    case preview
    /// The thumbnail as a JPEG file, for apps that cannot read WebP.
    case plain
    /// A recording as AAC, for apps that cannot play its format.
    case voice

    /// Finds the kind that a client requests by `size`: its name, or the number of pixels that the
    /// client shows. Returns nil for other texts.
    init?(size text: String) {
        switch text {
        case Self.thumbnail.rawValue: self = .thumbnail
        case Self.preview.rawValue: self = .preview
        default:
            guard let pixels = Int(digits: text), (1...16_384).contains(pixels) else { return nil }
            // A picture that is enlarged by a third is still sharp enough.
            self = pixels <= 400 ? .thumbnail : .preview
        }
    }

    /// The maximum width and height of a picture.
    var side: Int { self == .preview ? 1_600 : 300 }

    /// Returns whether the kind exists for files of a media type.
    func applies(to type: String) -> Bool {
        switch self {
        case .thumbnail, .preview, .plain: type.hasPrefix("image/") || type.hasPrefix("video/")
        case .voice: type.hasPrefix("audio/") || type == "video/webm"
        }
    }

    /// Returns the media type of a file that a tool has written, by its first bytes; nil if it is
    /// unknown.
    static func type(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) { return "image/webp" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.dropFirst(4).starts(with: Array("ftyp".utf8)) { return "audio/mp4" }
        return nil
    }
}

/// The properties of a file that the tools have found. They replace the properties that the client
/// sent.
struct MediaFacts: Hashable, Sendable {
    /// The media type, if the tools determine it more precisely than the first bytes do.
    var type: String?
    /// The size of a film in pixels, as it is shown; 0 if unknown.
    var width: Int64 = 0
    var height: Int64 = 0
    /// The duration of a film or recording in milliseconds; 0 if unknown.
    var duration: Int64 = 0
    /// The BlurHash; empty for a file without a picture.
    var thumb = ""
}
