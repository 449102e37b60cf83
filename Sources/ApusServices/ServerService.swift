public import ApusConnectivity
public import ApusFramedSocket
public import ApusSocketIOServer
public import ApusWebSocket
public import NIOCore
public import ServiceLifecycle

/// A server that runs in a `ServiceGroup`.
///
/// It listens until the group shuts down, then closes the connections as the server's `shutdown()`
/// does. `run()` throws the errors of the server's own `run`.
public struct ServerService: Service {
    private let body: @Sendable () async throws -> Void

    fileprivate init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    /// Serves until the group shuts down.
    public func run() async throws { try await cancelWhenGracefulShutdown(self.body) }
}

extension SocketIOServer {
    /// Returns the server as a service that listens on a host and port. See
    /// `run(host:port:tls:eventLoopGroup:onListening:)` for the parameters.
    public func service(
        host: String, port: Int, tls: TLSServerSettings? = nil, onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) -> ServerService {
        ServerService { try await self.run(host: host, port: port, tls: tls, onListening: onListening) }
    }
}

extension WebSocketServer {
    /// Returns the server as a service that listens on a host and port. See
    /// `run(host:port:tls:eventLoopGroup:onListening:)` for the parameters.
    public func service(
        host: String, port: Int, tls: TLSServerSettings? = nil, onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) -> ServerService {
        ServerService { try await self.run(host: host, port: port, tls: tls, onListening: onListening) }
    }
}

extension FramedServer {
    /// Returns the server as a service that listens on a host and port. See
    /// `run(host:port:tls:eventLoopGroup:onListening:)` for the parameters.
    public func service(
        host: String, port: Int, tls: TLSServerSettings? = nil, onListening: @escaping @Sendable (SocketAddress) -> Void = { _ in }
    ) -> ServerService {
        ServerService { try await self.run(host: host, port: port, tls: tls, onListening: onListening) }
    }
}
