import ApusEngineIOServer
import Crypto
import Foundation
import NIOCore

/// A file of the page with its HTTP metadata.
struct PageFile: Sendable {
    /// The media type, which the extension of the name determines.
    let type: String
    /// The hash of the content in hexadecimal, which is the entity tag without quotes.
    let hash: String
    let bytes: ByteBuffer
    /// The content in the coding `gzip`; nil for a file that is not text or does not become
    /// smaller.
    let compressed: ByteBuffer?

    /// - Returns: Nil for a file whose extension is not served.
    init?(name: String, bytes: ByteBuffer) {
        guard let type = Self.type(of: name) else { return nil }
        self.type = type
        self.hash = String(SHA256.hash(data: Data(bytes.readableBytesView)).description.suffix(64).prefix(32))
        self.bytes = bytes
        self.compressed = Self.isText(type) ? HTTPContentCoding.gzip.encode(bytes, level: 9) : nil
    }

    private static func isText(_ type: String) -> Bool {
        type.hasPrefix("text/") || type.hasPrefix("application/") || type == "image/svg+xml"
    }

    /// Returns the media type of a file name; nil if its extension is not served.
    static func type(of name: String) -> String? { self.types[(name as NSString).pathExtension.lowercased()] }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "json": "application/json; charset=utf-8", "map": "application/json; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "ico": "image/x-icon", "woff2": "font/woff2", "webmanifest": "application/manifest+json", "txt": "text/plain; charset=utf-8",
    ]
}
