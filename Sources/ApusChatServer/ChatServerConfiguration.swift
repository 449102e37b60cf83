public import ApusWebSocket

/// Configures a chat server. The defaults are safe for a single machine.
public struct ChatServerConfiguration: Sendable {
    /// The folder of the database and the blobs. It is created if it does not exist, with access
    /// for its owner only.
    public var dataDirectory: String
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
    /// Whether Socket.IO 2.x clients (Engine.IO 3) may connect. Default: no. Such clients may
    /// always connect when `demo` is true.
    public var allowsEngineIO3 = false
    /// Whether to create the demo accounts, and the demo events on the namespace `/`. Default: no.
    public var demo: Bool
    /// A folder to serve the page from during its development: changed files are served without a
    /// restart. Default: nil, which serves the files embedded in the binary.
    public var pageFolder: String?
    /// The reverse proxies whose header field with the client's address the server reads. Default:
    /// none. Limits by address then count all clients of a proxy on another machine as one.
    public var trustedProxies = TrustedProxies.none
    /// The maximum number of connections of one user to `/chat`. Default: 40.
    ///
    /// Further connections are refused with `too_many`. The server does not close the oldest one
    /// instead: a program that connects in a loop would then disconnect the user's devices, whose
    /// reconnects would disconnect others. A dead connection is released within 45 seconds.
    public var maximumSocketsPerUser = 40
    /// The time for which a device stays signed in. Default: 30 days.
    public var tokenLifetime: Duration = .seconds(30 * 24 * 3600)
    /// The time without a connection after which a user is offline, so that a short reconnect is
    /// not reported. Default: 5 seconds.
    public var presenceGrace: Duration = .seconds(5)
    /// The maximum size of all uploads of one user, in bytes. Default: 1 GiB. Uploads beyond it are
    /// refused with `too_large`.
    public var blobQuota: Int64 = 1 << 30
    /// The cost of hashing a password. Default: scrypt with N = 2^14, r = 8, p = 5, one of the
    /// settings recommended by OWASP (2023), with 16 MiB for each hash.
    ///
    /// In a debug build, the default is a tenth of that, because scrypt without optimization takes
    /// three seconds instead of a tenth of one. A hash contains its own cost, so passwords hashed
    /// by one build are accepted by the other.
    public var passwordCost = PasswordCost.standard

    /// The parameters of scrypt (RFC 7914).
    public struct PasswordCost: Hashable, Sendable {
        /// The binary logarithm of N. Each step doubles time and memory.
        public var logRounds: Int
        /// The block size, r.
        public var blockSize: Int
        /// The parallelism, p.
        public var parallelism: Int

        /// The default of `passwordCost`.
        public static var standard: Self {
            #if DEBUG
                return Self(logRounds: 13, blockSize: 8, parallelism: 1)
            #else
                return Self()
            #endif
        }

        /// Creates a cost.
        public init(logRounds: Int = 14, blockSize: Int = 8, parallelism: Int = 5) {
            self.logRounds = logRounds
            self.blockSize = blockSize
            self.parallelism = parallelism
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

    /// Whether responses over TLS tell browsers to use HTTPS only (RFC 6797).
    ///
    /// A browser then also replaces the scheme of `http://host:port`, and keeps a port other than
    /// 80 (section 8.3). The redirect of a listener on such a port would no longer be reached.
    func isStrict(tlsPort: Int) -> Bool { !self.listensWithoutTLS || (self.port == 80 && tlsPort == 443) }

    /// Creates a configuration.
    public init(
        dataDirectory: String = "./data", host: String = "127.0.0.1", port: Int = 3000,
        tls: TLS = .selfSigned(port: 3443, isOptional: true),
        demo: Bool = false
    ) {
        self.dataDirectory = dataDirectory
        self.host = host
        self.port = port
        self.tls = tls
        self.demo = demo
    }
}
