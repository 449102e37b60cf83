import Hummingbird
import NIOCore

extension ResponseBody {
    /// The most bytes of one piece.
    static let pieceBytes = 64 << 10

    /// Creates a body that is produced piece by piece, at the pace of the client.
    ///
    /// A client that does not read holds three pieces at most: those that fill the channel above
    /// its watermark, and one that waits.
    ///
    /// - Parameters:
    ///   - length: The bytes of all pieces together.
    ///   - channel: The connection.
    ///   - piece: Returns the piece at an offset. An empty piece closes the connection.
    static func paced(
        length: Int, on channel: any Channel, piece: @escaping @Sendable (_ offset: Int) async throws -> ByteBuffer
    ) -> ResponseBody {
        ResponseBody(contentLength: length) { writer in
            var offset = 0
            while offset < length {
                let bytes = try await piece(offset)
                guard bytes.readableBytes > 0 else { throw ChannelError.eof }
                offset += bytes.readableBytes
                try await writer.write(bytes)
                // The writer suspends while the channel is not writable, which it learns when the
                // event loop has carried out the write. Without this hop it accepts pieces as fast
                // as they are read from the disk.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
        }
    }

    /// Creates a body of shared bytes. Long ones are written in pieces, because TLS encrypts and
    /// copies whole writes.
    static func paced(_ bytes: ByteBuffer, on channel: any Channel) -> ResponseBody {
        let length = bytes.readableBytes
        guard length > Self.pieceBytes else { return ResponseBody(byteBuffer: bytes) }
        return .paced(length: length, on: channel) { offset in
            bytes.getSlice(at: bytes.readerIndex + offset, length: min(Self.pieceBytes, length - offset)) ?? ByteBuffer()
        }
    }
}
