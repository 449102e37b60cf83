import CZlib
import NIOCore

/// Compresses a stream of bytes to raw DEFLATE data (RFC 1951) piece by piece.
///
/// Owns zlib's state (256 KiB) and frees it.
final class RawDeflater {
    /// Allocated separately, because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The maximum number of bytes passed to zlib in one call. The counters of zlib have 32 bits.
    private static let step = 1 << 20

    /// - Parameter level: The compression level, from 0 to 9. Level 0 stores the bytes without
    ///   compression; level 9 produces the smallest output.
    init(level: Int) throws(ArchiveError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_deflateInit2(stream, CInt(clamping: level), Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY)
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw ArchiveError(.compressionFailed, message: "zlib cannot initialize the compression (error \(result))")
        }
        self.stream = stream
    }

    deinit {
        deflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Begins a new stream with the same compression level.
    func reset() { deflateReset(self.stream) }

    /// Compresses a piece and appends the output of zlib to `output`.
    ///
    /// - Parameter isLast: Whether the piece is the last one of the stream. A piece may be empty.
    func deflate(_ piece: ByteBuffer, isLast: Bool, into output: inout ByteBuffer) throws(ArchiveError) {
        let result = piece.withUnsafeReadableBytes { self.run($0, isLast: isLast, into: &output) }
        guard result == Z_OK || result == Z_STREAM_END else {
            throw ArchiveError(.compressionFailed, message: "zlib cannot compress the data (error \(result))")
        }
    }

    private func run(_ input: UnsafeRawBufferPointer, isLast: Bool, into output: inout ByteBuffer) -> CInt {
        let stream = self.stream
        var offset = 0
        repeat {
            let piece = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(Self.step))
            offset += piece.count
            let flush = isLast && offset == input.count ? Z_FINISH : Z_NO_FLUSH
            stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.bindMemory(to: Bytef.self).baseAddress)
            stream.pointee.avail_in = uInt(clamping: piece.count)
            repeat {
                var result = Z_OK
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: 4_096) { room in
                    let given = uInt(clamping: min(room.count, Self.step))
                    stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
                    stream.pointee.avail_out = given
                    result = CZlib.deflate(stream, flush)
                    return Int(given - stream.pointee.avail_out)
                }
                if result == Z_STREAM_END { return result }
                // Z_BUF_ERROR is not a failure: zlib had no input to read and no output to write.
                guard result == Z_OK || result == Z_BUF_ERROR else { return result }
            } while stream.pointee.avail_out == 0
        } while offset < input.count
        return Z_OK
    }
}

@available(*, unavailable)
extension RawDeflater: Sendable {}

/// Updates a CRC-32 with further bytes.
///
/// - Parameters:
///   - checksum: The CRC-32 of the preceding bytes.
///   - piece: The further bytes.
func crc32(_ checksum: UInt32, continuedWith piece: ByteBuffer) -> UInt32 {
    piece.withUnsafeReadableBytes { bytes in
        var checksum = uLong(checksum)
        var offset = 0
        while offset < bytes.count {
            let step = UnsafeRawBufferPointer(rebasing: bytes[offset...].prefix(1 << 20))
            checksum = CZlib.crc32(checksum, step.bindMemory(to: Bytef.self).baseAddress, uInt(clamping: step.count))
            offset += step.count
        }
        return UInt32(truncatingIfNeeded: checksum)
    }
}
