public import ApusConnectivity
public import ApusFramedProtocol

/// How a client opens a framed connection.
public struct FramedClientConfiguration: Sendable {
    /// How the connection behaves once it stands.
    public var connection: FramedConnectionConfiguration

    /// How the server's certificate is judged. Default: `nil`, no TLS: everybody on the way can read along and change what is sent.
    public var tls: TLSSettings?

    /// The proxy to connect through. Default: none; ``ProxySettings/environment`` does what the environment says.
    public var proxy: ProxySettings = .none

    /// The address of this machine to connect from. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// For the name, the connection and the proxy together. Default: 10 seconds, SocketDemo's.
    public var connectTimeout: Duration = .seconds(10)

    /// For the handshake of TLS. Default: 10 seconds.
    public var tlsTimeout: Duration = .seconds(10)

    /// The defaults, with a framing.
    ///
    /// - Parameters:
    ///   - framing: How messages lie on the wire: the server's choice. Default: version 2.
    ///   - tls: How the server's certificate is judged; `nil`: no TLS.
    public init(framing: Framing = .version2, tls: TLSSettings? = nil) {
        self.connection = FramedConnectionConfiguration(framing: framing)
        self.tls = tls
    }

    func validate() throws(FramedError) {
        try self.connection.validate(isClient: true)
        guard self.connectTimeout > .zero, self.tlsTimeout > .zero else { throw FramedError(.invalidUse, message: "a deadline of no time") }
    }

    var dialer: Dialer {
        var dialer = Dialer(tls: self.tls, proxy: self.proxy)
        dialer.localAddress = self.localAddress
        dialer.connectTimeout = self.connectTimeout
        dialer.tlsTimeout = self.tlsTimeout
        return dialer
    }
}
