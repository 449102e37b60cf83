import ApusWebSocketProtocol
import NIOCore

/// Stands before the HTTP decoder and parts the response's head from what follows it.
///
/// What follows a 101 is the WebSocket's: it is kept, together with an end of the transport that comes right behind it, until the
/// WebSocket's handler is there. The decoder would hand the bytes on as well, but drops them when the transport ends in the same read, and a
/// server may say something and hang up at once. What follows an interim answer (1xx) is another head, what follows any other is the decoder's.
final class WebSocketHandshakeSplitter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State {
        /// Looks for the blank line; so many bytes of it were there at the end of what came.
        case head(matched: Int)
        /// The head was a 101: everything is kept. Leaves with the handler.
        case keeping
        /// The response is an ordinary one.
        case passing
    }

    private let attempt: WebSocketConnectionAttempt
    private var state = State.head(matched: 0)
    /// The head's beginning, as far as its status: `HTTP/1.1 101`.
    private var statusLine: [UInt8] = []
    private var buffers: [ByteBuffer] = []
    private var error: (any Error)?
    private var hasEnded = false

    init(attempt: WebSocketConnectionAttempt) {
        self.attempt = attempt
    }

    /// The handshake is through; called while the head is being passed on.
    func handshakeAgreed() { self.state = .keeping }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.state {
        case .passing: context.fireChannelRead(data)
        case .keeping: self.buffers.append(self.unwrapInboundIn(data))
        case .head(let matched): self.split(self.unwrapInboundIn(data), matched, context)
        }
    }

    private func split(_ bytes: ByteBuffer, _ matched: Int, _ context: ChannelHandlerContext) {
        var bytes = bytes
        self.statusLine += bytes.readableBytesView.prefix(12 - self.statusLine.count)
        let (end, matched) = Self.endOfHead(in: bytes.readableBytesView, matched)
        guard let end, let head = bytes.readSlice(length: end) else {
            self.state = .head(matched: matched)
            return context.fireChannelRead(self.wrapInboundOut(bytes))
        }
        self.state = self.isInterim ? .head(matched: 0) : .passing
        self.statusLine = []
        context.fireChannelRead(self.wrapInboundOut(head))  // `handshakeAgreed` may be called in here
        guard bytes.readableBytes > 0 else { return }
        switch self.state {
        case .keeping: self.buffers.append(bytes)
        case .passing: context.fireChannelRead(self.wrapInboundOut(bytes))
        case .head(let matched): self.split(bytes, matched, context)
        }
    }

    /// Whether the status is 1xx, but not that of the upgrade (RFC 9110 15.2).
    private var isInterim: Bool {
        self.statusLine.count == 12 && self.statusLine[9] == UInt8(ascii: "1") && !self.statusLine.suffix(2).elementsEqual("01".utf8)
    }

    /// Where CR LF CR LF, of which `matched` bytes came before, ends; or how much of it is at the end.
    private static func endOfHead(in view: ByteBufferView, _ matched: Int) -> (end: Int?, matched: Int) {
        var matched = matched
        for (offset, byte) in view.enumerated() {
            if byte == (matched % 2 == 0 ? 0x0d : 0x0a) {
                matched += 1
                if matched == 4 { return (offset + 1, 0) }
            } else {
                matched = byte == 0x0d ? 1 : 0
            }
        }
        return (nil, matched)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .keeping = self.state { return }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard case .keeping = self.state else { return context.fireChannelInactive() }
        self.hasEnded = true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .keeping = self.state else { return context.fireErrorCaught(error) }
        self.error = self.error ?? error
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        for buffer in self.buffers { context.fireChannelRead(self.wrapInboundOut(buffer)) }
        self.buffers = []
        if let error = self.error { context.fireErrorCaught(error) }
        if self.hasEnded { context.fireChannelInactive() }
        context.leavePipeline(removalToken: removalToken)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // Does nothing when the WebSocket's handler took over; else the pipeline was taken apart before.
        self.attempt.fail(WebSocketError(.connectionLost, message: "the transport ended right after the handshake", cause: self.error))
    }
}
