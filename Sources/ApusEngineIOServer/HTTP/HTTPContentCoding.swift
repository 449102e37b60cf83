import ApusBytes
import CZlib
package import NIOCore

/// A content coding of an HTTP response. Source: RFC 9110 section 8.4.1.
package enum HTTPContentCoding: String {
    case gzip
    /// The zlib format of RFC 1950. RFC 9110 section 8.4.1.2 notes that some senders wrongly use
    /// raw DEFLATE.
    case deflate

    /// Creates the coding that a client prefers, or `nil` if it accepts no offered coding. Source:
    /// RFC 9110 section 12.5.3.
    ///
    /// - Parameters:
    ///   - accepted: The values of `Accept-Encoding`.
    ///   - offered: The codings that the server supports.
    package init?(accepted: [String], offered: Set<Self> = [.gzip, .deflate]) {
        var weights: [Self: Double] = [:]
        // `*` represents the codings that are not listed.
        var others: Double?
        for element in accepted.flatMap({ $0.split(atByte: ",") }) {
            var parts = element.split(atByte: ";").map { $0.trimmedOfBlanks.asciiLowercased }[...]
            let name = parts.popFirst()
            let weight = parts.first { $0.utf8.starts(with: "q=".utf8) }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch name {
            case "gzip", "x-gzip": weights[.gzip] = weight
            case "deflate": weights[.deflate] = weight
            case "*": others = weight
            default: continue
            }
        }
        let gzip = offered.contains(.gzip) ? weights[.gzip] ?? others ?? 0 : 0
        let deflate = offered.contains(.deflate) ? weights[.deflate] ?? others ?? 0 : 0
        guard max(gzip, deflate) > 0 else { return nil }
        self = gzip >= deflate ? .gzip : .deflate
    }

    /// Compresses a body. Returns `nil` if the result is not smaller, or if memory is exhausted.
    package func encode(_ body: ByteBuffer, level: Int) -> ByteBuffer? {
        guard let length = uInt(exactly: body.readableBytes) else { return nil }
        // The largest window is 15; adding 16 selects the gzip format.
        let windowBits: CInt = self == .gzip ? 31 : 15
        var output = ByteBufferAllocator().buffer(capacity: body.readableBytes)
        var stream = z_stream()
        // zlib keeps a pointer to the stream, which must stay valid for all calls.
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
                    // The output is limited to the input's size: a larger result would not be used.
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
