/// The way a client takes to a server: straight, or through a proxy.
///
/// A proxy is told the server's name and looks it up itself; TLS is made through it with the server, so the proxy sees no more than the name.
public struct ProxySettings: Sendable, Hashable, CustomStringConvertible {
    /// What a proxy asks for before it connects.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The user's name.
        public var username: String
        /// The password.
        public var password: String

        /// A name and a password.
        public init(username: String, password: String) {
            self.username = username
            self.password = password
        }

        /// Says nothing of the password.
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

    /// Straight to the server, whatever the environment says.
    public static let none = Self(choice: .none)

    /// What `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say, looked at for every connection.
    ///
    /// As curl and Go read them: lower case first; `HTTP_PROXY` in capitals not in a CGI process, where a request could set it; the
    /// loopback addresses and `localhost` never through a proxy. A variable that cannot be understood is an error and not a
    /// straight connection.
    public static let environment = Self(choice: .environment)

    /// An HTTP proxy that knows `CONNECT` (RFC 9110 9.3.6); the credentials are sent as Basic, in the clear.
    public static func httpConnect(host: String, port: Int, credentials: Credentials? = nil) -> Self {
        Self(choice: .proxy(Proxy(kind: .httpConnect, host: host, port: port, credentials: credentials)))
    }

    /// A SOCKS proxy of version 5 (RFC 1928); the credentials are sent in the clear (RFC 1929).
    public static func socks5(host: String, port: Int, credentials: Credentials? = nil) -> Self {
        Self(choice: .proxy(Proxy(kind: .socks5, host: host, port: port, credentials: credentials)))
    }

    /// A proxy's URL: `http://user:password@host:port`, `socks5://…` or `socks5h://…` (the same here); without a scheme `http`.
    ///
    /// - Throws: ``ConnectivityError/Code/invalidSettings``.
    public init(url: String) throws(ConnectivityError) {
        self.choice = .proxy(try Proxy(url: url))
    }

    /// The proxy for a server, if there is one.
    ///
    /// - Parameters:
    ///   - host: The server's name or address.
    ///   - port: The server's port.
    ///   - isSecure: Whether TLS is spoken with the server.
    ///   - environment: The variables; only ``environment`` looks at them.
    package func proxy(
        forHost host: String, port: Int, isSecure: Bool, environment: @autoclosure () -> [String: String]
    ) throws(ConnectivityError) -> Proxy? {
        switch self.choice {
        case .none: nil
        case .proxy(let proxy): proxy
        case .environment: try ProxyEnvironment(environment()).proxy(forHost: host, port: port, isSecure: isSecure)
        }
    }

    /// The choice, without a password.
    public var description: String {
        switch self.choice {
        case .none: "none"
        case .environment: "environment"
        case .proxy(let proxy):
            "\(proxy.kind == .socks5 ? "socks5" : "http")://\(proxy.credentials.map { "\($0)@" } ?? "")\(proxy.host):\(proxy.port)"
        }
    }
}
