import ApusBytes
public import NIOCore

/// The body of a polling request or response.
public struct EngineIOPayload: Equatable, Sendable {
    /// The bytes of the body.
    public var bytes: ByteBuffer
    /// Whether the body has the binary form of version 3 (`application/octet-stream`).
    public var isBinary: Bool

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the body.
    ///   - isBinary: Whether the body has the binary form of version 3. Default: `false`.
    public init(bytes: ByteBuffer, isBinary: Bool = false) {
        self.bytes = bytes
        self.isBinary = isBinary
    }

    /// The value of `Content-Type`, which distinguishes text and binary.
    public var contentType: String { self.isBinary ? Self.binaryContentType : "text/plain; charset=UTF-8" }

    /// The server's version, derived from its first response. The open packet starts with `0{` in
    /// version 4, with its length in version 3.
    package var versionOfFirstAnswer: EngineIOVersion {
        self.isBinary || self.bytes.getInteger(at: self.bytes.readerIndex, as: UInt8.self) != UInt8(ascii: "0") ? .v3 : .v4
    }

    private static let binaryContentType = "application/octet-stream"

    /// Returns whether a body with this `Content-Type` is binary. Ignores parameters after a
    /// semicolon.
    public static func isBinary(contentType: String?) -> Bool {
        let type = contentType?.split(atByte: ";").first?.trimmedOfBlanks
        return type?.equalsIgnoringASCIICase(self.binaryContentType) ?? false
    }
}
