/// A picture format that browsers render and that this module reads.
package enum PictureFormat: String, Hashable, Sendable, CaseIterable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webP = "image/webp"

    /// The media type.
    package var mediaType: String { self.rawValue }
}

/// A file whose structure contradicts the format that its first bytes announce.
package struct DamagedPicture: Error, Hashable, CustomStringConvertible {
    /// The part that is missing or not valid.
    package let description: String
    init(_ description: String) { self.description = description }
}
