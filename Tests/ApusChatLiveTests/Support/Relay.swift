import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A TCP relay whose address remains while its server restarts on another port or loses its
/// connections.
final class Relay: Sendable {
    private struct State {
        var target: Int?
        var isSilent = false
        var clients: [ObjectIdentifier: any Channel] = [:]
    }

    private struct Refused: Error {}

    private let state = NIOLockedValueBox(State())
    private let listener: any Channel

    var url: String { "http://127.0.0.1:\(self.listener.localAddress?.port ?? 0)" }

    init(to port: Int) async throws {
        let state = self.state
        state.withLockedValue { $0.target = port }
        self.listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { client in
                guard let target = state.withLockedValue({ $0.target }) else { return client.eventLoop.makeFailedFuture(Refused()) }
                return ClientBootstrap(group: client.eventLoop)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        state.withLockedValue { $0.clients[ObjectIdentifier(client)] = client }
                        client.closeFuture.whenComplete { _ in
                            _ = state.withLockedValue { $0.clients.removeValue(forKey: ObjectIdentifier(client)) }
                        }
                        try client.pipeline.syncOperations.addHandler(Forwarder(to: server) { true })
                        try server.pipeline.syncOperations.addHandler(Forwarder(to: client) { !state.withLockedValue { $0.isSilent } })
                        // A close before the handler was added is not reported to it.
                        guard server.isActive else { throw Refused() }
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Closes new connections immediately until ``lead(to:)`` is called.
    func refuse() { self.state.withLockedValue { $0.target = nil } }

    /// Relays new connections to a port of this machine.
    func lead(to port: Int) { self.state.withLockedValue { $0.target = port } }

    /// Drops all bytes of the server until ``cut()`` is called.
    func silence() { self.state.withLockedValue { $0.isSilent = true } }

    /// Closes all connections.
    func cut() async {
        let clients = self.state.withLockedValue { Array($0.clients.values) }
        for client in clients { try? await client.close() }
        self.state.withLockedValue { $0.isSilent = false }
    }

    func close() async {
        try? await self.listener.close()
        await self.cut()
    }
}

private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let peer: any Channel
    private let passes: @Sendable () -> Bool

    init(to peer: any Channel, passes: @escaping @Sendable () -> Bool) {
        self.peer = peer
        self.passes = passes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.passes() { self.peer.writeAndFlush(self.unwrapInboundIn(data), promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.peer.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
