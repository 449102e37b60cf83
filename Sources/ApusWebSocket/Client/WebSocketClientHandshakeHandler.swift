import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Sends the request of the opening handshake and checks the response.
final class WebSocketClientHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The maximum number of bytes of a refusal's body that are stored.
    private static let maximumRefusalBytes = 16 << 10

    private let attempt: WebSocketConnectionAttempt
    private let request: HTTPRequest
    /// The response, if its status is not 101.
    private var refusal: WebSocketError.Refusal?
    private let deflate: WebSocketDeflateConfiguration?
    private let limits: WebSocketLimits
    /// The 101 response after a successful check, and the negotiated settings.
    private var agreement: (response: HTTPResponse, WebSocketAgreement)?

    init(
        attempt: WebSocketConnectionAttempt, request: HTTPRequest, deflate: WebSocketDeflateConfiguration? = nil,
        limits: WebSocketLimits = WebSocketLimits()
    ) {
        self.attempt = attempt
        self.request = request
        self.deflate = deflate
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // The connection is open; TLS holds the request until the certificate is verified.
        context.write(self.wrapOutboundOut(.head(HTTPRequestHead(self.request))), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.attempt.hasEnded else { return }
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.receivedHead(head)
        case .body(let bytes):
            guard self.refusal != nil else { return }
            let room = Self.maximumRefusalBytes - (self.refusal?.body.count ?? 0)
            self.refusal?.body += bytes.readableBytesView.prefix(room)
            if bytes.readableBytes >= room {
                self.refuse()  // the rest of the body is not needed
            }
        case .end:
            if let (response, agreement) = self.agreement {
                self.attempt.agreed(response, agreement, in: context.pipeline.syncOperations, handshake: self)
            } else {
                self.refuse()
            }
        }
    }

    private func receivedHead(_ head: HTTPResponseHead) {
        guard head.status.code == 101 else {
            // Omits fields that are not valid: the response is kept for the application's
            // information only.
            let response = HTTPResponse(head)
            self.refusal = WebSocketError.Refusal(
                status: Int(head.status.code), headers: response?.headerFields ?? HTTPFields(), body: [])
            return
        }
        do {
            guard let response = HTTPResponse(head) else {
                throw WebSocketError(.malformedHandshake, message: "the status of the response has more than three digits")
            }
            let agreement = try WebSocketHandshake.check(response, to: self.request, deflate: self.deflate, limits: self.limits)
            self.agreement = (response, agreement)
        } catch {
            self.attempt.fail(
                error as? WebSocketError
                    ?? WebSocketError(.malformedHandshake, message: "the response is not a valid handshake response", cause: error))
        }
    }

    private func refuse() {
        guard let refusal = self.refusal else { return }
        self.attempt.fail(
            WebSocketError(.connectionRefused, message: "the server answered \(refusal.status), not 101", refusal: refusal))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.refuse()  // the end of the connection may delimit the body
        self.attempt.fail(WebSocketError(.connectionLost, message: "the connection closed before the handshake response was complete"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.refuse()
        let code: WebSocketError.Code = error is HTTPParserError ? .malformedHandshake : .transport
        self.attempt.fail(WebSocketError(code, message: "the handshake failed", cause: error))
    }
}
