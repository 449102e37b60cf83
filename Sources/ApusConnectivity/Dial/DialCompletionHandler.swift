import NIOCore
import NIOSSL
import NIOTLS

/// The end of the pipeline while a connection is made: hears of TLS and of failures, and keeps what comes too soon.
final class DialCompletionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What may come before the application's handlers are there. One read is usual.
    private static let maximumBytes = 1 << 20

    /// `nil` from the attempt's end on.
    var attempt: DialAttempt?
    private var held: [ByteBuffer] = []
    private var heldBytes = 0
    private var tls: (handler: NIOSSLClientHandler, check: TLSPeerCheck)?

    init(attempt: DialAttempt) {
        self.attempt = attempt
    }

    var holdsNothing: Bool { self.held.isEmpty }

    func expectsTLS(_ handler: NIOSSLClientHandler, _ check: TLSPeerCheck) {
        self.tls = (handler, check)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.heldBytes += bytes.readableBytes
        guard self.heldBytes <= Self.maximumBytes else {
            self.attempt?.fail(ConnectivityError(.proxyProtocol, message: "too many bytes came before the connection stood"))
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
            attempt.fail(ConnectivityError(.connectionLost, message: "the connection failed", cause: error))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.attempt?.fail(ConnectivityError(.connectionLost, message: "the connection ended before it was ready"))
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
