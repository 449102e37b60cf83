import ApusBytes
import CZlib
import NIOCore

/// Decompresses the body of an answer as it comes, counting what comes out (hazard 4).
///
/// Owns zlib's state (40 KiB), which is freed with it.
///
/// Source: RFC 9110 8.4.1: `gzip` (RFC 1952, one member) and `deflate` (RFC 1950; some servers send RFC 1951 bare, which is taken too).
final class HTTPBodyInflater {
    enum Coding: Equatable {
        case gzip, deflate

        /// The coding of a `Content-Encoding`; `nil` for one we did not ask for.
        init?(_ name: some StringProtocol) {
            switch name.asciiLowercased {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            default: return nil
            }
        }
    }

    /// What goes through zlib at once; its counters have 32 bits (hazard 13).
    private static let step = 1 << 20

    private let coding: Coding
    /// zlib keeps a pointer to it, so it needs a place of its own. `nil` until the first byte says what is inside.
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

    /// Decompresses the next piece to the end of `output`.
    ///
    /// - Throws: `responseTooLarge` for the first byte above `maximumBytes`; `httpProtocol` for what is not compressed as it says.
    func inflate(_ piece: ByteBuffer, into output: inout ByteBuffer, maximumBytes: Int) throws(ConnectivityError) {
        guard let first = piece.readableBytesView.first else { return }
        let stream = try self.start(first)
        let failure = piece.withUnsafeReadableBytes { self.run($0, stream, into: &output, maximumBytes: maximumBytes) }
        if let failure { throw failure }
    }

    /// The body is over.
    ///
    /// - Throws: `httpProtocol` when the compressed data is not.
    func finish() throws(ConnectivityError) {
        // An empty body is an empty body, whatever its coding.
        guard self.hasEnded || self.stream == nil else {
            throw ConnectivityError(.httpProtocol, message: "the compressed answer was cut short")
        }
    }

    private func start(_ first: UInt8) throws(ConnectivityError) -> UnsafeMutablePointer<z_stream> {
        if let stream = self.stream { return stream }
        let windowBits: CInt =
            switch self.coding {
            case .gzip: 15 + 16
            case .deflate: first & 0x0F == 8 ? 15 : -15  // RFC 1950 2.2: the method of a zlib header is 8
            }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_inflateInit2(stream, windowBits)
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw ConnectivityError(.httpProtocol, message: "zlib cannot start to decompress (\(result))")
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
                return ConnectivityError(.httpProtocol, message: "junk after the end of the compressed answer")
            }
            let step = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(Self.step))
            stream.pointee.next_in = UnsafeMutablePointer(mutating: step.bindMemory(to: Bytef.self).baseAddress)
            stream.pointee.avail_in = uInt(clamping: step.count)
            // One byte more than allowed shows that there is more.
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
                return ConnectivityError(.responseTooLarge, message: "the answer inflates to more than the \(maximumBytes) bytes allowed")
            }
            offset += step.count - Int(stream.pointee.avail_in)
            switch result {
            case Z_OK: hasMore = stream.pointee.avail_out == 0
            case Z_STREAM_END:
                self.hasEnded = true
                hasMore = false
            case Z_BUF_ERROR where offset == input.count: hasMore = false  // there was nothing more to write
            default: return ConnectivityError(.httpProtocol, message: "the answer is not compressed as it says (\(result))")
            }
        }
        return nil
    }
}

@available(*, unavailable)
extension HTTPBodyInflater: Sendable {}
