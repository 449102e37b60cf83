package import NIOCore
import NIOPosix

/// Where a server listens.
package enum ListenerAddress: Sendable {
    /// A name or address, and a port; 0 lets the system choose.
    case host(String, port: Int)
    /// A Unix socket. One that is left from an earlier run is replaced.
    case unixDomainSocket(path: String)
}

/// Accepts connections for a server that stands on NIO alone.
package enum Listener {
    /// Listens until the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - group: Where the connections live.
    ///   - onListening: Called once with the address in use.
    ///   - configure: Fills the pipeline of an accepted connection, on its event loop. An error closes it.
    /// - Throws: The system's error when the address cannot be used. Cancellation throws nothing.
    package static func run(
        on address: ListenerAddress, _ group: any EventLoopGroup, onListening: (SocketAddress) -> Void,
        configure: @escaping @Sendable (any Channel) throws -> Void
    ) async throws {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler()) }
            }
            .childChannelInitializer { channel in
                // They have TCP_NODELAY from the listening socket, on which NIO sets it.
                channel.eventLoop.makeCompletedFuture { try configure(channel) }
            }
        let listener =
            switch address {
            case .host(let host, let port): try await bootstrap.bind(host: host, port: port).get()
            case .unixDomainSocket(let path): try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true).get()
            }
        if let address = listener.localAddress { onListening(address) }
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
    }
}
