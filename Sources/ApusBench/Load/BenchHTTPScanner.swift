import NIOCore

/// Parses the status and the body of responses on one keep-alive connection, by `Content-Length`.
///
/// Used by the load generator only; the clients use swift-nio's parser.
struct BenchHTTPScanner {
    struct Response: Equatable {
        var status: Int
        var body: ByteBuffer
    }

    private static let maximumBytes = 8 << 20
    private var bytes = ByteBuffer()

    mutating func receivedBytes(_ more: ByteBuffer) {
        var more = more
        if self.bytes.readableBytes == 0 { self.bytes = more } else { self.bytes.writeBuffer(&more) }
    }

    /// Removes and returns the next response; `nil` if no response is complete.
    /// - Throws: ``BenchError`` if the response is malformed or has no `Content-Length`, or if more
    ///   than 8 MiB are buffered.
    mutating func next() throws(BenchError) -> Response? {
        let view = self.bytes.readableBytesView
        guard self.bytes.readableBytes <= Self.maximumBytes else { throw BenchError("a response exceeds \(Self.maximumBytes) bytes") }
        guard let end = Self.endOfHead(view) else { return nil }
        let lines = String(decoding: view[view.startIndex..<end], as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3)) else {
            throw BenchError("the server did not answer with HTTP/1.1")
        }
        var length: Int?
        for line in lines.dropFirst() {
            let field = line.split(separator: ":", maxSplits: 1)
            guard field.count == 2, field[0].lowercased() == "content-length" else { continue }
            length = Int(field[1].trimmingPrefix(while: { $0 == " " }))
        }
        guard let length, length >= 0 else {
            throw BenchError("the server sent a response without a valid Content-Length, which apus bench requires")
        }
        guard view.endIndex - end >= length else { return nil }
        self.bytes.moveReaderIndex(forwardBy: end - view.startIndex)
        let body = self.bytes.readSlice(length: length) ?? ByteBuffer()
        return Response(status: status, body: body)
    }

    private static func endOfHead(_ view: ByteBufferView) -> Int? {
        view.withUnsafeBytes { bytes in
            guard bytes.count >= 4 else { return nil }
            for index in 3..<bytes.count
            where bytes[index] == 10 && bytes[index - 1] == 13 && bytes[index - 2] == 10 && bytes[index - 3] == 13 {
                return view.startIndex + index + 1
            }
            return nil
        }
    }
}
