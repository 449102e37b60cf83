import ApusBytes
package import NIOCore
package import NIOHTTP1

/// What is asked of a server.
package struct HTTPExchangeRequest: Sendable {
    package var method: HTTPMethod
    /// Path and query, as they stand in the request line.
    package var target: String
    /// In order. `Host` replaces the origin's; the body's length and the codings are not the caller's to say.
    package var headers: HTTPHeaders
    package var body: ByteBuffer?

    /// Whether the answer may come compressed (gzip, deflate). Default: `true`.
    package var acceptsCompression = true

    /// Whether it does no harm when the server carries it out twice.
    ///
    /// Then it is sent once more when a connection that was used before ends without a byte of the answer. A request of any kind is sent once
    /// more when it is known that the server cannot have got it. Default: `false`; a poll takes messages out of the server's queue.
    package var isRepeatable = false

    package init(_ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], body: ByteBuffer? = nil) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The head that goes out.
    ///
    /// - Throws: `invalidSettings` for what could be read as a second request or another field (hazard 8).
    func head(for origin: HTTPOrigin) throws(ConnectivityError) -> HTTPRequestHead {
        guard self.target.utf8.first == UInt8(ascii: "/"), self.target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ConnectivityError(.invalidSettings, message: "the request's target holds what must be percent-encoded")
        }
        for (name, value) in self.headers {
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                throw ConnectivityError(.invalidSettings, message: "\(name.debugDescription) is no name of a field")
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw ConnectivityError(.invalidSettings, message: "the field \(name) holds a control character")
            }
            guard !["content-length", "transfer-encoding", "connection"].contains(where: name.equalsIgnoringASCIICase) else {
                throw ConnectivityError(.invalidSettings, message: "the field \(name) is set by the client itself")
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

    /// RFC 9110 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// What a server answered, whole.
package struct HTTPExchangeResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    /// Decompressed.
    package var body: ByteBuffer
}
