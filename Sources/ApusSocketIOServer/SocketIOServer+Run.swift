public import ApusConnectivity
import ApusEngineIOServer
public import NIOCore
public import NIOPosix
package import NIOSSL

extension SocketIOServer {
    /// Listens without a web framework until the task is cancelled. HTTP requests for another path
    /// are answered with 404.
    ///
    /// - Parameters:
    ///   - host: The address to listen on, for example `127.0.0.1`.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The certificate and the settings of TLS; `nil` (the default) listens without TLS.
    ///   - eventLoopGroup: The event loops for the connections. Default: the process-wide group,
    ///     one loop per core.
    ///   - onListening: The closure to call once with the bound address.
    /// - Throws: The system's error when the address cannot be bound, `EngineIOError` with
    ///   `invalidConfiguration` for inconsistent settings, `ConnectivityError` for invalid TLS
    ///   settings. Cancellation shuts the server down as ``shutdown()`` does, without an error.
    public func run(
        host: String, port: Int, tls: TLSServerSettings? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        defer { self.leaveCluster() }
        try await self.engine.serve(on: .host(host, port: port), tls: tls, eventLoopGroup, onListening: onListening)
    }

    /// Adds the handlers of an accepted connection, for an external listener.
    package func configure(_ channel: any Channel, tls: NIOSSLContext?) throws { try self.engine.configure(channel, tls: tls) }
}
