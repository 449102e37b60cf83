import ApusBytes
import ApusConnectivity

extension ChatServerConfiguration.Calls {
    /// A LiveKit server, which carries the calls of groups with more than four members.
    public struct LiveKit: Hashable, Sendable {
        /// The address for clients: `wss://HOST`, or `ws://HOST:PORT`. The chat server uses the API
        /// of the same host.
        public var url: String
        /// The API key.
        public var key: String
        /// The secret of the key.
        public var secret: String
        /// The time during which a token admits its participant. Connections remain open after that
        /// time. Default: 6 hours.
        public var tokenLifetime: Duration
        /// The maximum number of participants of a call, from 2 to 10,000. Default: 100.
        public var maximumParticipants: Int64

        /// Creates the settings of a LiveKit server.
        public init(
            url: String, key: String, secret: String, tokenLifetime: Duration = .seconds(6 * 3_600), maximumParticipants: Int64 = 100
        ) {
            self.url = url
            self.key = key
            self.secret = secret
            self.tokenLifetime = tokenLifetime
            self.maximumParticipants = maximumParticipants
        }

        /// The origin of the API; nil if ``url`` is not valid.
        var origin: HTTPOrigin? {
            let (secure, plain) = ("wss://", "ws://")
            let isSecure = self.url.hasPrefix(secure)
            guard isSecure || self.url.hasPrefix(plain), self.url.utf8.count <= 500 else { return nil }
            var rest = self.url.dropFirst(isSecure ? secure.count : plain.count)
            if rest.last == "/" { rest.removeLast() }
            let allowed = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@".utf8.contains($0) }
            guard allowed, !rest.isEmpty else { return nil }
            guard let colon = rest.lastIndex(of: ":"), rest.last != "]" else {
                return HTTPOrigin(isSecure: isSecure, host: Self.host(rest), port: isSecure ? 443 : 80)
            }
            guard let port = Int(digits: rest[rest.index(after: colon)...]), (1...65_535).contains(port), colon > rest.startIndex else {
                return nil
            }
            return HTTPOrigin(isSecure: isSecure, host: Self.host(rest[..<colon]), port: port)
        }

        /// Returns the host without the brackets of an IPv6 address.
        private static func host(_ text: Substring) -> String {
            text.first == "[" && text.last == "]" ? String(text.dropFirst().dropLast()) : String(text)
        }

        /// The first error in the values; nil if all values are valid.
        var problem: String? {
            if self.origin == nil { return "`calls.liveKit.url`: `\(self.url)` must be wss://HOST or ws://HOST:PORT, without a path" }
            if self.key.isEmpty || self.secret.isEmpty { return "`calls.liveKit` must have a key and a secret" }
            guard self.tokenLifetime >= .seconds(60), self.tokenLifetime <= .seconds(30 * 86_400) else {
                return "`calls.liveKit.tokenLifetime` must be from one minute to 30 days"
            }
            guard (2...10_000).contains(self.maximumParticipants) else {
                return "`calls.liveKit.maximumParticipants` must be from 2 to 10000, not \(self.maximumParticipants)"
            }
            return nil
        }
    }
}
