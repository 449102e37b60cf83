import ApusBytes
package import Logging
package import NIOCore
package import NIOHTTP1

/// Passes on one HTTP/1 request at a time, and refuses requests that are not valid HTTP.
///
/// In the pipeline, it follows the decoder and NIO's HTTP handlers, and precedes the handlers of
/// the requests.
///
/// - While a request is unanswered, the socket is not read. Requests that were already read wait,
///   and are passed on in order.
/// - Requests without exactly one `Host` (which HTTP/1.0 may omit), bytes that are not HTTP and
///   truncated bodies are refused with 400, too large header fields with 431, and HTTP/1.0 with 505
///   unless it is allowed.
/// - The connection closes after the response to a request that requires this. A request of
///   HTTP/1.0 requires it unless it contains `keep-alive`.
///
/// After the last response, the peer's bytes are read and discarded for a short time: closing with
/// unread bytes sends a reset, which can destroy the response before the peer reads it.
///
/// Confined to the channel's event loop.
package final class HTTPRequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The time for which the peer's bytes are discarded after the last response.
    private static let discardPeriod = TimeAmount.seconds(1)

    private let logger: Logger
    /// Whether the pipeline has no web framework. If `true`, the guard closes the connection when
    /// the client has closed its side.
    private let isAlone: Bool
    private var sequence: HTTPRequestSequence
    private var isPassing = false
    private var isClosing = false
    private var readIsHeld = false
    /// The number of remaining bytes of a large body; 0 if a large read could exceed the end of the
    /// body.
    private var largeBodyBytes = 0

    /// Creates a guard for one connection.
    ///
    /// - Parameters:
    ///   - isAlone: Whether the pipeline has no web framework.
    ///   - allowsHTTP10: Whether HTTP/1.0 requests are accepted. Default: `true`.
    ///   - logger: The logger for refusals at `debug`.
    package init(isAlone: Bool, allowsHTTP10: Bool = true, logger: Logger) {
        self.isAlone = isAlone
        self.sequence = HTTPRequestSequence(allowsHTTP10: allowsHTTP10)
        self.logger = logger
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        WebSocketBuffers.receiveRequests(on: context.channel)
        // With half-closure, a truncated request and the requests before it can be answered.
        if self.isAlone { try? context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.sequence.finish()
        guard context.channel.isActive else { return }
        WebSocketBuffers.receiveAnything(on: context.channel)
        if self.isAlone { try? context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false) }
        self.releaseRead(context)
    }

    // MARK: In

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.receivedEvent(.part(self.unwrapInboundIn(data)), context)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        self.receivedEvent(.failure(error), context)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        self.receivedEvent(.inputClosed, context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        self.sequence.finish()
        context.fireChannelInactive()
    }

    private func receivedEvent(_ event: HTTPRequestSequence.Event, _ context: ChannelHandlerContext) {
        switch self.sequence.receivedEvent(event) {
        case .act(let action): self.perform(action, context)
        case .doNothing: break
        case .tooMany:
            self.logger.debug("Connection closed: too many requests are pipelined")
            self.sequence.finish()
            context.close(promise: nil)
        }
    }

    /// Passes on the pending events that the sequence permits. Returns whether one of them was a
    /// part of a request.
    private func passOn(_ context: ChannelHandlerContext) -> Bool {
        // An action may write a response, which calls this method again. The inner call returns,
        // and the loop of the outer call continues.
        guard !self.isPassing else { return false }
        self.isPassing = true
        defer { self.isPassing = false }
        var hasPassed = false
        while let action = self.sequence.next() {
            if case .pass = action { hasPassed = true }
            self.perform(action, context)
        }
        return hasPassed
    }

    private func perform(_ action: HTTPRequestSequence.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .pass(let part):
            self.fitReads(to: part, context)
            context.fireChannelRead(self.wrapInboundOut(part))
        case .refuse(let refusal, let error):
            self.refuse(refusal, context)
            self.pass(error, context)
        case .close(let error):
            self.pass(error, context)
            context.close(promise: nil)
        case .inputClosed(let isIdle): self.inputClosed(isIdle: isIdle, context)
        }
    }

    /// Passes an error to a web framework, whose responder may wait for the rest of the request.
    private func pass(_ error: HTTPParserError?, _ context: ChannelHandlerContext) {
        if let error, !self.isAlone { context.fireErrorCaught(error) }
    }

    private func inputClosed(isIdle: Bool, _ context: ChannelHandlerContext) {
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        guard self.isAlone else { return }
        // If bytes of the last response are unwritten, the peer is still reading it. The connection
        // then stays open until the server's own deadline.
        let isWritten = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 == 0
        // If a client closes its side during a long poll, its session has ended.
        if isWritten || !isIdle { context.close(promise: nil) }
    }

    // MARK: Back-pressure

    package func read(context: ChannelHandlerContext) {
        if self.sequence.pausesReading {
            self.readIsHeld = true
        } else {
            context.read()
        }
    }

    /// Adapts the size of reads to the length of the body.
    private func fitReads(to part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        let before = self.largeBodyBytes
        switch part {
        case .head(let head): self.largeBodyBytes = head.headers.first(name: "Content-Length").flatMap { Int(digits: $0) } ?? 0
        case .body(let bytes): self.largeBodyBytes -= bytes.readableBytes
        case .end: self.largeBodyBytes = 0
        }
        if self.largeBodyBytes < WebSocketBuffers.bodyBytes { self.largeBodyBytes = 0 }
        guard (before > 0) != (self.largeBodyBytes > 0) else { return }
        WebSocketBuffers.receiveRequests(on: context.channel, isWithinBody: self.largeBodyBytes > 0)
    }

    private func releaseRead(_ context: ChannelHandlerContext) {
        guard self.readIsHeld, !self.sequence.pausesReading else { return }
        self.readIsHeld = false
        context.read()
    }

    // MARK: Out

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .head(let head):
            guard let head = self.sequence.answered(head) else { return promise?.succeed() ?? () }
            context.write(self.wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            guard self.sequence.answeredBody() == .write else { return promise?.succeed() ?? () }
            context.write(data, promise: promise)
        case .end:
            switch self.sequence.answerEnded() {
            case .drop: promise?.succeed()
            case .write: context.write(data, promise: promise)
            case .writeAndClose:
                context.write(data, promise: promise)
                self.close(context)
            }
            if self.passOn(context) { context.fireChannelReadComplete() }
            self.releaseRead(context)
        }
    }

    private func refuse(_ refusal: HTTPRequestRefusal, _ context: ChannelHandlerContext) {
        self.logger.debug("Request refused", metadata: ["http.status": "\(refusal.status.code)", "error": "\(refusal.message.dropLast())"])
        context.write(self.wrapOutboundOut(.head(refusal.head)), promise: nil)
        if refusal.hasBody { context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: refusal.message)))), promise: nil) }
        context.write(self.wrapOutboundOut(.end(nil)), promise: nil)
        self.close(context)
    }

    /// Closes the connection after the last response, when the sequence has finished.
    private func close(_ context: ChannelHandlerContext) {
        guard !self.isClosing else { return }
        self.isClosing = true
        context.flush()
        let channel = context.channel
        let halfClosed = context.eventLoop.makePromise(of: Void.self)
        halfClosed.futureResult.whenFailure { _ in channel.close(promise: nil) }  // no half-closure support
        context.close(mode: .output, promise: halfClosed)
        context.eventLoop.scheduleTask(in: Self.discardPeriod) { channel.close(promise: nil) }
        self.releaseRead(context)
    }
}

@available(*, unavailable)
extension HTTPRequestGuard: Sendable {}
