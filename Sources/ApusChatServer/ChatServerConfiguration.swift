/// The configuration of a chat server. The default values are safe for a single machine.
///
/// The server checks the values when it starts. An error names the invalid value and the limit.
public struct ChatServerConfiguration: Sendable {
    /// The folder of the database and of the uploads. If it does not exist, it is created with
    /// access for its owner only.
    public var dataFolder: String
    /// The name of the server, which the page and authenticators show. Default: Apus.
    public var name = "Apus"
    /// The address to listen on. Default: `127.0.0.1`.
    public var host: String
    /// The port for HTTP without TLS. Default: 3000; 0 selects a free port.
    public var port: Int
    /// Whether to listen on ``port`` without TLS. Default: `true`. If the certificate is read from
    /// files, this listener redirects the page and the GET requests of the API to HTTPS.
    public var listensWithoutTLS = true
    /// The TLS listener. Default: port 3443 with a self-signed certificate. If that port is in use,
    /// the server starts without a TLS listener.
    public var tls: TLS
    /// The reverse proxies that report the address of a client. Default: none. If a proxy on
    /// another machine is not listed, the limits by address treat all of its clients as one.
    public var proxies = Proxies.none
    /// The port for `/metrics`, `/health` and `/ready` on `127.0.0.1`; 0 selects a free port.
    /// Default: nil, which disables this listener. The metrics are in the text format of
    /// Prometheus.
    public var metricsPort: Int?
    /// A folder from which the page is served. Changed files are served without a restart. Default:
    /// nil, which serves the page that the program contains.
    public var pageFolder: String?
    /// Whether to create the accounts `alice` and `bobby` with the password `apus-demo`, and to
    /// answer the events of the page `test.html` in the namespace `/`. Use it for trials only,
    /// because the passwords are public. Default: `false`.
    public var demo = false
    /// Whether clients of Socket.IO 2.x (Engine.IO 3) can connect. Default: `false`. They can
    /// always connect if ``demo`` is true.
    public var allowsEngineIO3 = false
    /// The port for apps that use the protocol of FLSocketIM; 0 selects a free port. Default: nil,
    /// which disables this listener.
    ///
    /// It requires an open ``directory``, because these apps list all users. The apps send
    /// passwords: set ``legacyUsesTLS``, or place a proxy that terminates TLS in front of it.
    public var legacyPort: Int?
    /// Whether ``legacyPort`` uses TLS with the certificate of ``tls``. Default: `false`.
    public var legacyUsesTLS = false
    /// The condition for the creation of an account. Default: any client can create one.
    public var registration = Registration.open
    /// The users whom a search can find. Default: only the user whose name matches exactly.
    public var directory = Directory.exactNames
    /// The time after which a device is signed out if it does not renew its session. Clients renew
    /// the session while they are in use. Default: 30 days.
    public var sessionLifetime = Duration.seconds(30 * 86_400)
    /// The time for which the sender of a message can edit it; 0 prevents edits. Clients hide the
    /// action after that time. Default: 48 hours.
    public var editTime = Duration.seconds(172_800)
    /// The time for which the sender of a message can recall it. Owners and admins of a group can
    /// recall messages at any time. Default: 48 hours.
    public var recallTime = Duration.seconds(172_800)
    /// The maximum size of one upload, in bytes. Default: 100 MiB.
    public var uploadBytes: Int64 = 100 << 20
    /// The maximum size of all uploads of one user, in bytes. Default: 1 GiB.
    public var uploadQuota: Int64 = 1 << 30
    /// The location of the content of complete uploads. Default: the folder `blobs` of
    /// ``dataFolder``.
    public var blobs = Blobs.folder
    /// The maximum number of connected clients. Default: 20,000.
    public var maximumClients = 20_000
    /// The maximum number of connected clients with the same IPv4 address or in the same IPv6 /64
    /// network. Default: 1,000.
    public var maximumClientsPerAddress = 1_000
    /// A `mailto:` or `https:` URL by which the operators of push services can contact the operator
    /// of this server (RFC 8292). Default: nil. The push service of Apple refuses notifications
    /// without it.
    public var pushContact: String?
    /// Whether the server requests the pages of links in messages to show previews of them.
    /// Default: `false`, because a request reveals the address of the server to the site, and that
    /// a user has sent the link. The server does not request addresses that are not public.
    public var previewsLinks = false
    /// The servers that help the devices of a call to reach each other. Default: no servers.
    public var calls = Calls.direct
    /// Whether the rate limits of `docs/chat-limits.md` apply. Default: `true`. If `false`,
    /// ``host`` must be a loopback address. Use `false` for load tests only.
    public var hasLimits = true
    package var environment = Environment()

    /// The condition for the creation of an account.
    public enum Registration: String, Hashable, Sendable, CaseIterable {
        /// Any client can create an account.
        case open
        /// Only a client with an invitation of an operator can create an account.
        case invitation
        /// Only operators can create accounts.
        case closed
    }

    /// The users whom a search can find.
    public enum Directory: String, Hashable, Sendable, CaseIterable {
        /// Only the user whose account name matches exactly.
        case exactNames = "exact"
        /// All users, by any part of a name. Suitable for the members of one organisation.
        case open
    }

    /// The reverse proxies in front of a server.
    public struct Proxies: Hashable, Sendable {
        /// The way in which proxies report the address of a client.
        public enum Source: Hashable, Sendable {
            /// In the field `X-Forwarded-For` of each request.
            case xForwardedFor
            /// In the field `Forwarded` of each request (RFC 7239).
            case forwarded
            /// In a header of the PROXY protocol, version 1 or 2, at the start of each connection.
            /// Connections without the header, and connections of other peers, are closed.
            case proxyProtocol
        }

        /// The addresses of the proxies: IP addresses (`192.0.2.7`, `2001:db8::7`) and networks in
        /// CIDR notation (`10.0.0.0/8`).
        public var networks: [String]
        /// The way in which the proxies report the address.
        public var source: Source

        /// No proxies. The client is the peer of the connection.
        public static let none = Self(networks: [])

        /// Creates the list of trusted proxies.
        ///
        /// - Parameters:
        ///   - networks: The addresses of the proxies.
        ///   - source: The way in which the proxies report the address of a client. Default:
        ///     `X-Forwarded-For`.
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
        ///     in use. Default: `false`; the server then does not start.
        public static func selfSigned(port: Int, isOptional: Bool = false) -> Self {
            Self(value: .selfSigned(port: port, isOptional: isOptional))
        }
        /// A certificate chain and its key, which are read from PEM files.
        ///
        /// - Parameters:
        ///   - port: The port; 0 selects a free port.
        ///   - certificates: The path of the certificate chain.
        ///   - key: The path of the private key.
        public static func files(port: Int, certificates: String, key: String) -> Self {
            Self(value: .files(port: port, certificates: certificates, key: key))
        }
    }

    /// Creates a configuration. All other values have their defaults.
    ///
    /// - Parameters:
    ///   - dataFolder: The folder of the database and of the uploads. Default: `./data`.
    ///   - host: The address to listen on. Default: `127.0.0.1`.
    ///   - port: The port for HTTP without TLS. Default: 3000; 0 selects a free port.
    ///   - tls: The TLS listener. Default: port 3443 with a self-signed certificate. If that port
    ///     is in use, the server starts without a TLS listener.
    public init(
        dataFolder: String = "./data", host: String = "127.0.0.1", port: Int = 3000, tls: TLS = .selfSigned(port: 3443, isOptional: true)
    ) {
        self.dataFolder = dataFolder
        self.host = host
        self.port = port
        self.tls = tls
    }
}
