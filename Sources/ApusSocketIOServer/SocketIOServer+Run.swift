import ApusEngineIOServer
public import NIOCore
public import NIOPosix
public import NIOSSL

extension SocketIOServer {
    /// Listens on its own, without a web framework, until the task is cancelled. Requests outside the path get 404.
    ///
    /// - Parameters:
    ///   - host: The address to listen on, for example `127.0.0.1`.
    ///   - port: The port; 0 lets the system choose.
    ///   - tls: The TLS context; `nil` (the default) listens in the clear.
    ///   - eventLoopGroup: Where the connections live. Default: the process-wide group, one loop a core.
    ///   - onListening: Called once with the address in use.
    /// - Throws: The system's error when the address cannot be used, `EngineIOError` with `invalidConfiguration` for settings that contradict
    ///   themselves. Cancellation ends the server as ``shutdown()`` does and throws nothing.
    public func run(
        host: String, port: Int, tls: NIOSSLContext? = nil, eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        onListening: @Sendable (SocketAddress) -> Void = { _ in }
    ) async throws {
        defer { self.leaveCluster() }
        try await self.engine.listen(host: host, port: port, tls: tls, on: eventLoopGroup, onListening: onListening)
    }
}
