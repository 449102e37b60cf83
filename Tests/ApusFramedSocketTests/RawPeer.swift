import ApusFramedProtocol
import ApusFramedSocket
import ApusJSON
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A peer that sends arbitrary bytes and frames over a socket.
final class RawPeer: Sendable {
    private let channel: any Channel
    private let heads: AsyncStream<FrameHead>

    /// Connects. With `greets`, also exchanges the hellos.
    init(port: Int, greets: Bool = true) async throws {
        let (heads, continuation) = AsyncStream.makeStream(of: FrameHead.self)
        self.heads = heads
        self.channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(HeadReader(continuation)) }
            }
            .connect(host: "127.0.0.1", port: port).get()
        guard greets else { return }
        var bytes = ByteBuffer(bytes: FramePreface.bytes)
        try FramedHello().head.write(into: &bytes)
        try await self.send(bytes)
        _ = await self.next()
    }

    func send(_ bytes: ByteBuffer) async throws { try await self.channel.writeAndFlush(bytes) }

    func send(_ type: FrameType, stream: UInt16 = 1, _ header: JSONObject = [:], body: ByteBuffer = ByteBuffer()) async throws {
        var bytes = ByteBuffer()
        try FrameHead(type, stream: stream, header: header, bodyLength: body.readableBytes).write(into: &bytes)
        bytes.writeImmutableBuffer(body)
        try await self.send(bytes)
    }

    /// Returns the head of the next frame, or `nil` at the end of the connection.
    func next() async -> FrameHead? {
        var iterator = self.heads.makeAsyncIterator()
        return await iterator.next()
    }

    func close() async { try? await self.channel.close() }
}

private final class HeadReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let continuation: AsyncStream<FrameHead>.Continuation
    private var decoder = FrameDecoder()
    private var pending = ByteBuffer()

    init(_ continuation: AsyncStream<FrameHead>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.pending.writeImmutableBuffer(self.unwrapInboundIn(data))
        while let part = try? self.decoder.decode(buffer: &self.pending) {
            if case .head(let head) = part { self.continuation.yield(head) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.continuation.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

@available(*, unavailable)
extension HeadReader: Sendable {}

/// Returns the body of a data frame: offset, checksum and bytes, computed independently of the code
/// under test.
func chunk(offset: UInt64, _ bytes: [UInt8], damage: Bool = false) -> ByteBuffer {
    var crc = UInt32.max
    for byte in withUnsafeBytes(of: offset.bigEndian, Array.init) + bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
    }
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(offset, damage ? crc : ~crc)
    buffer.writeBytes(bytes)
    return buffer
}
