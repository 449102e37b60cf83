import Foundation
import NIOCore

/// A file of the page, embedded in the binary by `scripts/embed-page`.
struct EmbeddedFile: Sendable {
    enum Content: Sendable {
        case text(StaticString)
        /// The content in base64 (RFC 4648 section 4). Line breaks are ignored.
        case base64(StaticString)
    }

    /// The path relative to the page's folder, for example `css/base.css`.
    let path: String
    let content: Content

    /// The content, which is decoded and copied at each access.
    var bytes: ByteBuffer {
        switch self.content {
        case .text(let text): text.withUTF8Buffer { ByteBuffer(bytes: $0) }
        case .base64(let text):
            text.withUTF8Buffer { digits in
                ByteBuffer(bytes: Data(base64Encoded: Data(digits), options: .ignoreUnknownCharacters) ?? Data())
            }
        }
    }
}
