import ApusWebSocketProtocol
import NIOCore

/// Separates the head of the handshake response from the bytes that follow it. It precedes the HTTP
/// decoder in the pipeline.
///
/// The bytes after a 101 belong to the WebSocket. They are buffered, together with a directly
/// following end of the transport, until the WebSocket handler is added. The decoder cannot buffer
/// them: it drops them if the transport ends in the same read. After an interim response (1xx),
/// another head follows. After any other response, the decoder receives the rest.
final class WebSocketHandshakeSplitter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State {
        /// Searching the blank line that ends the head. `matched` is the number of bytes of the
        /// blank line at the end of the last read.
        case head(matched: Int)
        /// The head was a 101. All bytes are buffered until the WebSocket handler is added.
        case keeping
        /// The response is not a 101. All bytes are passed to the decoder.
        case passing
    }

    private let attempt: WebSocketConnectionAttempt
    private var state = State.head(matched: 0)
    /// The beginning of the head, up to the status: `HTTP/1.1 101`.
    private var statusLine: [UInt8] = []
    private var buffers: [ByteBuffer] = []
    private var error: (any Error)?
    private var hasEnded = false

    init(attempt: WebSocketConnectionAttempt) {
        self.attempt = attempt
    }

    /// Buffers the bytes after the head. Called while the head is being passed to the decoder.
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
        context.fireChannelRead(self.wrapInboundOut(head))  // may call `handshakeAgreed`
        guard bytes.readableBytes > 0 else { return }
        switch self.state {
        case .keeping: self.buffers.append(bytes)
        case .passing: context.fireChannelRead(self.wrapInboundOut(bytes))
        case .head(let matched): self.split(bytes, matched, context)
        }
    }

    /// Whether the status is 1xx (RFC 9110 section 15.2), but not 101.
    private var isInterim: Bool {
        self.statusLine.count == 12 && self.statusLine[9] == UInt8(ascii: "1") && !self.statusLine.suffix(2).elementsEqual("01".utf8)
    }

    /// Searches CR LF CR LF, of which `matched` bytes precede `view`. Returns the offset of its end
    /// or, if there is none, the number of its bytes at the end of `view`.
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
        // Has no effect if the WebSocket handler was added. If it was not, the channel has closed.
        self.attempt.fail(WebSocketError(.connectionLost, message: "the connection closed directly after the handshake", cause: self.error))
    }
}
