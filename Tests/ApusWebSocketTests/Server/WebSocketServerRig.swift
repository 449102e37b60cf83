import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// Runs a server on a free port, calls `body` with the port, and waits for the shutdown.
func withServer(
    _ server: WebSocketServer, tls: TLSServerSettings? = nil, on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
    _ body: (_ port: Int) async throws -> Void
) async throws {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let running = Task { try await server.run(host: "127.0.0.1", port: 0, tls: tls, eventLoopGroup: group) { port.yield($0.port ?? 0) } }
    var iterator = ports.makeAsyncIterator()
    guard let number = await iterator.next() else { return }
    let result: Result<Void, any Error>
    do { result = .success(try await body(number)) } catch { result = .failure(error) }
    running.cancel()
    try await running.value
    try result.get()
}

/// The error of `RawPeer.receive` when the text does not arrive in time.
private struct NotReceived: Error {
    let text: String
    let time: TimeAmount
}

/// A peer that sends the bytes given by the test.
///
/// `@unchecked Sendable`: the received bytes are accessed on the channel's event loop only.
final class RawPeer: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private var received = ByteBuffer()
    private var waiters: [(isEnough: (ByteBuffer) -> Bool, promise: EventLoopPromise<ByteBuffer>)] = []
    let channel: NIOLockedValueBox<(any Channel)?> = .init(nil)

    static func connect(port: Int) async throws -> RawPeer {
        try await self.connect { $0.connect(host: "127.0.0.1", port: port) }
    }

    static func connect(path: String) async throws -> RawPeer {
        try await self.connect { $0.connect(unixDomainSocketPath: path) }
    }

    private static func connect(_ connect: (ClientBootstrap) -> EventLoopFuture<any Channel>) async throws -> RawPeer {
        let peer = RawPeer()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(peer) }
        }
        let channel = try await connect(bootstrap).get()
        peer.channel.withLockedValue { $0 = channel }
        return peer
    }

    private var open: any Channel {
        get throws { if let channel = self.channel.withLockedValue({ $0 }) { channel } else { throw ChannelError.ioOnClosedChannel } }
    }

    func send(_ text: String) async throws { try await self.send(ByteBuffer(string: text)) }

    func send(_ bytes: ByteBuffer) async throws { try await self.open.writeAndFlush(bytes) }

    /// Closes the sending side only.
    func hangUp() async throws { try await self.open.close(mode: .output) }

    func stopReading() async throws { try await self.open.setOption(.autoRead, value: false).get() }

    func close() async { try? await self.open.close() }

    /// Waits for `text` or the end. Returns everything received so far.
    func receive(until text: String, within time: TimeAmount = .seconds(60)) async throws -> String {
        let channel = try self.open
        return try await channel.eventLoop.flatSubmit {
            let promise = channel.eventLoop.makePromise(of: ByteBuffer.self)
            let isEnough: (ByteBuffer) -> Bool = { String(buffer: $0).contains(text) }
            if isEnough(self.received) || !channel.isActive {
                promise.succeed(self.received)
            } else {
                self.waiters.append((isEnough, promise))
                channel.eventLoop.scheduleTask(in: time) { promise.fail(NotReceived(text: text, time: time)) }
            }
            return promise.futureResult
        }.map { String(buffer: $0) }.get()
    }

    /// Waits for the end of the connection.
    func waitForEnd() async throws -> String { try await self.receive(until: "\u{0}never\u{0}") }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.received.writeBuffer(&bytes)
        self.waiters.removeAll { waiter in
            guard waiter.isEnough(self.received) else { return false }
            waiter.promise.succeed(self.received)
            return true
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for waiter in self.waiters { waiter.promise.succeed(self.received) }
        self.waiters = []
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
