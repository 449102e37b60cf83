import NIOCore
import NIOSSL
import NIOTLS

/// The last handler of the pipeline while a connection is being established. Observes TLS events
/// and errors, and buffers bytes that arrive early.
final class DialCompletionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The maximum number of bytes buffered before the application adds its handlers. The buffer
    /// usually contains the bytes of one read.
    private static let maximumBytes = 1 << 20

    /// The attempt; `nil` after it has ended.
    var attempt: DialAttempt?
    private var held: [ByteBuffer] = []
    private var heldBytes = 0
    private var tls: (handler: NIOSSLClientHandler, check: TLSPeerCheck)?

    init(attempt: DialAttempt) {
        self.attempt = attempt
    }

    var isBufferEmpty: Bool { self.held.isEmpty }

    func expectsTLS(_ handler: NIOSSLClientHandler, _ check: TLSPeerCheck) {
        self.tls = (handler, check)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.heldBytes += bytes.readableBytes
        guard self.heldBytes <= Self.maximumBytes else {
            self.attempt?.fail(
                ConnectivityError(.proxyProtocol, message: "more than \(Self.maximumBytes) bytes arrived before the connection was ready"))
            return
        }
        self.held.append(bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if self.held.isEmpty { context.fireChannelReadComplete() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let attempt = self.attempt, let tls = self.tls, case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        do throws(ConnectivityError) {
            try tls.check.handshakeCompleted(tls.handler.peerCertificate)
            attempt.finish()
        } catch {
            attempt.fail(error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let attempt = self.attempt else { return context.fireErrorCaught(error) }
        if let tls = self.tls {
            attempt.fail(tls.check.diagnose(error, certificate: tls.handler.peerCertificate))
        } else {
            attempt.fail(ConnectivityError(.connectionLost, message: "the connection failed before it was ready", cause: error))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.attempt?.fail(ConnectivityError(.connectionLost, message: "the connection closed before it was ready"))
        context.fireChannelInactive()
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let held = self.held
        self.held = []
        for bytes in held { context.fireChannelRead(self.wrapInboundOut(bytes)) }
        if !held.isEmpty { context.fireChannelReadComplete() }
        self.tls = nil
        context.leavePipeline(removalToken: removalToken)
    }
}

@available(*, unavailable)
extension DialCompletionHandler: Sendable {}
