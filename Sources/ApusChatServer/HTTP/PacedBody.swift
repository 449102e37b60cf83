import Hummingbird
import NIOCore

extension ResponseBody {
    /// The maximum size of one piece, in bytes.
    static let pieceBytes = 64 << 10

    /// Creates a body that is produced piece by piece, at the pace of the client.
    ///
    /// A client that does not read holds at most three pieces: those that fill the channel above
    /// its watermark, and one that waits.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes.
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
                // The writer suspends while the channel is not writable, which it learns after the
                // event loop has carried out the write. Without this hop, it would accept pieces as
                // fast as the disk delivers them.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
        }
    }

    /// Creates a body of shared bytes. A long body is written in pieces, because TLS encrypts and
    /// copies whole writes.
    static func paced(_ bytes: ByteBuffer, on channel: any Channel) -> ResponseBody {
        let length = bytes.readableBytes
        guard length > Self.pieceBytes else { return ResponseBody(byteBuffer: bytes) }
        return .paced(length: length, on: channel) { offset in
            bytes.getSlice(at: bytes.readerIndex + offset, length: min(Self.pieceBytes, length - offset)) ?? ByteBuffer()
        }
    }
}
