/// A picture format that browsers render and that this module can read.
package enum PictureFormat: String, Hashable, Sendable, CaseIterable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webP = "image/webp"

    package var mediaType: String { self.rawValue }
}

/// The error of a file whose structure contradicts the format that its first bytes indicate.
package struct DamagedPicture: Error, Hashable, CustomStringConvertible {
    /// The description of the part that is missing or not valid.
    package let description: String
    init(_ description: String) { self.description = description }
}
