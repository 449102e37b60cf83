import ApusSeededRandom
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A TCP proxy on the loopback interface that delays, splits, corrupts or drops bytes.
///
/// The proxy forwards every connection to one server. Each direction has its own fault. The random
/// values derive from `seed`, so that a run is reproducible. The proxy buffers at most one read per
/// direction, which applies back-pressure to a fast sender.
package final class FaultProxy: Sendable {
    /// The fault of one direction.
    package enum Fault: Hashable, Sendable {
        case none
        /// Delays every read.
        case delay(Duration)
        /// Limits the number of bytes per second.
        case rate(bytesPerSecond: Int)
        /// Splits the data into pieces of this number of bytes, each sent in a separate write.
        case chop(Int)
        /// Forwards nothing after this number of bytes, and keeps the connection open.
        case stall(after: Int)
        /// Resets both sides after this number of bytes.
        case reset(after: Int)
        /// Closes this direction after this number of bytes; the other direction stays open.
        case halfClose(after: Int)
        /// Inverts one bit in the byte at this offset.
        case flip(at: Int)
        /// Inverts one bit about every `every` bytes after the offset `after`, at most `atMost`
        /// times.
        case corrupt(every: Int, after: Int, atMost: Int)
    }

    private let listener: any Channel
    private let counter: NIOLockedValueBox<Int>
    /// The port to which clients connect.
    package let port: Int
    /// The number of bytes that the proxy has read from its clients. Bytes after a fault that ends
    /// the direction are not counted.
    package var bytesToServer: Int { self.counter.withLockedValue { $0 } }

    private init(_ listener: any Channel, _ counter: NIOLockedValueBox<Int>) {
        self.listener = listener
        self.counter = counter
        self.port = listener.localAddress?.port ?? 0
    }

    /// Runs a proxy to a port of the loopback interface and passes the proxy to `body`. Closes its
    /// connections when `body` returns.
    package static func withProxy<Result>(
        to port: Int, toServer: Fault = .none, toClient: Fault = .none, seed: UInt64 = 1,
        isolation: isolated (any Actor)? = #isolation, _ body: (FaultProxy) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let counter = NIOLockedValueBox(0)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: false)
            // One read at a time, so that a read with a shorter delay does not overtake another.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .channelOption(.socketOption(.tcp_nodelay), value: 1)
                    .channelOption(.autoRead, value: false)
                    .channelOption(.maxMessagesPerRead, value: 1)
                    .connect(host: "127.0.0.1", port: port)
                    .flatMapThrowing { server in
                        let generator = SplitMix64(state: seed)
                        try client.pipeline.syncOperations.addHandler(FaultHandler(toServer, to: server, using: generator, counter))
                        try server.pipeline.syncOperations.addHandler(FaultHandler(toClient, to: client, using: generator, nil))
                        server.read()
                    }
            }
        do {
            let proxy = FaultProxy(try await bootstrap.bind(host: "127.0.0.1", port: 0).get(), counter)
            let result = try await body(proxy)
            try? await proxy.listener.close()
            try await group.shutdownGracefully()
            return result
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }
}

/// One direction of a connection. Writes the bytes that it reads to the partner channel.
private final class FaultHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let fault: FaultProxy.Fault
    private let partner: any Channel
    private var generator: SplitMix64
    private let counter: NIOLockedValueBox<Int>?
    private var count = 0
    private var flips = 0
    private var nextFlip: Int?
    private var hasEnded = false

    init(_ fault: FaultProxy.Fault, to partner: any Channel, using generator: SplitMix64, _ counter: NIOLockedValueBox<Int>?) {
        self.counter = counter
        self.fault = fault
        self.partner = partner
        self.generator = generator
        switch fault {
        case .flip(let offset): self.nextFlip = offset
        case .corrupt(let every, let after, _): self.nextFlip = after + Int.random(in: 0..<max(1, 2 * every), using: &self.generator)
        default: break
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasEnded else { return }
        var bytes = self.unwrapInboundIn(data)
        let length = bytes.readableBytes
        defer { self.count += length }
        self.counter?.withLockedValue { $0 += length }
        let context = context
        switch self.fault {
        case .none: self.pass([bytes], context)
        case .chop(let size):
            var pieces: [ByteBuffer] = []
            while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 { pieces.append(piece) }
            self.pass(pieces, context)
        case .delay(let time): self.pass([bytes], context, after: TimeAmount(time))
        case .rate(let bytesPerSecond):
            self.pass([bytes], context, after: .nanoseconds(Int64(length) * 1_000_000_000 / Int64(max(1, bytesPerSecond))))
        case .stall(let limit):
            guard let rest = self.rest(&bytes, limit) else { return self.pass([bytes], context) }
            self.hasEnded = true
            self.partner.writeAndFlush(rest, promise: nil)
        case .reset(let limit):
            guard let rest = self.rest(&bytes, limit) else { return self.pass([bytes], context) }
            self.hasEnded = true
            let (channel, partner) = (context.channel, self.partner)
            partner.writeAndFlush(rest).assumeIsolated().whenComplete { _ in
                for side in [channel, partner] {
                    // With SO_LINGER of zero seconds, close(2) resets the connection.
                    _ = (side as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    side.close(promise: nil)
                }
            }
        case .halfClose(let limit):
            guard let rest = self.rest(&bytes, limit) else { return self.pass([bytes], context) }
            self.hasEnded = true
            self.partner.writeAndFlush(rest, promise: nil)
            self.partner.close(mode: .output, promise: nil)
        case .flip: self.pass([self.flipped(bytes, every: nil, atMost: 1)], context)
        case .corrupt(let every, _, let most): self.pass([self.flipped(bytes, every: every, atMost: most)], context)
        }
    }

    /// Returns the bytes up to the limit; `nil` if the limit is not reached.
    private func rest(_ bytes: inout ByteBuffer, _ limit: Int) -> ByteBuffer? {
        guard self.count + bytes.readableBytes >= limit else { return nil }
        return bytes.readSlice(length: min(bytes.readableBytes, max(0, limit - self.count)))
    }

    private func flipped(_ bytes: ByteBuffer, every: Int?, atMost most: Int) -> ByteBuffer {
        var bytes = bytes
        while let offset = self.nextFlip, offset < self.count + bytes.readableBytes, self.flips < most {
            let index = bytes.readerIndex + offset - self.count
            let byte = bytes.getInteger(at: index, as: UInt8.self) ?? 0
            bytes.setInteger(byte ^ 1 << UInt8.random(in: 0..<8, using: &self.generator), at: index)
            self.flips += 1
            self.nextFlip = every.map { offset + 1 + Int.random(in: 0..<max(1, 2 * $0), using: &self.generator) }
        }
        return bytes
    }

    private func pass(_ pieces: [ByteBuffer], _ context: ChannelHandlerContext, after delay: TimeAmount = .zero) {
        let (partner, channel) = (self.partner, context.channel)
        func write() {
            for piece in pieces.dropLast() { partner.writeAndFlush(piece, promise: nil) }
            partner.writeAndFlush(pieces.last ?? ByteBuffer()).assumeIsolated().whenComplete { result in
                // Closes the connection if writing to the partner fails.
                if case .failure = result { channel.close(promise: nil) } else { channel.read() }
            }
        }
        guard delay > .zero else { return write() }
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { write() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { self.partner.close(mode: .output, promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.partner.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

@available(*, unavailable)
extension FaultHandler: Sendable {}
