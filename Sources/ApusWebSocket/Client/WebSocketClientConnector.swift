package import ApusConnectivity
package import ApusWebSocketProtocol
package import NIOCore
import NIOPosix

/// Opens WebSockets: name, connection, TLS and handshake under one deadline.
package struct WebSocketClientConnector {
    /// Connects to `url`; see ``connect(to:headers:tls:limits:timeout:on:delegate:)-(WebSocketURL,_,_,_,_,_,_)``.
    package static func connect(
        to url: String,
        headers: [(String, String)] = [],
        tls: TLSSettings = .system,
        limits: WebSocketLimits = WebSocketLimits(),
        timeout: Duration,
        on eventLoop: any EventLoop,
        delegate: any WebSocketHandlerDelegate
    ) -> EventLoopFuture<WebSocketHandler> {
        do throws(WebSocketError) {
            let url = try WebSocketURL(url)
            return self.connect(to: url, headers: headers, tls: tls, limits: limits, timeout: timeout, on: eventLoop, delegate: delegate)
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
    }

    /// Connects to `url`. Call it on `eventLoop`, where the handler and the delegate live from then on.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - headers: Fields of the request beside the handshake's own.
    ///   - tls: How the certificate of a `wss` server is judged.
    ///   - limits: The bounds of the connection.
    ///   - timeout: For all steps together; no byte of the peer prolongs it.
    ///   - eventLoop: The loop of the connection.
    ///   - delegate: Hears of messages after the future has succeeded, and of nothing when it fails.
    /// - Returns: The open WebSocket, or a ``WebSocketError``. A server's other answer than 101 is
    ///   ``WebSocketError/Code/connectionRefused`` with its status and the beginning of its body.
    package static func connect(
        to url: WebSocketURL,
        headers: [(String, String)] = [],
        tls: TLSSettings = .system,
        limits: WebSocketLimits = WebSocketLimits(),
        timeout: Duration,
        on eventLoop: any EventLoop,
        delegate: any WebSocketHandlerDelegate
    ) -> EventLoopFuture<WebSocketHandler> {
        self.attempt(
            url, headers: headers, tls: tls, limits: limits, connectTimeout: timeout, handshakeTimeout: nil, on: eventLoop
        ) { _ in delegate }.futureResult
    }

    /// As ``connect(to:headers:tls:limits:timeout:on:delegate:)-(WebSocketURL,_,_,_,_,_,_)``, but the delegate is made when the server
    /// has agreed, there are two deadlines, and the attempt can be cancelled.
    ///
    /// - Parameters:
    ///   - deflate: What is offered about compression; `nil`: nothing.
    ///   - connectTimeout: Until the connection stands.
    ///   - handshakeTimeout: From there to the open WebSocket; `nil`: `connectTimeout` is for all steps together.
    ///   - makeDelegate: Called on the event loop.
    package static func attempt(
        _ url: WebSocketURL,
        headers: [(String, String)],
        tls: TLSSettings,
        limits: WebSocketLimits,
        deflate: WebSocketDeflateConfiguration? = nil,
        connectTimeout: Duration,
        handshakeTimeout: Duration?,
        on eventLoop: any EventLoop,
        makeDelegate: @escaping (WebSocketOpening) -> any WebSocketHandlerDelegate
    ) -> WebSocketConnectionAttempt {
        eventLoop.preconditionInEventLoop()
        let attempt = WebSocketConnectionAttempt(
            limits: limits, handshakeTimeout: handshakeTimeout, eventLoop: eventLoop, makeDelegate: makeDelegate)
        attempt.deflate = deflate
        do {
            var random = SystemRandomNumberGenerator()
            let key = WebSocketHandshake.key(fromRandom: random.next(), random.next())
            let request = try WebSocketHandshake.request(to: url, headers: headers, deflate: deflate, key: key)
            let security = url.isSecure ? try WebSocketClientTLS(settings: tls, host: url.host) : nil
            attempt.startTimer(connectTimeout)
            // The pipeline is filled once the connection stands: of several addresses tried at a time only one wins.
            ClientBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(connectTimeout))
                .channelOption(.socketOption(.tcp_nodelay), value: 1)
                .connect(host: url.host, port: url.port)
                .assumeIsolated()
                .whenComplete { attempt.connected($0, request: request, security: security) }
        } catch {
            attempt.fail(error as? WebSocketError ?? WebSocketError(.transport, message: "TLS could not be set up", cause: error))
        }
        return attempt
    }
}
