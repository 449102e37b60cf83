package import NIOCore
package import NIOPosix

/// Opens connections: name, TCP or a Unix socket, the proxy, TLS. What comes out is a channel that is ready for the application's handlers.
///
/// Several addresses of one name are tried as RFC 8305 says ("happy eyeballs"), which swift-nio does.
package struct Dialer: Sendable {
    /// Where to.
    package enum Target: Sendable, Hashable {
        /// A name or an address (IPv6 without brackets), and a port.
        case host(String, port: Int)
        /// A Unix socket. No proxy leads there.
        case unixSocket(path: String)
    }

    /// How TLS is made once the connection stands. Default: `nil`, no TLS.
    package var tls: TLSSettings?

    /// What is offered with ALPN, the best first. Default: nothing.
    package var applicationProtocols: [String] = []

    /// The way. Default: straight.
    package var proxy: ProxySettings = .none

    /// The address of this machine to connect from, without a port. Default: `nil`, the system's choice.
    package var localAddress: String?

    /// For the name, the connection and the proxy together. Default: 10 seconds.
    package var connectTimeout: Duration = .seconds(10)

    /// For the handshake of TLS. Default: 10 seconds.
    package var tlsTimeout: Duration = .seconds(10)

    /// Looks names up. Default: `nil`, the system does, on a thread of its own.
    package var resolver: (any Resolver & Sendable)?

    /// The environment's variables for ``ProxySettings/environment``. Default: those of the process.
    package var environment: @Sendable () -> [String: String] = ProcessEnvironment.variables

    /// A dialer with the defaults.
    package init(tls: TLSSettings? = nil, applicationProtocols: [String] = [], proxy: ProxySettings = .none) {
        self.tls = tls
        self.applicationProtocols = applicationProtocols
        self.proxy = proxy
    }

    /// Starts to connect. Call it on `eventLoop`.
    ///
    /// - Parameters:
    ///   - target: Where to.
    ///   - name: The name that TLS verifies when it is not that of the target, for a Unix socket for instance.
    ///   - eventLoop: The loop of the channel.
    /// - Returns: The attempt, which can be cancelled.
    package func dial(_ target: Target, name: String? = nil, on eventLoop: any EventLoop) -> DialAttempt {
        eventLoop.preconditionInEventLoop()
        let attempt = DialAttempt(dialer: self, target: target, name: name, eventLoop: eventLoop)
        attempt.start()
        return attempt
    }
}
