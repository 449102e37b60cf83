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

/// A TCP proxy on the loopback that treats bytes as a bad line would: late, in crumbs, damaged, or not at all.
///
/// Every connection is forwarded to one server. What is done to its bytes is said for either direction, and drawn from `seed` where it is a matter
/// of chance, so that a run can be repeated. It holds no more than one read of each direction: a slow side slows the other down.
package final class FaultProxy: Sendable {
    /// What is done to the bytes of one direction.
    package enum Fault: Hashable, Sendable {
        case none
        /// Every read waits so long before it is passed on.
        case delay(Duration)
        /// So many bytes in a second at most.
        case rate(bytesPerSecond: Int)
        /// Pieces of so many bytes, each sent by itself.
        case chop(Int)
        /// After so many bytes nothing is passed on any more, and the connection stays.
        case stall(after: Int)
        /// After so many bytes both sides are reset.
        case reset(after: Int)
        /// After so many bytes the direction ends in order; the other goes on.
        case halfClose(after: Int)
        /// One bit is turned over in the byte at this offset.
        case flip(at: Int)
        /// One bit is turned over about every so many bytes, beginning after some.
        case corrupt(every: Int, after: Int, atMost: Int)
    }

    private let listener: any Channel
    private let counter: NIOLockedValueBox<Int>
    /// Where clients connect to.
    package let port: Int
    /// The bytes that clients have sent, over all connections.
    package var bytesToServer: Int { self.counter.withLockedValue { $0 } }

    private init(_ listener: any Channel, _ counter: NIOLockedValueBox<Int>) {
        self.listener = listener
        self.counter = counter
        self.port = listener.localAddress?.port ?? 0
    }

    /// Runs a proxy in front of a port of the loopback and lends it to `body`. What it carries is cut when `body` is done.
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
            // One read at a time is on its way: of two, the one that waits less would overtake the other.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .channelOption(.socketOption(.tcp_nodelay), value: 1)
                    .channelOption(.autoRead, value: false)
                    .channelOption(.maxMessagesPerRead, value: 1)
                    .connect(host: "127.0.0.1", port: port)
                    .flatMapThrowing { server in
                        let dice = SplitMix64(state: seed)
                        try client.pipeline.syncOperations.addHandler(FaultyLine(toServer, to: server, dice: dice, counter))
                        try server.pipeline.syncOperations.addHandler(FaultyLine(toClient, to: client, dice: dice, nil))
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

/// SplitMix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(state: UInt64) {
        self.state = state
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// One direction of one connection: what is read here is written to the partner.
private final class FaultyLine: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let fault: FaultProxy.Fault
    private let partner: any Channel
    private var dice: SplitMix64
    private let counter: NIOLockedValueBox<Int>?
    private var count = 0
    private var flips = 0
    private var nextFlip: Int?
    private var hasEnded = false

    init(_ fault: FaultProxy.Fault, to partner: any Channel, dice: SplitMix64, _ counter: NIOLockedValueBox<Int>?) {
        self.counter = counter
        self.fault = fault
        self.partner = partner
        self.dice = dice
        switch fault {
        case .flip(let offset): self.nextFlip = offset
        case .corrupt(let every, let after, _): self.nextFlip = after + Int.random(in: 0..<max(1, 2 * every), using: &self.dice)
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
        let came = bytes.readableBytes
        defer { self.count += came }
        self.counter?.withLockedValue { $0 += came }
        let context = context
        switch self.fault {
        case .none: self.pass([bytes], context)
        case .chop(let size):
            var pieces: [ByteBuffer] = []
            while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 { pieces.append(piece) }
            self.pass(pieces, context)
        case .delay(let time): self.pass([bytes], context, after: TimeAmount(time))
        case .rate(let bytesPerSecond):
            self.pass([bytes], context, after: .nanoseconds(Int64(came) * 1_000_000_000 / Int64(max(1, bytesPerSecond))))
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
                    // Closed without lingering, a socket resets its connection.
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

    /// What of these bytes is within the limit; `nil`: all of it.
    private func rest(_ bytes: inout ByteBuffer, _ limit: Int) -> ByteBuffer? {
        guard self.count + bytes.readableBytes >= limit else { return nil }
        return bytes.readSlice(length: min(bytes.readableBytes, max(0, limit - self.count)))
    }

    private func flipped(_ bytes: ByteBuffer, every: Int?, atMost most: Int) -> ByteBuffer {
        var bytes = bytes
        while let offset = self.nextFlip, offset < self.count + bytes.readableBytes, self.flips < most {
            let index = bytes.readerIndex + offset - self.count
            let byte = bytes.getInteger(at: index, as: UInt8.self) ?? 0
            bytes.setInteger(byte ^ 1 << UInt8.random(in: 0..<8, using: &self.dice), at: index)
            self.flips += 1
            self.nextFlip = every.map { offset + 1 + Int.random(in: 0..<max(1, 2 * $0), using: &self.dice) }
        }
        return bytes
    }

    private func pass(_ pieces: [ByteBuffer], _ context: ChannelHandlerContext, after delay: TimeAmount = .zero) {
        let (partner, channel) = (self.partner, context.channel)
        func write() {
            for piece in pieces.dropLast() { partner.writeAndFlush(piece, promise: nil) }
            partner.writeAndFlush(pieces.last ?? ByteBuffer()).assumeIsolated().whenComplete { result in
                // What cannot be passed on is not taken either.
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
extension FaultyLine: Sendable {}
