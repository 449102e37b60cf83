import ApusBytes
import CZlib
import NIOCore

/// A way of compressing the body of an HTTP answer. Source: RFC 9110 8.4.1.
enum HTTPContentCoding: String {
    case gzip
    /// zlib's format, RFC 1950; raw DEFLATE under that name was a mistake of some.
    case deflate

    /// The coding a client prefers; `nil` when it takes none of ours. Source: RFC 9110 12.5.3.
    ///
    /// - Parameter accepted: The values of `Accept-Encoding`.
    init?(accepted: [String]) {
        var best: (coding: Self, weight: Double)?
        for element in accepted.flatMap({ $0.split(atByte: ",") }) {
            var parts = element.split(atByte: ";").map { $0.trimmedOfBlanks.asciiLowercased }[...]
            let coding: Self
            switch parts.popFirst() {
            case "*", "gzip", "x-gzip": coding = .gzip
            case "deflate": coding = .deflate
            default: continue
            }
            let weight = parts.first { $0.utf8.starts(with: "q=".utf8) }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            guard weight > 0, weight > best?.weight ?? 0 || weight == best?.weight && coding == .gzip else { continue }
            best = (coding, weight)
        }
        guard let best else { return nil }
        self = best.coding
    }

    /// The body in this coding; `nil` when that makes it no smaller, or when there is no memory.
    func encode(_ body: ByteBuffer, level: Int) -> ByteBuffer? {
        guard let length = uInt(exactly: body.readableBytes) else { return nil }
        // 15: the largest window; 16 more ask for gzip's wrapping.
        let windowBits: CInt = self == .gzip ? 31 : 15
        var output = ByteBufferAllocator().buffer(capacity: body.readableBytes)
        var stream = z_stream()
        // zlib keeps the pointer: one closure around everything.
        let isDone = withUnsafeMutablePointer(to: &stream) { stream in
            guard CZlib_deflateInit2(stream, CInt(clamping: level), Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY) == Z_OK else {
                return false
            }
            defer { deflateEnd(stream) }
            var result = Z_OK
            body.withUnsafeReadableBytes { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
                stream.pointee.avail_in = length
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: body.readableBytes) { room in
                    // Not a byte more than the original has: what does not fit is not worth it.
                    stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
                    stream.pointee.avail_out = length
                    result = CZlib.deflate(stream, Z_FINISH)
                    return Int(length - stream.pointee.avail_out)
                }
            }
            return result == Z_STREAM_END
        }
        return isDone ? output : nil
    }
}
