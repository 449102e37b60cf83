import NIOCore

/// The action after bytes were received from a proxy.
package enum ProxyAction: Equatable {
    /// Wait: the response is incomplete.
    case waitForMore
    /// Send these bytes, and continue with the rest of the buffer.
    case send([UInt8])
    /// The proxy has connected to the server. The rest of the buffer belongs to the server.
    case connected
    case fail(ConnectivityError)
}

/// The handshake with an HTTP or a SOCKS 5 proxy.
enum ProxyHandshake {
    case httpConnect(HTTPConnectStateMachine)
    case socks5(SOCKS5StateMachine)

    init(_ proxy: ProxySettings.Proxy, host: String, port: Int) throws(ConnectivityError) {
        switch proxy.kind {
        case .httpConnect: self = .httpConnect(try HTTPConnectStateMachine(host: host, port: port, credentials: proxy.credentials))
        case .socks5: self = .socks5(try SOCKS5StateMachine(host: host, port: port, credentials: proxy.credentials))
        }
    }

    mutating func start() -> [UInt8] {
        switch self {
        case .httpConnect(let machine): return machine.start()
        case .socks5(var machine):
            defer { self = .socks5(machine) }
            return machine.start()
        }
    }

    mutating func receivedBytes(_ bytes: inout ByteBuffer) -> ProxyAction {
        switch self {
        case .httpConnect(var machine):
            defer { self = .httpConnect(machine) }
            return machine.receivedBytes(&bytes)
        case .socks5(var machine):
            defer { self = .socks5(machine) }
            return machine.receivedBytes(&bytes)
        }
    }
}

/// Performs the handshake with a proxy on a connected channel, then removes itself.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: ProxyHandshake
    private var received = ByteBuffer()
    private var completion: ((Result<Void, ConnectivityError>) -> Void)?

    /// - Parameter completion: Called once on the event loop, after the handler was removed. Not
    ///   called if the transport closes or fails; that event passes through the pipeline.
    init(_ handshake: ProxyHandshake, completion: @escaping (Result<Void, ConnectivityError>) -> Void) {
        self.handshake = handshake
        self.completion = completion
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: self.handshake.start())), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.completion = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.received.writeImmutableBuffer(self.unwrapInboundIn(data))
        while self.completion != nil {
            switch self.handshake.receivedBytes(&self.received) {
            case .waitForMore: return
            case .send(let bytes): context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .connected: self.finish(.success(()), context: context)
            case .fail(let error): self.finish(.failure(error), context: context)
            }
        }
    }

    private func finish(_ result: Result<Void, ConnectivityError>, context: ChannelHandlerContext) {
        let completion = self.completion
        self.completion = nil
        let rest = self.received
        if case .success = result, rest.readableBytes > 0 { context.fireChannelRead(self.wrapInboundOut(rest)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        completion?(result)
    }
}

@available(*, unavailable)
extension ProxyHandler: Sendable {}
