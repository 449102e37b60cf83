import ApusBytes
package import ApusS3
import NIOCore

/// The body of a request to an object store.
package enum S3Body: Sendable {
    case none
    case bytes([UInt8])
    case stream(BlobBytes, size: Int64)
}

/// The response of an object store.
package struct S3Answer: Sendable {
    package var status: Int
    /// The fields, with lower-case names.
    package var headers: [String: String]
    package var body: BlobBytes

    package init(status: Int, headers: [String: String] = [:], body: BlobBytes) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    var size: Int64? { self.headers["content-length"].flatMap { Int64(digits: $0) } }
}

/// Sends signed requests. Tests use another implementation.
package protocol S3Transport: Sendable {
    func send(_ request: S3Request.Signed, body: S3Body) async throws -> S3Answer

    func close() async
}
