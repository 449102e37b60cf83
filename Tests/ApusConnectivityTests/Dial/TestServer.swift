import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// A server on the loopback address that records the bytes it reads and sends each client a
/// greeting.
final class TestServer: Sendable {
    let channel: any Channel
    let received = NIOLockedValueBox("")
    let accepted = NIOLockedValueBox<[SocketAddress?]>([])
    static let greeting = "hello"

    var port: Int { self.channel.localAddress?.port ?? 0 }

    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let received: NIOLockedValueBox<String>
        init(_ received: NIOLockedValueBox<String>) { self.received = received }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: TestServer.greeting)), promise: nil)
            context.fireChannelActive()
        }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: self.unwrapInboundIn(data))
            self.received.withLockedValue { $0 += text }
        }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    init(tls: TLSConfiguration? = nil, address: SocketAddress? = nil, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton)
        async throws
    {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let (received, accepted) = (self.received, self.accepted)
        let bootstrap = ServerBootstrap(group: group).serverChannelOption(.socketOption(.so_reuseaddr), value: 1).childChannelInitializer {
            channel in
            accepted.withLockedValue { $0.append(channel.remoteAddress) }
            return channel.eventLoop.makeCompletedFuture {
                if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
                try channel.pipeline.syncOperations.addHandler(Recorder(received))
            }
        }
        self.channel = try await bootstrap.bind(to: address ?? SocketAddress(ipAddress: "127.0.0.1", port: 0)).get()
    }

    func close() async { try? await self.channel.close() }
}

/// Runs `body` with a server and closes it afterwards.
func withServer<Result>(
    tls: TLSConfiguration? = nil, address: SocketAddress? = nil, _ body: (TestServer) async throws -> Result
) async throws -> Result {
    let server = try await TestServer(tls: tls, address: address)
    do {
        let result = try await body(server)
        await server.close()
        return result
    } catch {
        await server.close()
        throw error
    }
}
