import ApusConnectivity
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import NIOEmbedded

/// A server's WebSocket on an embedded channel, with the client's side of it.
struct EmbeddedPeer {
    let delegate = RecordingDelegate()
    let channel: EmbeddedChannel
    let handler: WebSocketHandler

    init(_ buffers: WebSocketBuffers = WebSocketBuffers(isShared: true), limits: WebSocketLimits = .init(), on loop: EmbeddedEventLoop)
        throws
    {
        self.handler = WebSocketHandler(role: .server, limits: limits, delegate: self.delegate, buffers: buffers)
        self.channel = EmbeddedChannel(handler: self.handler, loop: loop)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// Reads these texts without ending the turn of the loop.
    func receive(_ texts: String...) { self.receive(texts.map { WebSocketFrame(opcode: .text, payload: ByteBuffer(string: $0)) }) }

    func receive(_ frames: [WebSocketFrame]) {
        var buffer = ByteBuffer()
        for frame in frames { WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x1234_5678), into: &buffer) }
        self.receive(buffer)
    }

    func receive(_ bytes: ByteBuffer) {
        self.channel.pipeline.fireChannelRead(bytes)
        self.channel.pipeline.fireChannelReadComplete()
    }

    func setWritable(_ isWritable: Bool) {
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
    }

    var texts: [String] { self.delegate.messages.map { String(buffer: $0.payload) } }

    /// Returns the buffers written since the last call.
    func written() throws -> [ByteBuffer] {
        var all: [ByteBuffer] = []
        while let bytes = try self.channel.readOutbound(as: ByteBuffer.self) { all.append(bytes) }
        return all
    }
}

extension WebSocketBuffers {
    /// Creates the buffers of a server with these limits.
    convenience init(queueLowMark: Int, unfinished: Int = 1 << 30, queued: Int = 1 << 30) {
        self.init(queueLowMark: queueLowMark, budgets: ConnectionBudgets(unfinished: unfinished, queued: queued))
    }

    /// Fills the turn, so that nothing more is handled in it.
    func fillTurn() { for _ in 0..<EventLoopTurn.maximumDeliveries { self.turn.delivered() } }
}
