package import ApusConnectivity
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore

/// Opens WebSockets: name resolution, connection, TLS and handshake.
package enum WebSocketClientConnector {
    /// Starts an attempt to connect to `url`. Must be called on `eventLoop`, on which the handler
    /// and the delegate are used.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - headers: Additional fields of the request.
    ///   - dialer: The settings of the connection, with its deadlines. `tls` applies to `wss` only;
    ///     its `applicationProtocols` are replaced.
    ///   - target: The address to connect to, if it is not the host of the URL.
    ///   - deflate: The compression to offer; `nil` for none.
    ///   - limits: The limits of the connection.
    ///   - timeout: The maximum time for all steps, until `handshakeTimeout` replaces it. Received
    ///     bytes do not extend it. `nil` for no limit besides the deadlines of the steps.
    ///   - handshakeTimeout: The time from the end of the TLS handshake, or of the connection
    ///     without TLS, to the open WebSocket; `nil` for no limit besides `timeout`.
    ///   - eventLoop: The event loop of the connection.
    ///   - makeDelegate: A closure that creates the delegate after a successful handshake, on the
    ///     event loop.
    /// - Returns: The attempt, which can be cancelled and ends as described in
    ///   ``WebSocketConnectionAttempt/futureResult``. A response with a status other than 101 fails
    ///   the attempt with `WebSocketError.Code.connectionRefused`, the status and the beginning of
    ///   the body.
    package static func attempt(
        _ url: WebSocketURL,
        headers: HTTPFields,
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
            dialer.applicationProtocols = ["http/1.1"]  // the handshake requires HTTP/1.1
            attempt.follow(dialer.dial(target ?? .host(url.host, port: url.port), name: url.host, on: eventLoop), request: request)
        } catch {
            attempt.fail(error)
        }
        return attempt
    }
}
