package import ApusSocketIOServer

/// Configures a chat server. The defaults are safe for a single machine.
///
/// The server checks the values when it starts. An error says which value is wrong, and the limit.
public struct ChatServerConfiguration: Sendable {
    /// The folder of the database and the uploads. It is created if it does not exist, with access
    /// for its owner only.
    public var dataFolder: String
    /// The name of the server, which the page and authenticators show. Default: Apus.
    public var name = "Apus"
    /// The address to listen on. Default: `127.0.0.1`.
    public var host: String
    /// The port for HTTP without TLS. Default: 3000; 0 selects a free port.
    public var port: Int
    /// Whether to listen on ``port`` without TLS. Default: yes. With a certificate from files, that
    /// listener redirects the page and the GET requests of the API to HTTPS.
    public var listensWithoutTLS = true
    /// The TLS listener. Default: port 3443 with a self-signed certificate, unless the port is in
    /// use.
    public var tls: TLS
    /// The reverse proxies that tell the server the address of a client. Default: none. Limits by
    /// address then count all clients of a proxy on another machine as one.
    public var proxies = Proxies.none
    /// The port of ``host`` `127.0.0.1` for `/metrics`, `/health` and `/ready`; 0 selects a free
    /// port. Default: nil, no such listener. The metrics are in the text format of Prometheus.
    public var metricsPort: Int?
    /// A folder to serve the page from. Changed files are served without a restart. Default: nil,
    /// the page inside the program.
    public var pageFolder: String?
    /// Whether to create the accounts `alice` and `bobby` (password `apus-demo`), and to answer the
    /// events of the page `test.html` in the namespace `/`. For trials: the passwords are known.
    /// Default: no.
    public var demo = false
    /// Whether clients of Socket.IO 2.x (Engine.IO 3) can connect. Default: no; they always can
    /// when ``demo`` is true.
    public var allowsEngineIO3 = false
    /// Whether users can create accounts. Default: yes.
    public var registration = Registration.open
    /// Which users a search finds. Default: those whose exact name is given.
    public var directory = Directory.exactNames
    /// The time without a connection after which a device is signed out. Default: 30 days.
    public var sessionLifetime = Duration.seconds(30 * 86_400)
    /// The maximum size of one upload, in bytes. Default: 100 MiB.
    public var uploadBytes: Int64 = 100 << 20
    /// The maximum size of all uploads of one user, in bytes. Default: 1 GiB.
    public var uploadQuota: Int64 = 1 << 30
    /// The maximum number of connected clients. Default: 20,000.
    public var maximumClients = 20_000
    /// The maximum number of connected clients of one IPv4 address or IPv6 /64 network. Default:
    /// 1,000.
    public var maximumClientsPerAddress = 1_000
    /// A `mailto:` or `https:` URL by which operators of push services reach the operator of this
    /// server (RFC 8292). Default: nil; the push service of Apple then refuses notifications.
    public var pushContact: String?
    /// Networks to which the server connects for clients although they are not public, for tests.
    package var outgoingNetworks: [String] = []
    /// PEM certificates of authorities that push services may have, for tests.
    package var outgoingAuthorities: String?
    /// Whether the budgets of `docs/chat-limits.md` apply. Default: yes. A server without them
    /// listens on loopback addresses only; it is for load tests.
    public var hasLimits = true
    /// The cost of hashing a password, for tests; nil for the default.
    package var passwordCost: ScryptHash.Cost?
    /// The clocks, which tests replace.
    package var clock = SystemClock.machine

    /// Whether users can create accounts.
    public enum Registration: String, Hashable, Sendable, CaseIterable {
        /// Yes.
        case open
        /// With an invitation of an operator.
        case invitation
        /// No. Operators create accounts.
        case closed
    }

    /// Which users a search finds.
    public enum Directory: String, Hashable, Sendable, CaseIterable {
        /// The user whose exact account name is given.
        case exactNames = "exact"
        /// Every user, by any part of a name. For the members of one organisation.
        case open
    }

    /// The reverse proxies in front of a server.
    public struct Proxies: Hashable, Sendable {
        /// How the proxies tell the address of a client.
        public enum Source: Hashable, Sendable {
            /// By the field `X-Forwarded-For` of each request.
            case xForwardedFor
            /// By the field `Forwarded` of each request (RFC 7239).
            case forwarded
            /// By a header of the PROXY protocol, version 1 or 2, at the start of each connection.
            /// Connections without it, and those of other peers, are closed.
            case proxyProtocol
        }

        /// IP addresses (`192.0.2.7`, `2001:db8::7`) and networks in CIDR notation (`10.0.0.0/8`).
        public var networks: [String]
        /// How all of them tell the address.
        public var source: Source

        /// No proxy: the client is the peer of the connection.
        public static let none = Self(networks: [])

        /// Creates the list of trusted proxies.
        public init(networks: [String], source: Source = .xForwardedFor) {
            self.networks = networks
            self.source = source
        }
    }

    /// The TLS listener of a server.
    public struct TLS: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case off
            case selfSigned(port: Int, isOptional: Bool)
            case files(port: Int, certificates: String, key: String)
        }
        let value: Value
        /// No TLS, for a server behind a proxy that terminates TLS, or for tests.
        public static let off = Self(value: .off)
        /// A self-signed certificate, created at each start. Browsers show a warning, so it is
        /// suitable for trials only.
        ///
        /// - Parameters:
        ///   - port: The port; 0 selects a free port.
        ///   - isOptional: Whether the server starts without TLS and logs a warning if the port is
        ///     in use. Default: no; the server does not start.
        public static func selfSigned(port: Int, isOptional: Bool = false) -> Self {
            Self(value: .selfSigned(port: port, isOptional: isOptional))
        }
        /// A certificate chain and its key, both in PEM files.
        public static func files(port: Int, certificates: String, key: String) -> Self {
            Self(value: .files(port: port, certificates: certificates, key: key))
        }
    }

    /// Creates a configuration.
    public init(
        dataFolder: String = "./data", host: String = "127.0.0.1", port: Int = 3000, tls: TLS = .selfSigned(port: 3443, isOptional: true)
    ) {
        self.dataFolder = dataFolder
        self.host = host
        self.port = port
        self.tls = tls
    }
}
