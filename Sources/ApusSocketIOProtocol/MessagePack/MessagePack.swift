import ApusJSON
package import NIOCore

/// Encodes and decodes Socket.IO values as MessagePack, in the dialect of the JavaScript library
/// notepack.
///
/// Source: the MessagePack specification, and notepack 2 and 3 where the specification is silent.
package enum MessagePack {
    /// Decodes a single value that occupies all bytes.
    ///
    /// Values that JSON lacks are converted as by `JSON.stringify` in JavaScript: NaN, the
    /// infinities and undefined become null, and a member that is undefined is omitted. Invalid
    /// UTF-8 in a string becomes U+FFFD.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``.
    package static func read(_ bytes: ByteBuffer, maximumDepth: Int = JSONReader.Limits.highestDepth) throws(SocketIOError) -> SocketIOValue
    {
        try self.reading(bytes, maximumDepth: maximumDepth) { reader throws(SocketIOError) in try reader.value() ?? .null }
    }

    /// Appends a value. After an error, the bytes appended so far remain.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` for a number that is not finite, or a value
    ///   nested too deeply for a reader.
    package static func write(_ value: SocketIOValue, into buffer: inout ByteBuffer) throws(SocketIOError) {
        try MessagePackWriter.write(value, into: &buffer, depth: 0)
    }

    /// Runs `body` on the bytes, and throws if it leaves bytes unread.
    static func reading<Result>(
        _ bytes: ByteBuffer, maximumDepth: Int, _ body: (inout MessagePackReader) throws(SocketIOError) -> Result
    ) throws(SocketIOError) -> Result {
        // NIO's closures do not rethrow typed errors, so the error is returned in a `Result`.
        let result = bytes.withUnsafeReadableBytes { pointer -> Swift.Result<Result, SocketIOError> in
            var reader = MessagePackReader(pointer, maximumDepth: maximumDepth)
            do throws(SocketIOError) {
                let result = try body(&reader)
                guard reader.remaining == 0 else { throw reader.malformed("the value is followed by \(reader.remaining) bytes") }
                return .success(result)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
