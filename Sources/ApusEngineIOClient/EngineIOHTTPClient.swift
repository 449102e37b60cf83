package import AsyncHTTPClient
import NIOCore
import NIOPosix

/// The HTTP client all polling sessions of the process share. It lives as long as the process.
package enum EngineIOHTTPClient {
    package static let shared: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        // When to try again is the reconnection policy's business, and a refused connection is news at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Every session keeps one request waiting at the server: a low bound would let sessions to one host starve each other.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
        // Shorter than Node's 5 seconds, else a POST may meet a connection that the server is just closing.
        configuration.connectionPool.idleTimeout = .seconds(3)
        return HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }()
}
