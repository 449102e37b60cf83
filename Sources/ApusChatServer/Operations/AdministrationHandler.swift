import NIOCore

/// A request of an operator. Its connection is closed when the last reference to the request is
/// released.
final class AdministrationRequest: Sendable {
    /// The line without its terminator; nil if the line is too long.
    let line: ByteBuffer?
    let channel: any Channel

    init(line: ByteBuffer?, channel: any Channel) {
        self.line = line
        self.channel = channel
    }

    // A request that is still waiting when the server stops is dropped.
    deinit { self.channel.close(promise: nil) }
}

/// Reads one line from a connection. Closes the connection if the line does not arrive in time.
final class AdministrationHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    static let lineBytes = 64 << 10
    static let deadline = TimeAmount.seconds(10)

    private let received: (AdministrationRequest) -> Void
    private var line = ByteBuffer()
    private var timer: Scheduled<Void>?
    private var isComplete = false

    /// - Parameter received: Called once with the request, on the event loop of the connection.
    init(_ received: @escaping (AdministrationRequest) -> Void) { self.received = received }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.deadline) { [channel = context.channel] in
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isComplete else { return }
        self.line.writeImmutableBuffer(self.unwrapInboundIn(data))
        if let end = self.line.readableBytesView.firstIndex(of: 0x0A) {
            self.complete(self.line.getSlice(at: 0, length: end), context)
        } else if self.line.readableBytes > Self.lineBytes {
            self.complete(nil, context)
        }
    }

    private func complete(_ line: ByteBuffer?, _ context: ChannelHandlerContext) {
        self.isComplete = true
        self.line = ByteBuffer()
        self.timer?.cancel()
        self.received(AdministrationRequest(line: line, channel: context.channel))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
