import NIOCore
import NIOHTTP1

/// The receiver of an ``HTTPConnectionHandler``'s events.
protocol HTTPConnectionOwner: AnyObject {
    /// Called when a response is complete.
    ///
    /// - Parameter isKept: Whether the connection may carry another request; if not, it is being
    ///   closed.
    func connection(_ id: Int, answered response: HTTPExchangeResponse, isKept: Bool)

    /// Called exactly once, as the last call, when the connection has ended. Unless `stage` is
    /// `idle`, the request on the connection has failed.
    func connection(_ id: Int, endedBy error: ConnectivityError, _ stage: HTTPConnectionHandler.Stage)
}

/// One connection that carries requests one after the other. The last handler of the pipeline,
/// after NIO's encoder and decoder.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The progress of the request that the end of the connection interrupted.
    enum Stage: Equatable {
        /// The head was not written completely: the server cannot have processed the request.
        case unsent
        /// The server may have processed the request; no byte of the response arrived.
        case unanswered
        /// Part of the response arrived.
        case answered
        /// The connection carried no request.
        case idle
    }

    private struct Exchange {
        var collector: HTTPResponseCollector
        let number: Int
        var headIsOut = false
        var endIsOut = false
    }

    private let id: Int
    private let maximumBodyBytes: Int
    private let cutsBody: Bool
    /// The maximum time without a request. The `Keep-Alive` field of a response may lower it.
    private var idleLimit: Duration
    private let idleTimeout: Duration
    /// The owner; `nil` after the connection has ended.
    private var owner: (any HTTPConnectionOwner)?
    private var context: ChannelHandlerContext?
    private var exchange: Exchange?
    private var lastNumber = 0
    private var idleTimer: Scheduled<Void>?

    init(id: Int, maximumBodyBytes: Int, cutsBody: Bool, idleTimeout: Duration, owner: any HTTPConnectionOwner) {
        self.id = id
        self.maximumBodyBytes = maximumBodyBytes
        self.cutsBody = cutsBody
        self.idleLimit = idleTimeout
        self.idleTimeout = idleTimeout
        self.owner = owner
    }

    /// Starts the idle timer of a connection without a request.
    func park() {
        let limit = self.idleLimit
        self.idleTimer = self.context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            self.end(ConnectivityError(.connectionLost, message: "the connection was idle for the maximum of \(limit)"))
        }
    }

    /// Sends a request. The connection must not carry another one.
    ///
    /// Flushes head and body together, so that a small request fits into one packet.
    func send(_ head: HTTPRequestHead, body: ByteBuffer?, receiveBody: (@Sendable (ByteBuffer) throws -> Void)? = nil) {
        self.idleTimer?.cancel()
        self.idleTimer = nil
        self.lastNumber += 1
        let number = self.lastNumber
        self.exchange = Exchange(
            collector: HTTPResponseCollector(
                maximumBodyBytes: self.maximumBodyBytes, cutsBody: self.cutsBody, receiveBody: receiveBody), number: number)
        guard let context = self.context, context.channel.isActive else {
            return self.end(ConnectivityError(.connectionLost, message: "the connection is already closed"))
        }
        let loop = context.eventLoop
        let (headIsOut, endIsOut) = (loop.makePromise(of: Void.self), loop.makePromise(of: Void.self))
        headIsOut.futureResult.assumeIsolated().whenSuccess { self.wrote(number) { $0.headIsOut = true } }
        endIsOut.futureResult.assumeIsolated().whenSuccess { self.wrote(number) { $0.endIsOut = true } }
        context.write(self.wrapOutboundOut(.head(head)), promise: headIsOut)
        if let body, body.readableBytes > 0 { context.write(self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: endIsOut)
    }

    private func wrote(_ number: Int, _ change: (inout Exchange) -> Void) {
        guard self.exchange?.number == number, var exchange = self.exchange.take() else { return }
        change(&exchange)
        self.exchange = exchange
    }

    /// Closes the connection and fails its request.
    func close(_ error: ConnectivityError) {
        self.end(error)
    }

    private func end(_ error: ConnectivityError) {
        guard let owner = self.owner.take() else { return }
        self.idleTimer?.cancel()
        self.idleTimer = nil
        let stage: Stage
        switch self.exchange {
        case nil: stage = .idle
        case .some(let exchange) where exchange.collector.hasBegun: stage = .answered
        case .some(let exchange): stage = exchange.headIsOut ? .unanswered : .unsent
        }
        self.exchange = nil
        self.context?.close(promise: nil)
        owner.connection(self.id, endedBy: error, stage)
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.end(ConnectivityError(.connectionLost, message: "the connection closed"))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.owner != nil else { return }
        guard var exchange = self.exchange.take() else {
            return self.end(ConnectivityError(.httpProtocol, message: "the server sent a response without a request"))
        }
        do throws(ConnectivityError) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): try exchange.collector.receivedHead(head)
            case .body(let piece):
                try exchange.collector.receivedBody(piece)
                if exchange.collector.isCut, let response = try exchange.collector.ended() {
                    self.owner?.connection(self.id, answered: response, isKept: false)
                    return self.end(
                        ConnectivityError(
                            .responseTooLarge,
                            message: "the connection was closed because the body of a response reached its maximum length"))
                }
            case .end:
                if let response = try exchange.collector.ended() { return self.answered(response, exchange) }
            }
            self.exchange = exchange
        } catch {
            self.exchange = exchange
            self.end(error)
        }
    }

    private func answered(_ response: HTTPExchangeResponse, _ exchange: Exchange) {
        // If the response arrived before the whole request was written, the server may not have
        // read the rest of the request.
        guard exchange.collector.keepsAlive, exchange.endIsOut else {
            self.owner?.connection(self.id, answered: response, isKept: false)
            return self.end(
                ConnectivityError(
                    .connectionLost, message: "the connection was closed after the response, because it cannot carry another request"))
        }
        // The limit is one second shorter than the server's timeout, so that a request does not
        // race with the server's close.
        let limit = min(self.idleTimeout, (exchange.collector.keepAliveTimeout ?? self.idleTimeout) - .seconds(1))
        guard limit > .zero || exchange.collector.keepAliveTimeout == nil else {
            self.owner?.connection(self.id, answered: response, isKept: false)
            return self.end(
                ConnectivityError(
                    .connectionLost,
                    message: "the connection was closed after the response, because its `Keep-Alive` timeout is too short for reuse"))
        }
        self.idleLimit = limit
        self.owner?.connection(self.id, answered: response, isKept: true)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end(ConnectivityError(.connectionLost, message: "the server closed the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError, is NIOHTTPDecoderError:
            self.end(ConnectivityError(.httpProtocol, message: "the server's response is not valid HTTP", cause: error))
        default:
            self.end(ConnectivityError(.connectionLost, message: "the connection failed", cause: error))
        }
    }
}

@available(*, unavailable)
extension HTTPConnectionHandler: Sendable {}
