import NIOCore
import NIOHTTP1

/// What hears an ``HTTPConnectionHandler``.
protocol HTTPConnectionOwner: AnyObject {
    /// The answer is whole.
    ///
    /// - Parameter isKept: Whether the connection may carry another request; if not, it is being closed.
    func connection(_ id: Int, answered response: HTTPExchangeResponse, isKept: Bool)

    /// The connection is over: exactly once, the last call. Whatever it carried failed.
    func connection(_ id: Int, endedBy error: ConnectivityError, _ stage: HTTPConnectionHandler.Stage)
}

/// One connection that carries requests one after the other. The end of the pipeline, behind NIO's encoder and decoder.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// How far the request had come that the connection's end cut off.
    enum Stage: Equatable {
        /// Not even its head left this process whole: the server cannot have acted on it.
        case unsent
        /// It may have been carried out; nothing of the answer came.
        case unanswered
        /// Something of the answer came.
        case answered
        /// There was none.
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
    /// How long it may wait for its next request; the server may want less after an answer.
    private var idleLimit: Duration
    private let idleTimeout: Duration
    /// Until the end: it knows us as long.
    private var owner: (any HTTPConnectionOwner)?
    private var context: ChannelHandlerContext?
    private var exchange: Exchange?
    private var lastNumber = 0
    private var idleTimer: Scheduled<Void>?

    init(id: Int, maximumBodyBytes: Int, idleTimeout: Duration, owner: any HTTPConnectionOwner) {
        self.id = id
        self.maximumBodyBytes = maximumBodyBytes
        self.idleLimit = idleTimeout
        self.idleTimeout = idleTimeout
        self.owner = owner
    }

    /// It has nothing to carry, and is kept for as long as that is safe.
    func park() {
        let limit = self.idleLimit
        self.idleTimer = self.context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            self.end(ConnectivityError(.connectionLost, message: "the connection was idle for \(limit)"))
        }
    }

    /// Sends a request. Only while there is none.
    ///
    /// Head and body go out in one write, so that a small request is one packet.
    func send(_ head: HTTPRequestHead, body: ByteBuffer?) {
        self.idleTimer?.cancel()
        self.idleTimer = nil
        self.lastNumber += 1
        let number = self.lastNumber
        self.exchange = Exchange(collector: HTTPResponseCollector(maximumBodyBytes: self.maximumBodyBytes), number: number)
        guard let context = self.context, context.channel.isActive else {
            return self.end(ConnectivityError(.connectionLost, message: "the connection had ended"))
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

    /// Ends the connection, with what it carries.
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
        self.end(ConnectivityError(.connectionLost, message: "the connection ended"))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.owner != nil else { return }
        guard var exchange = self.exchange.take() else {
            return self.end(ConnectivityError(.httpProtocol, message: "the server spoke without being asked"))
        }
        do throws(ConnectivityError) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): try exchange.collector.received(head)
            case .body(let piece): try exchange.collector.received(piece)
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
        // A request that was answered before it was through has left the connection in a state nobody knows.
        guard exchange.collector.keepsAlive, exchange.endIsOut else {
            self.owner?.connection(self.id, answered: response, isKept: false)
            return self.end(ConnectivityError(.connectionLost, message: "the server closes the connection"))
        }
        // One second of the server's time for the way: a request must not meet a connection that is being closed.
        let limit = min(self.idleTimeout, (exchange.collector.keepAliveTimeout ?? self.idleTimeout) - .seconds(1))
        guard limit > .zero || exchange.collector.keepAliveTimeout == nil else {
            self.owner?.connection(self.id, answered: response, isKept: false)
            return self.end(ConnectivityError(.connectionLost, message: "the server keeps no connection"))
        }
        self.idleLimit = limit
        self.owner?.connection(self.id, answered: response, isKept: true)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end(ConnectivityError(.connectionLost, message: "the server ended the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPParserError, is NIOHTTPDecoderError:
            self.end(ConnectivityError(.httpProtocol, message: "the server's answer is no HTTP", cause: error))
        default:
            self.end(ConnectivityError(.connectionLost, message: "the connection failed", cause: error))
        }
    }
}

@available(*, unavailable)
extension HTTPConnectionHandler: Sendable {}
