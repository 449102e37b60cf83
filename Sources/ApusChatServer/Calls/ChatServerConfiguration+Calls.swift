extension ChatServerConfiguration {
    /// The servers that help the devices of a call to reach each other.
    public struct Calls: Hashable, Sendable {
        /// The URLs of STUN and TURN servers: `stun:host`, `turn:host:3478`,
        /// `turns:host:443?transport=tcp` (RFC 7064, RFC 7065). Default: none. Calls then work only
        /// within one network and between public addresses.
        public var urls: [String]
        /// The secret that the TURN servers share with this server (coturn: `static-auth-secret`).
        /// Required if ``urls`` contains a TURN server. The credentials of devices are derived from
        /// the secret.
        public var secret: String?
        /// The time for which credentials are valid. Default: 12 hours. A longer call keeps its
        /// connections. A device that changes its network requests new credentials.
        public var credentialLifetime: Duration
        /// Whether devices use the TURN servers only. Default: `false`. If `true`, the members of a
        /// call do not learn each other's addresses, and all media passes through the TURN servers.
        public var isRelayOnly: Bool
        /// The LiveKit server for groups with more than four members. Default: none. In these
        /// groups, only the first four members who join a call can then take part.
        public var liveKit: LiveKit?

        /// No servers: the devices use their own addresses.
        public static let direct = Self(urls: [])

        /// Creates the settings of calls.
        ///
        /// - Parameters:
        ///   - urls: The URLs of STUN and TURN servers.
        ///   - secret: The secret that the TURN servers share with this server. Required if `urls`
        ///     contains a TURN server.
        ///   - credentialLifetime: The time for which credentials are valid, from one minute to 30
        ///     days. Default: 12 hours.
        ///   - isRelayOnly: Whether devices use the TURN servers only. Default: `false`.
        ///   - liveKit: The LiveKit server for groups with more than four members. Default: none.
        public init(
            urls: [String], secret: String? = nil, credentialLifetime: Duration = .seconds(12 * 3_600), isRelayOnly: Bool = false,
            liveKit: LiveKit? = nil
        ) {
            self.liveKit = liveKit
            self.urls = urls
            self.secret = secret
            self.credentialLifetime = credentialLifetime
            self.isRelayOnly = isRelayOnly
        }

        private static let schemes = ["stun:", "stuns:", "turn:", "turns:"]

        /// The first error in the values; nil if all values are valid.
        var problem: String? {
            for url in self.urls {
                guard let scheme = Self.schemes.first(where: { url.hasPrefix($0) }), url.utf8.count > scheme.utf8.count,
                    url.utf8.count <= 500,
                    !url.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "/") })
                else { return "`calls.urls`: `\(url)` must be stun:HOST, turn:HOST:PORT or turns:HOST:PORT, with at most 500 characters" }
            }
            guard self.urls.count <= 10 else { return "`calls.urls` must have at most 10 URLs, not \(self.urls.count)" }
            let hasRelay = self.urls.contains(where: CallRelay.isTURN)
            guard !hasRelay || self.secret?.isEmpty == false else {
                return "`calls.secret` must be set for the TURN servers of `calls.urls`"
            }
            guard !self.isRelayOnly || hasRelay else { return "`calls.isRelayOnly` requires a TURN server in `calls.urls`" }
            guard self.credentialLifetime >= .seconds(60), self.credentialLifetime <= .seconds(30 * 86_400) else {
                return "`calls.credentialLifetime` must be from one minute to 30 days"
            }
            return self.liveKit?.problem
        }
    }
}
