import NIOCore
import NIOPosix
import NIOSSL

/// A proxy that expects and sends exact bytes. It then acts as the server, with or without TLS, and
/// sends a greeting.
final class ScriptedProxy: Sendable {
    struct Step: Sendable {
        var expected: [UInt8]
        var answer: [UInt8]

        init(_ expected: [UInt8], _ answer: [UInt8]) {
            self.expected = expected
            self.answer = answer
        }

        init(_ expected: String, _ answer: String) { self.init(Array(expected.utf8), Array(answer.utf8)) }
    }

    let channel: any Channel
    var port: Int { self.channel.localAddress?.port ?? 0 }

    init(_ steps: [Step], tls: TLSConfiguration? = nil) async throws {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(steps, context) { try $0.addHandler(Greeter()) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await self.channel.close() }

    /// Acts as the proxy, then replaces itself with the server's handlers.
    final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private var steps: ArraySlice<Step>
        private let context: NIOSSLContext?
        private let addServer: (ChannelPipeline.SynchronousOperations) throws -> Void
        private var received: [UInt8] = []

        init(
            _ steps: [Step], _ context: NIOSSLContext?, then addServer: @escaping (ChannelPipeline.SynchronousOperations) throws -> Void
        ) {
            self.steps = steps[...]
            self.context = context
            self.addServer = addServer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.received += self.unwrapInboundIn(data).readableBytesView
            while let step = self.steps.first, self.received.count >= step.expected.count {
                guard self.received.starts(with: step.expected) else { return context.close(promise: nil) }
                self.received.removeFirst(step.expected.count)
                self.steps.removeFirst()
                context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: step.answer)), promise: nil)
            }
            guard self.steps.isEmpty else { return }
            do {
                if let tls = self.context { try context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                try self.addServer(context.pipeline.syncOperations)
            } catch {
                context.close(promise: nil)
            }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func handlerAdded(context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: TestServer.greeting)), promise: nil)
        }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
