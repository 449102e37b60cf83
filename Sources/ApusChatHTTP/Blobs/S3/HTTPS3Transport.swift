package import ApusConnectivity
package import ApusS3
import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Sends the requests of an S3 client over HTTP/1.1.
package final class HTTPS3Transport: S3Transport {
    /// The maximum time until the head of a response. It includes the upload of a part.
    private static let timeout = TimeAmount.seconds(300)
    /// The maximum time without progress on a connection.
    private static let idleTimeout = TimeAmount.seconds(30)
    private static let connectTimeout = TimeAmount.seconds(5)
    /// The maximum number of connections. Each running download has one.
    private static let connections = 1_200

    private struct State {
        var client: HTTPClient?
        var isClosed = false
    }
    private let state = NIOLockedValueBox(State())

    private let tls: TLSSettings

    /// - Parameter tls: The verification of the store's certificate. Pins are not supported.
    package init(tls: TLSSettings = .system) { self.tls = tls }

    private func client() throws -> HTTPClient {
        try self.state.withLockedValue { state in
            guard !state.isClosed else { throw S3Error(.unreachable, message: "the connections to the object store are closed") }
            if let client = state.client { return client }
            var configuration = HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: .init(connect: Self.connectTimeout, read: Self.idleTimeout, write: Self.idleTimeout))
            configuration.tlsConfiguration = try self.tls.makeConfiguration()
            configuration.httpVersion = .http1Only
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.connections
            // Requests are repeated by `S3Client`.
            configuration.connectionPool.retryConnectionEstablishment = false
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            state.client = client
            return client
        }
    }

    package func send(_ request: S3Request.Signed, body: S3Body) async throws -> S3Answer {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers { outgoing.headers.add(name: field.name, value: field.value) }
        switch body {
        case .none: break
        case .bytes(let bytes): outgoing.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let bytes, let size): outgoing.body = .stream(bytes, length: .known(size))
        }
        let response = try await self.client().execute(outgoing, timeout: Self.timeout)
        var headers: [String: String] = [:]
        for (name, value) in response.headers where headers[name.lowercased()] == nil { headers[name.lowercased()] = value }
        let content = response.body
        return S3Answer(
            status: Int(response.status.code), headers: headers,
            body: BlobBytes {
                var iterator = content.makeAsyncIterator()
                return { try await iterator.next() }
            })
    }

    package func close() async {
        let client = self.state.withLockedValue { state in
            state.isClosed = true
            return state.client
        }
        try? await client?.shutdown()
    }
}
