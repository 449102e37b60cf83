import ApusConnectivity
import Logging
import NIOCore

/// The client of a proxied connection. Two handlers of the connection share this object.
///
/// Confined to the event loop of the connection.
final class ProxiedClient {
    var address: IPAddress?
}

/// Reads the PROXY header at the start of a connection and removes itself. Closes a connection that
/// does not begin with the header.
///
/// The header precedes TLS, so this is the first handler of the connection.
final class ProxyProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let client: ProxiedClient
    private let logger: Logger
    private var received = ByteBuffer()
    private var isClosed = false

    init(client: ProxiedClient, logger: Logger) {
        self.client = client
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isClosed else { return }
        self.received.writeImmutableBuffer(self.unwrapInboundIn(data))
        switch ProxyProtocolHeader.read(self.received.readableBytesView) {
        case .incomplete: break
        case .invalid(let reason):
            self.isClosed = true
            self.logger.debug(
                "Connection refused", metadata: ["reason": "\(reason)", "peer": "\(String(describing: context.remoteAddress))"])
            context.close(promise: nil)
        case .header(let header, let length):
            self.client.address = header.client
            self.received.moveReaderIndex(forwardBy: length)
            let rest = self.received
            self.received = ByteBuffer()
            if rest.readableBytes > 0 { context.fireChannelRead(self.wrapInboundOut(rest)) }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }
}

@available(*, unavailable)
extension ProxyProtocolHandler: Sendable {}
