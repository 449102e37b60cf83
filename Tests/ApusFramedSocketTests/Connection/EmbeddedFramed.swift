import ApusFramedProtocol
@testable import ApusFramedSocket
import NIOCore
import NIOEmbedded

/// One side of a framed connection on an embedded channel, in virtual time.
final class EmbeddedFramed {
    let channel = EmbeddedChannel()
    let connection: FramedConnection
    let handler: FramedHandler
    private(set) var isOpen = false

    init(isClient: Bool = true, waitsForTLS: Bool = false, _ configuration: FramedConnectionConfiguration = .init()) throws {
        self.connection = FramedConnection(on: self.channel.eventLoop, remoteAddress: nil, isClient: isClient, configuration: configuration)
        self.handler = try FramedHandler(
            isClient: isClient, configuration: configuration, waitsForTLS: waitsForTLS, connection: self.connection)
        self.connection.attach(self.handler).assumeIsolated().whenSuccess { self.isOpen = true }
        try self.channel.pipeline.syncOperations.addHandler(self.handler)
        try self.channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
    }

    /// Returns a side of version 2 after both hellos.
    static func open(isClient: Bool = true, _ configuration: FramedConnectionConfiguration = .init()) throws -> EmbeddedFramed {
        let side = try EmbeddedFramed(isClient: isClient, configuration)
        var bytes = isClient ? ByteBuffer() : ByteBuffer(bytes: FramePreface.bytes)
        try FramedHello().head.write(into: &bytes)
        try side.receive(bytes)
        _ = try side.sent()
        return side
    }

    func receive(_ bytes: ByteBuffer) throws {
        try self.channel.writeInbound(bytes)
        self.channel.embeddedEventLoop.run()
    }

    func receive(_ head: FrameHead, body: [UInt8] = []) throws {
        var buffer = ByteBuffer()
        try head.write(into: &buffer)
        buffer.writeBytes(body)
        try self.receive(buffer)
    }

    func advance(by time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }

    /// The heads of the frames that were sent since the last call.
    func sent() throws -> [FrameHead] {
        var bytes = ByteBuffer()
        while let more = try self.channel.readOutbound(as: ByteBuffer.self) { bytes.writeImmutableBuffer(more) }
        if bytes.readableBytesView.starts(with: FramePreface.bytes) { bytes.moveReaderIndex(forwardBy: FramePreface.bytes.count) }
        var decoder = FrameDecoder()
        var heads: [FrameHead] = []
        while let part = try decoder.decode(buffer: &bytes) {
            if case .head(let head) = part { heads.append(head) }
        }
        return heads
    }

    var closure: FramedClosure? { self.connection.closure }
}
