/// How a chat server is set up. Every default is safe for one machine.
public struct ChatServerConfiguration: Sendable {
    /// Where the database and the blobs live. Made when absent, readable by its owner only.
    public var dataDirectory: String
    /// The address to listen on. Default: this machine only.
    public var host: String
    /// The port of plain HTTP. Default 3000; 0 takes a free one.
    public var port: Int
    /// How to listen with TLS as well. Default: on port 3443 with a certificate made at the start, unless another program has that port.
    public var tls: TLS
    /// Whether clients of Socket.IO 2.x (Engine.IO 3) may connect. Default no; the demo takes them in any case.
    public var allowsEngineIO3 = false
    /// Whether to make the demo accounts, and the test events of the first seed on the namespace `/`. Default no.
    public var demo: Bool
    /// A folder to serve the page from, for page development: changed files are served without a
    /// restart. Default: nil, the files embedded in the binary.
    public var pageFolder: String?
    /// Most connections to `/chat` of one user at a time. Default 40.
    ///
    /// One more is refused with `too_many`. The oldest is not closed instead: a program that
    /// connects in a loop would then disconnect the user's devices, which reconnect and disconnect
    /// others in turn. A dead connection is released within 45 seconds.
    public var maximumSocketsPerUser = 40
    /// How long a device stays signed in. Default 30 days.
    public var tokenLifetime: Duration = .seconds(30 * 24 * 3600)
    /// How long a user must be without a connection before others are told (a reconnecting phone is not "offline"). Default 5 seconds.
    public var presenceGrace: Duration = .seconds(5)
    /// Most bytes of one user's uploads, all together. Default 1 GiB; above it an upload is refused with `too_large`.
    public var blobQuota: Int64 = 1 << 30
    /// What a password's hash costs. Default: scrypt with N = 2^14, r = 8, p = 5, one of the settings OWASP recommends (2023): 16 MiB each.
    ///
    /// In a debug build the default is a tenth of that, because scrypt without optimization takes three seconds instead of a tenth of one.
    /// Each hash carries its own cost: passwords made by one build are accepted by the other.
    public var passwordCost = PasswordCost.standard

    /// The settings of scrypt (RFC 7914).
    public struct PasswordCost: Hashable, Sendable {
        /// The binary logarithm of N. Each step doubles time and memory.
        public var logRounds: Int
        /// r.
        public var blockSize: Int
        /// p.
        public var parallelism: Int

        /// The default of `passwordCost`.
        public static var standard: Self {
            #if DEBUG
                return Self(logRounds: 13, blockSize: 8, parallelism: 1)
            #else
                return Self()
            #endif
        }

        /// A cost with all its parts.
        public init(logRounds: Int = 14, blockSize: Int = 8, parallelism: Int = 5) {
            self.logRounds = logRounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }
    }

    /// How to listen with TLS.
    public struct TLS: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case off
            case selfSigned(port: Int, isOptional: Bool)
            case files(port: Int, certificates: String, key: String)
        }
        let value: Value
        /// Not at all: behind a proxy that ends TLS, or in a test.
        public static let off = Self(value: .off)
        /// With a certificate made at each start. Browsers warn of it; it is for trying out.
        ///
        /// - Parameters:
        ///   - port: The port; 0 takes a free one.
        ///   - isOptional: Whether the server starts without TLS, and logs a warning, when another program has the port. Default no: it
        ///     does not start.
        public static func selfSigned(port: Int, isOptional: Bool = false) -> Self {
            Self(value: .selfSigned(port: port, isOptional: isOptional))
        }
        /// With a certificate chain and its key, both PEM files.
        public static func files(port: Int, certificates: String, key: String) -> Self {
            Self(value: .files(port: port, certificates: certificates, key: key))
        }
    }

    /// A configuration with the usual choices.
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
