/// The proxy through which a client connects to servers, if any.
///
/// The proxy receives the server's name and resolves it. TLS is negotiated with the server through
/// the proxy. With TLS, the proxy can read only the server's name and port; without TLS, it can
/// read all data.
public struct ProxySettings: Sendable, Hashable, CustomStringConvertible {
    /// A user name and password for a proxy.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The user name.
        public var username: String
        /// The password.
        public var password: String

        /// Creates credentials from a user name and a password.
        ///
        /// - Parameters:
        ///   - username: The user name.
        ///   - password: The password.
        public init(username: String, password: String) {
            self.username = username
            self.password = password
        }

        /// The user name, without the password.
        public var description: String { "\(self.username):…" }
    }

    /// A proxy's protocol, address and credentials.
    package struct Proxy: Sendable, Hashable {
        package enum Kind: Sendable, Hashable { case httpConnect, socks5 }
        package var kind: Kind
        package var host: String
        package var port: Int
        package var credentials: Credentials?
    }

    private enum Choice: Hashable { case none, environment, proxy(Proxy) }

    private let choice: Choice

    private init(choice: Choice) {
        self.choice = choice
    }

    /// No proxy, regardless of the environment.
    public static let none = Self(choice: .none)

    /// The proxy in `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, read for every
    /// connection.
    ///
    /// Interprets the variables as curl and Go do. Lower-case names take precedence. `HTTP_PROXY`
    /// in upper case is ignored in a CGI process, where a request could set it. Loopback addresses
    /// and `localhost` never use a proxy. A malformed variable is an error, not a direct
    /// connection.
    public static let environment = Self(choice: .environment)

    /// Returns an HTTP proxy with `CONNECT` (RFC 9110 section 9.3.6). Credentials are sent as
    /// Basic, unencrypted.
    ///
    /// - Parameters:
    ///   - host: The name or address of the proxy.
    ///   - port: The port of the proxy.
    ///   - credentials: The user name and password, if the proxy requires them.
    public static func httpConnect(host: String, port: Int, credentials: Credentials? = nil) -> Self {
        Self(choice: .proxy(Proxy(kind: .httpConnect, host: host, port: port, credentials: credentials)))
    }

    /// Returns a SOCKS proxy of version 5 (RFC 1928). Credentials are sent unencrypted (RFC 1929).
    ///
    /// - Parameters:
    ///   - host: The name or address of the proxy.
    ///   - port: The port of the proxy.
    ///   - credentials: The user name and password, if the proxy requires them.
    public static func socks5(host: String, port: Int, credentials: Credentials? = nil) -> Self {
        Self(choice: .proxy(Proxy(kind: .socks5, host: host, port: port, credentials: credentials)))
    }

    /// Parses a proxy URL: `http://user:password@host:port`, `socks5://…` or `socks5h://…`.
    ///
    /// `socks5` and `socks5h` are equivalent. The default scheme is `http`. The default port is 80,
    /// or 1080 for SOCKS.
    ///
    /// - Throws: ``ConnectivityError/Code/invalidConfiguration`` if the URL is malformed.
    public init(url: String) throws(ConnectivityError) {
        self.choice = .proxy(try Proxy(url: url))
    }

    /// Returns the proxy for a server, if any.
    ///
    /// - Parameters:
    ///   - host: The server's name or address.
    ///   - port: The server's port.
    ///   - isSecure: Whether the connection to the server uses TLS.
    ///   - environment: The environment variables. Evaluated only for ``environment``.
    package func proxy(
        forHost host: String, port: Int, isSecure: Bool, environment: @autoclosure () -> [String: String]
    ) throws(ConnectivityError) -> Proxy? {
        switch self.choice {
        case .none: nil
        case .proxy(let proxy): proxy
        case .environment: try ProxyEnvironment(environment()).proxy(forHost: host, port: port, isSecure: isSecure)
        }
    }

    /// The proxy, without the password.
    public var description: String {
        switch self.choice {
        case .none: "none"
        case .environment: "environment"
        case .proxy(let proxy):
            "\(proxy.kind == .socks5 ? "socks5" : "http")://\(proxy.credentials.map { "\($0)@" } ?? "")\(proxy.host):\(proxy.port)"
        }
    }
}
