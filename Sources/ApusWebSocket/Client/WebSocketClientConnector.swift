package import ApusConnectivity
package import ApusWebSocketProtocol
package import NIOCore

/// Opens WebSockets: name, connection, TLS and handshake under one deadline.
package enum WebSocketClientConnector {
    /// Connects to `url`. Call it on `eventLoop`, where the handler and the delegate live from then on.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - headers: Fields of the request beside the handshake's own.
    ///   - dialer: How to connect, and its deadlines. Its `tls` is used for `wss` only, its `applicationProtocols` are replaced.
    ///   - target: Where to when it is not the host of the URL.
    ///   - deflate: What is offered about compression; `nil`: nothing.
    ///   - limits: The bounds of the connection.
    ///   - timeout: For all steps together, no byte of the peer prolongs it; `nil`: only the deadlines of each step count.
    ///   - handshakeTimeout: From the connection (and TLS) to the open WebSocket; `nil`: what is left of `timeout`.
    ///   - eventLoop: The loop of the connection.
    ///   - makeDelegate: Called on the event loop when the server has agreed.
    /// - Returns: What can be cancelled, and ends in the open WebSocket or a ``WebSocketError``. A server's other answer than 101 is
    ///   ``WebSocketError/Code/connectionRefused`` with its status and the beginning of its body.
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
