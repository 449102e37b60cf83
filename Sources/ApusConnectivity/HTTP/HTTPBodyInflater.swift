import ApusBytes
import CZlib
import NIOCore

/// Decompresses the body of a response piece by piece and limits the decompressed size
/// (docs/hazards.md, 4).
///
/// Owns zlib's state (40 KiB).
///
/// Source: RFC 9110 section 8.4.1: `gzip` (RFC 1952, one member) and `deflate` (RFC 1950). Also
/// accepts raw RFC 1951 data for `deflate`, which some servers send.
final class HTTPBodyInflater {
    enum Coding: Equatable {
        case gzip, deflate

        /// Creates the coding named in a `Content-Encoding` field; `nil` if the client does not
        /// offer it.
        init?(_ name: some StringProtocol) {
            switch name.asciiLowercased {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            default: return nil
            }
        }
    }

    /// The maximum number of bytes passed to zlib in one call. The counters of zlib have 32 bits
    /// (docs/hazards.md, 13).
    private static let step = 1 << 20

    private let coding: Coding
    /// The zlib stream, allocated because zlib keeps a pointer to it. `nil` until the first byte
    /// arrives, which distinguishes RFC 1950 from RFC 1951.
    private var stream: UnsafeMutablePointer<z_stream>?
    private var hasEnded = false

    init(_ coding: Coding) {
        self.coding = coding
    }

    deinit {
        guard let stream = self.stream else { return }
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Decompresses the next piece and appends it to `output`.
    ///
    /// - Throws: `responseTooLarge` if `output` exceeds `maximumBytes`; `httpProtocol` if the data
    ///   is not compressed as declared.
    func inflate(_ piece: ByteBuffer, into output: inout ByteBuffer, maximumBytes: Int) throws(ConnectivityError) {
        guard let first = piece.readableBytesView.first else { return }
        let stream = try self.start(first)
        let failure = piece.withUnsafeReadableBytes { self.run($0, stream, into: &output, maximumBytes: maximumBytes) }
        if let failure { throw failure }
    }

    /// Checks that the compressed data is complete.
    ///
    /// - Throws: `httpProtocol` if the compressed data is incomplete.
    func finish() throws(ConnectivityError) {
        // An empty body is valid in every coding.
        guard self.hasEnded || self.stream == nil else {
            throw ConnectivityError(.httpProtocol, message: "the compressed response is truncated")
        }
    }

    private func start(_ first: UInt8) throws(ConnectivityError) -> UnsafeMutablePointer<z_stream> {
        if let stream = self.stream { return stream }
        let windowBits: CInt =
            switch self.coding {
            case .gzip: 15 + 16
            case .deflate: first & 0x0F == 8 ? 15 : -15  // RFC 1950 section 2.2: the method of a zlib header is 8
            }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_inflateInit2(stream, windowBits)
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw ConnectivityError(.httpProtocol, message: "zlib could not be initialized (zlib error \(result))")
        }
        self.stream = stream
        return stream
    }

    private func run(
        _ input: UnsafeRawBufferPointer, _ stream: UnsafeMutablePointer<z_stream>, into output: inout ByteBuffer, maximumBytes: Int
    ) -> ConnectivityError? {
        var offset = 0
        var hasMore = true
        while offset < input.count || hasMore {
            guard !self.hasEnded else {
                return ConnectivityError(.httpProtocol, message: "the response has bytes after the end of the compressed data")
            }
            let step = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(Self.step))
            stream.pointee.next_in = UnsafeMutablePointer(mutating: step.bindMemory(to: Bytef.self).baseAddress)
            stream.pointee.avail_in = uInt(clamping: step.count)
            // One byte beyond the limit shows that the output is too large.
            let allowed = maximumBytes - output.readableBytes + 1
            var result = Z_OK
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: min(allowed, max(256, min(step.count, 1 << 14) * 4))) { room in
                let given = uInt(clamping: min(room.count, allowed, Self.step))
                stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
                stream.pointee.avail_out = given
                result = CZlib.inflate(stream, Z_NO_FLUSH)
                return Int(given - stream.pointee.avail_out)
            }
            guard output.readableBytes <= maximumBytes else {
                return ConnectivityError(
                    .responseTooLarge, message: "the decompressed response exceeds the maximum of \(maximumBytes) bytes")
            }
            offset += step.count - Int(stream.pointee.avail_in)
            switch result {
            case Z_OK: hasMore = stream.pointee.avail_out == 0
            case Z_STREAM_END:
                self.hasEnded = true
                hasMore = false
            case Z_BUF_ERROR where offset == input.count: hasMore = false  // zlib has no more output
            default:
                return ConnectivityError(
                    .httpProtocol, message: "the response is not compressed as its Content-Encoding declares (zlib error \(result))")
            }
        }
        return nil
    }
}

@available(*, unavailable)
extension HTTPBodyInflater: Sendable {}
