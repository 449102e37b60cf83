package import NIOCore
package import NIOPosix

/// Opens connections: resolves the name, connects over TCP or a Unix socket, and performs the proxy
/// and TLS handshakes. The result is a channel that is ready for the application's handlers.
///
/// swift-nio tries the addresses of a name as described in RFC 8305 ("Happy Eyeballs").
package struct Dialer: Sendable {
    /// The destination of a connection.
    package enum Target: Sendable, Hashable {
        /// A name or an address (IPv6 without brackets), and a port.
        case host(String, port: Int)
        /// A Unix socket. Proxy settings are ignored.
        case unixSocket(path: String)
    }

    /// The settings for TLS. Default: `nil`, no TLS.
    package var tls: TLSSettings?

    /// The protocols offered with ALPN (RFC 7301), the preferred one first. Default: none.
    package var applicationProtocols: [String] = []

    /// The proxy settings. Default: no proxy.
    package var proxy: ProxySettings = .none

    /// The local IP address to connect from, without a port. Default: `nil`, the system chooses.
    package var localAddress: String?

    /// The time limit for name resolution, connection and proxy together. Default: 10 seconds.
    package var connectTimeout: Duration = .seconds(10)

    /// The time limit for the TLS handshake. Default: 10 seconds.
    package var tlsTimeout: Duration = .seconds(10)

    /// The name of the application's setting for both time limits, for error messages. Default:
    /// `nil`, which selects the names of the properties.
    package var timeoutSetting: String?

    /// The resolver of host names. Default: `nil`, which selects the system's resolver, on a
    /// separate thread.
    package var resolver: (any Resolver & Sendable)?

    /// The environment variables for ``ProxySettings/environment``. Default: the variables of the
    /// process.
    package var environment: @Sendable () -> [String: String] = ProcessEnvironment.variables

    /// Creates a dialer with the given settings and the defaults for all others.
    package init(tls: TLSSettings? = nil, applicationProtocols: [String] = [], proxy: ProxySettings = .none) {
        self.tls = tls
        self.applicationProtocols = applicationProtocols
        self.proxy = proxy
    }

    /// Starts an attempt to connect. Must be called on `eventLoop`.
    ///
    /// - Parameters:
    ///   - target: The destination.
    ///   - name: The name that TLS verifies if it differs from the target's host, for example for a
    ///     Unix socket.
    ///   - eventLoop: The event loop of the channel.
    /// - Returns: The attempt, which can be cancelled.
    package func dial(_ target: Target, name: String? = nil, on eventLoop: any EventLoop) -> DialAttempt {
        eventLoop.preconditionInEventLoop()
        let attempt = DialAttempt(dialer: self, target: target, name: name, eventLoop: eventLoop)
        attempt.start()
        return attempt
    }
}
