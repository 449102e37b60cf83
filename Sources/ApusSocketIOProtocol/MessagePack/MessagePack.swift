import ApusJSON
package import NIOCore

/// MessagePack over the values of Socket.IO, in the dialect of its JavaScript library, notepack.
///
/// Source: the MessagePack specification; notepack 2 and 3 for what the specification leaves open.
package enum MessagePack {
    /// Reads one value that takes all bytes.
    ///
    /// What a JSON value cannot hold becomes what JavaScript's JSON makes of it: NaN and the infinities null, undefined null (and
    /// in an object no member). Bytes in a string that are not UTF-8 become U+FFFD.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``.
    package static func read(_ bytes: ByteBuffer, maximumDepth: Int = JSONReader.Limits.highestDepth) throws(SocketIOError) -> SocketIOValue
    {
        try self.reading(bytes, maximumDepth: maximumDepth) { reader throws(SocketIOError) in try reader.value() ?? .null }
    }

    /// Appends a value. After an error the bytes appended so far remain.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for a number that is not finite and for what is nested too deep: no reader would take it.
    package static func write(_ value: SocketIOValue, into buffer: inout ByteBuffer) throws(SocketIOError) {
        try MessagePackWriter.write(value, into: &buffer, depth: 0)
    }

    /// Runs `body` over the bytes and sees that it took them all.
    static func reading<Result>(
        _ bytes: ByteBuffer, maximumDepth: Int, _ body: (inout MessagePackReader) throws(SocketIOError) -> Result
    ) throws(SocketIOError) -> Result {
        // The closures of NIO do not pass typed errors on; a `Result` goes through them.
        let result = bytes.withUnsafeReadableBytes { pointer -> Swift.Result<Result, SocketIOError> in
            var reader = MessagePackReader(pointer, maximumDepth: maximumDepth)
            do throws(SocketIOError) {
                let result = try body(&reader)
                guard reader.remaining == 0 else { throw reader.malformed("\(reader.remaining) bytes after the value") }
                return .success(result)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
