import ApusBytes
package import NIOCore

/// The body of a polling request or answer.
package struct EngineIOPayload: Equatable, Sendable {
    /// The body itself.
    package var bytes: ByteBuffer
    /// Whether it is of the binary form that only version 3 has: `application/octet-stream` instead of text.
    package var isBinary: Bool

    package init(bytes: ByteBuffer, isBinary: Bool = false) {
        self.bytes = bytes
        self.isBinary = isBinary
    }

    /// The value of `Content-Type` that tells the two forms apart.
    package var contentType: String { self.isBinary ? Self.binaryContentType : "text/plain; charset=UTF-8" }

    /// The version whose server sent this, judged by its first answer: in version 4 the open packet stands bare, `0{…`, in version 3 behind its
    /// length.
    package var versionOfFirstAnswer: EngineIOVersion {
        self.isBinary || self.bytes.getInteger(at: self.bytes.readerIndex, as: UInt8.self) != UInt8(ascii: "0") ? .v3 : .v4
    }

    private static let binaryContentType = "application/octet-stream"

    /// Whether a body with this `Content-Type` is of the binary form. Parameters after a semicolon do not matter.
    package static func isBinary(contentType: String?) -> Bool {
        let type = contentType?.split(atByte: ";").first?.trimmedOfBlanks
        return type?.equalsIgnoringASCIICase(self.binaryContentType) ?? false
    }
}
