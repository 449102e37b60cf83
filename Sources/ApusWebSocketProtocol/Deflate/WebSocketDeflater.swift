import CZlib
package import NIOCore

/// Compresses the outgoing messages of a connection.
///
/// Owns zlib's state (256 KiB with the defaults) and frees it. Confined to the connection's event
/// loop.
///
/// Source: RFC 7692 section 7.2.1.
package final class WebSocketDeflater {
    /// zlib's stream. It is allocated separately, because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a compressor.
    ///
    /// - Throws: ``WebSocketError/Code/compressionFailed`` if memory is exhausted.
    package init(_ agreement: WebSocketDeflateAgreement) throws(WebSocketError) {
        // zlib has no raw stream of 8 bits. A stream of 9 bits refers back at most 512 - 262 = 250
        // bytes (`MAX_DIST` in deflate.h), which fits the peer's window of 256 bytes.
        let bits = max(9, agreement.outgoingWindowBits)
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_deflateInit2(
            stream, CInt(clamping: agreement.compressionLevel), Z_DEFLATED, CInt(clamping: -bits), CInt(clamping: agreement.memoryLevel),
            Z_DEFAULT_STRATEGY)
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw WebSocketError(.compressionFailed, message: "zlib failed to initialize compression (\(result))")
        }
        self.stream = stream
    }

    deinit {
        deflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Compresses the next piece of a message and appends it to `output`, flushed so that the peer
    /// can decompress all of it.
    ///
    /// - Parameters:
    ///   - piece: The bytes. Only the last piece may be empty.
    ///   - isLast: Whether the message ends with this piece. Its last four bytes, 00 00 FF FF, are
    ///     then omitted.
    ///   - output: The payload of a frame. The caller writes the header.
    package func deflate(_ piece: ByteBuffer, isLast: Bool, into output: inout ByteBuffer) throws(WebSocketError) {
        guard piece.readableBytes > 0 else {
            // RFC 7692 section 7.2.3.6: an empty stored block without its tail. zlib would write
            // nothing, because it has nothing to flush.
            if isLast { output.writeInteger(UInt8(0)) }
            return
        }
        // Most texts shrink to a quarter. To grow the buffer costs less than to reserve zlib's
        // bound, the whole length.
        output.reserveCapacity(minimumWritableBytes: 64 + piece.readableBytes / 4)
        let result = piece.withUnsafeReadableBytes { self.run($0, into: &output) }
        guard result == Z_OK else {
            throw WebSocketError(.compressionFailed, message: "zlib failed to compress (\(result))")
        }
        if isLast {
            // "Remove 4 octets (that are 0x00 0x00 0xff 0xff) from the tail end."
            output.moveWriterIndex(to: output.writerIndex - 4)
        }
    }

    /// Resets the context, so that the next message refers to no earlier message. This is cheaper
    /// than a new deflater.
    package func reset() {
        deflateReset(self.stream)
    }

    private func run(_ input: UnsafeRawBufferPointer, into output: inout ByteBuffer) -> CInt {
        let stream = self.stream
        var offset = 0
        while offset < input.count {
            let piece = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(zlibStep))
            offset += piece.count
            let flush = offset == input.count ? Z_SYNC_FLUSH : Z_NO_FLUSH
            stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.bindMemory(to: Bytef.self).baseAddress)
            stream.pointee.avail_in = uInt(clamping: piece.count)
            repeat {
                var result = Z_OK
                // At least 6 bytes, or the end of the flush could be written twice (zlib.h,
                // `deflate`).
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: 64) { room in
                    let given = uInt(clamping: min(room.count, zlibStep))
                    stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
                    stream.pointee.avail_out = given
                    result = CZlib.deflate(stream, flush)
                    return Int(given - stream.pointee.avail_out)
                }
                guard result == Z_OK || result == Z_BUF_ERROR else { return result }
            } while stream.pointee.avail_out == 0
        }
        return Z_OK
    }
}

/// The maximum number of bytes per zlib call. zlib uses 32-bit counters.
let zlibStep = 1 << 30

@available(*, unavailable)
extension WebSocketDeflater: Sendable {}
