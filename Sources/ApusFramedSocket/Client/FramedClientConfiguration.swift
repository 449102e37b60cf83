public import ApusConnectivity
public import ApusFramedProtocol

/// The configuration of a client connection.
public struct FramedClientConfiguration: Sendable {
    /// The configuration of the open connection.
    public var connection: FramedConnectionConfiguration

    /// The TLS settings. Default: `nil`, no TLS. The connection is then neither confidential nor
    /// protected against modification.
    public var tls: TLSSettings?

    /// The proxy to connect through. Default: none. `ProxySettings.environment` uses the
    /// environment variables.
    public var proxy: ProxySettings = .none

    /// The local IP address to connect from, without a port. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// The timeout for name resolution, connection and proxy together. Default: 10 seconds, as in
    /// SocketDemo.
    public var connectTimeout: Duration = .seconds(10)

    /// The timeout of the TLS handshake. Default: 10 seconds.
    public var tlsTimeout: Duration = .seconds(10)

    /// Whether `FramedClient.withReconnection` waits while this machine has no network, and
    /// reconnects immediately when a network returns or changes. Default: `true`.
    public var watchesNetwork: Bool = true

    /// The monitor that reports network changes.
    var networkMonitor = NetworkPathMonitor.shared

    /// Creates a configuration with default values and the given framing.
    ///
    /// - Parameters:
    ///   - framing: The wire format, which must match the server's framing. Default: version 2.
    ///   - tls: The TLS settings; `nil` disables TLS.
    public init(framing: Framing = .version2, tls: TLSSettings? = nil) {
        self.connection = FramedConnectionConfiguration(framing: framing)
        self.tls = tls
    }

    func validate() throws(FramedError) {
        try self.connection.validate(isClient: true)
        for (name, time) in [("connectTimeout", self.connectTimeout), ("tlsTimeout", self.tlsTimeout)] where time <= .zero {
            throw FramedError(.invalidConfiguration, message: "`\(name)` must be greater than 0, not \(time)")
        }
    }

    /// Returns the network that a connection depends on; `nil` for a Unix socket.
    func network(for target: Dialer.Target) -> Reconnector.Network? {
        guard self.watchesNetwork, case .host(let host, _) = target else { return nil }
        return Reconnector.Network(self.networkMonitor, host: host)
    }

    var dialer: Dialer {
        var dialer = Dialer(tls: self.tls, proxy: self.proxy)
        dialer.localAddress = self.localAddress
        dialer.connectTimeout = self.connectTimeout
        dialer.tlsTimeout = self.tlsTimeout
        return dialer
    }
}
