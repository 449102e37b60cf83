package import NIOCore
import NIOPosix

/// The address on which a server listens.
package enum ListenerAddress: Sendable {
    /// A name or address, and a port. Port 0 lets the system choose the port.
    case host(String, port: Int)
    /// A Unix socket. An existing socket file is replaced.
    case unixDomainSocket(path: String)
}

/// Accepts connections for a server that uses NIO without a server framework.
package enum Listener {
    /// Listens until the task is cancelled.
    ///
    /// - Parameters:
    ///   - address: The address on which to listen.
    ///   - group: The event loops of the connections.
    ///   - onListening: Called once with the address in use.
    ///   - configure: Adds handlers to the pipeline of an accepted connection, on its event loop.
    ///     An error closes the connection.
    /// - Throws: The system's error if the address cannot be bound. Does not throw when cancelled.
    package static func run(
        on address: ListenerAddress, _ group: any EventLoopGroup, onListening: (SocketAddress) -> Void,
        configure: @escaping @Sendable (any Channel) throws -> Void
    ) async throws {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler()) }
            }
            .childChannelInitializer { channel in
                // Accepted sockets inherit TCP_NODELAY from the listening socket, where NIO sets
                // it.
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
