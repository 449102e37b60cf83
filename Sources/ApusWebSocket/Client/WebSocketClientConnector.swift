package import ApusConnectivity
package import ApusWebSocketProtocol
package import NIOCore

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
        var dialer = Dialer(tls: tls)
        dialer.connectTimeout = timeout
        dialer.tlsTimeout = timeout
        return self.attempt(
            url, headers: headers, through: dialer, limits: limits, timeout: timeout, handshakeTimeout: nil, on: eventLoop
        ) { _ in delegate }.futureResult
    }

    /// As ``connect(to:headers:tls:limits:timeout:on:delegate:)-(WebSocketURL,_,_,_,_,_,_)``, but in a way of the caller's (a proxy, a Unix
    /// socket), the delegate is made when the server has agreed, and the attempt can be cancelled.
    ///
    /// - Parameters:
    ///   - dialer: How to connect, and its deadlines. Its `tls` is used for `wss` only, its `applicationProtocols` are replaced.
    ///   - target: Where to when it is not the host of the URL.
    ///   - deflate: What is offered about compression; `nil`: nothing.
    ///   - timeout: For all steps together; `nil`: only the deadlines of each step count.
    ///   - handshakeTimeout: From the connection (and TLS) to the open WebSocket; `nil`: what is left of `timeout`.
    ///   - makeDelegate: Called on the event loop.
    package static func attempt(
        _ url: WebSocketURL,
        headers: [(String, String)],
        through dialer: Dialer,
        target: Dialer.Target? = nil,
        limits: WebSocketLimits,
        deflate: WebSocketDeflateConfiguration? = nil,
        timeout: Duration? = nil,
        handshakeTimeout: Duration?,
        on eventLoop: any EventLoop,
        makeDelegate: @escaping (WebSocketOpening) -> any WebSocketHandlerDelegate
    ) -> WebSocketConnectionAttempt {
        eventLoop.preconditionInEventLoop()
        let attempt = WebSocketConnectionAttempt(
            limits: limits, handshakeTimeout: handshakeTimeout, eventLoop: eventLoop, makeDelegate: makeDelegate)
        attempt.deflate = deflate
        do throws(WebSocketError) {
            var random = SystemRandomNumberGenerator()
            let key = WebSocketHandshake.key(fromRandom: random.next(), random.next())
            let request = try WebSocketHandshake.request(to: url, headers: headers, deflate: deflate, key: key)
            if let timeout { attempt.startTimer(timeout) }
            var dialer = dialer
            dialer.tls = url.isSecure ? dialer.tls ?? .system : nil
            dialer.applicationProtocols = ["http/1.1"]  // the handshake is HTTP/1.1's
            attempt.follow(dialer.dial(target ?? .host(url.host, port: url.port), name: url.host, on: eventLoop), request: request)
        } catch {
            attempt.fail(error)
        }
        return attempt
    }
}
