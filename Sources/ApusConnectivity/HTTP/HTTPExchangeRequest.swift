import ApusBytes
package import NIOCore
package import NIOHTTP1

/// An HTTP request with its complete body.
package struct HTTPExchangeRequest: Sendable {
    package var method: HTTPMethod
    /// The path and query, as written in the request line.
    package var target: String
    /// The header fields, in order. A `Host` field replaces the field that the origin determines.
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are not allowed.
    package var headers: HTTPHeaders
    package var body: ByteBuffer?

    /// Whether the response may be compressed (gzip, deflate). Default: `true`.
    package var acceptsCompression = true

    /// Whether the server may process the request twice without harm.
    ///
    /// If `true`, the request is repeated once when a reused connection ends without a byte of the
    /// response. Any request is repeated once when a reused connection ends before the head was
    /// sent. Default: `false`. A poll, for example, is not repeatable: it removes messages from the
    /// server's queue.
    package var isRepeatable = false

    /// Receives the body of a successful response in pieces, on the event loop. The maximum size of
    /// bodies does not apply to it, and the body of the ``HTTPExchangeResponse`` is empty. A
    /// compressed body is collected instead. Default: `nil`, all bodies are collected.
    ///
    /// No further piece is read before the call returns. If the closure throws an error, the
    /// request fails with `cancelled`, and the error is the `cause`.
    package var receiveBody: (@Sendable (ByteBuffer) throws -> Void)?

    package init(_ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], body: ByteBuffer? = nil) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Returns the head of the request to send.
    ///
    /// - Throws: `invalidConfiguration` for bytes that could be parsed as a second request or field
    ///   (docs/hazards.md, 8), and for a field that the client sets.
    func head(for origin: HTTPOrigin) throws(ConnectivityError) -> HTTPRequestHead {
        guard self.target.utf8.first == UInt8(ascii: "/"), self.target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ConnectivityError(.invalidConfiguration, message: "the target of the request must begin with / and be percent-encoded")
        }
        for (name, value) in self.headers {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                throw ConnectivityError(.invalidConfiguration, message: "\(name.debugDescription) is not a valid field name")
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw ConnectivityError(
                    .invalidConfiguration, message: "the value of the field \(name) must not contain a control character")
            }
            guard !["content-length", "transfer-encoding", "connection"].contains(where: name.equalsIgnoringASCIICase) else {
                throw ConnectivityError(.invalidConfiguration, message: "the field \(name) must not be set: the client sets it")
            }
        }
        var headers = self.headers
        if !headers.contains(name: "Host") { headers.add(name: "Host", value: origin.authority) }
        if self.acceptsCompression, !headers.contains(name: "Accept-Encoding") {
            headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        if let body = self.body { headers.add(name: "Content-Length", value: String(body.readableBytes)) }
        return HTTPRequestHead(version: .http1_1, method: self.method, uri: self.target, headers: headers)
    }

    /// Returns whether a byte may be part of a token (RFC 9110 section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// An HTTP response with its complete body.
package struct HTTPExchangeResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    /// The decompressed body; empty if ``HTTPExchangeRequest/receiveBody`` received it.
    package var body: ByteBuffer
}
