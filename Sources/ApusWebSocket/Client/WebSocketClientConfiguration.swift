public import ApusConnectivity
public import ApusWebSocketProtocol

/// The configuration of a WebSocket client.
public struct WebSocketClientConfiguration: Sendable {
    /// Computes fields of a request; see ``WebSocketClientConfiguration/requestHeaders``.
    public typealias RequestHeaders = @Sendable (_ url: String) async throws -> [(String, String)]

    /// Additional fields of the request, in order. `Host` replaces the value from the URL.
    ///
    /// After a redirect to another host none of them is sent, since any may be a secret.
    public var headers: [(String, String)] = []

    /// Computes further fields for every attempt, for example a token that expires. If it throws,
    /// the attempt fails.
    ///
    /// Default: `nil`. ``connectTimeout`` applies. Not called for a redirect to another host.
    public var requestHeaders: RequestHeaders?

    /// Names and values to append to the URL's query, percent-encoded.
    public var query: [(String, String)] = []

    /// Names and values of the `Cookie` field. Not sent after a redirect to another host.
    public var cookies: [(String, String)] = []

    /// The offered subprotocols, in order of preference. The server's choice is
    /// ``WebSocketConnection/subprotocol``.
    public var subprotocols: [String] = []

    /// The maximum number of redirects (301, 302, 303, 307, 308) to follow; never from `wss` to
    /// `ws`. Default: 5. With 0, each redirect is an error.
    public var maximumRedirects: Int = 5

    /// The TLS settings for `wss`, including the verification of certificates.
    public var tls: TLSSettings = .system

    /// The proxy to connect through. Default: none. `ProxySettings.environment` uses the
    /// environment variables.
    public var proxy: ProxySettings = .none

    /// The local address to connect from. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// A Unix socket to connect to instead of the URL's host and port. Default: `nil`.
    ///
    /// The URL still determines the request and the use of TLS. Not used after a redirect to
    /// another host.
    public var unixSocketPath: String?

    /// The compression to offer. Default: `nil`, none.
    public var compression: WebSocketDeflateConfiguration?

    /// The limits on frames and messages, and the time for a close handshake.
    public var limits = WebSocketLimits()

    /// The limits on the queues between the peer and the application.
    public var flow = WebSocketFlowControl()

    /// The time for the name resolution, the connection, the proxy and ``requestHeaders`` together.
    ///
    /// Default: 10 seconds. Received bytes do not extend this deadline or those below.
    public var connectTimeout: Duration = .seconds(10)

    /// The time for the TLS handshake.
    ///
    /// Default: 10 seconds, restarted at each redirect.
    public var tlsTimeout: Duration = .seconds(10)

    /// The time for the response to the WebSocket handshake.
    ///
    /// Default: 10 seconds, restarted at each redirect.
    public var handshakeTimeout: Duration = .seconds(10)

    /// Creates the default configuration.
    public init() {}

    /// Checks the configuration.
    func validate() throws(WebSocketError) {
        func invalid(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        for name in self.subprotocols where !HTTPToken.isToken(name) {
            throw invalid("`subprotocols` must contain HTTP tokens only, not \(name.debugDescription)")
        }
        guard Set(self.subprotocols).count == self.subprotocols.count else { throw invalid("`subprotocols` must not contain duplicates") }
        for (name, value) in self.cookies where !HTTPToken.isToken(name) || !value.utf8.allSatisfy(Self.isCookieByte) {
            throw invalid("the name or value of the cookie \(name.debugDescription) contains an invalid character (RFC 6265 4.1.1)")
        }
        guard self.connectTimeout > .zero, self.tlsTimeout > .zero, self.handshakeTimeout > .zero else {
            throw invalid("`connectTimeout`, `tlsTimeout` and `handshakeTimeout` must be greater than 0")
        }
        try self.compression?.validate()
        guard self.maximumRedirects >= 0 else { throw invalid("`maximumRedirects` must not be negative: \(self.maximumRedirects)") }
    }

    /// Returns whether a byte is a cookie-octet (RFC 6265 4.1.1).
    private static func isCookieByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && ![UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\")].contains(byte)
    }

    // MARK: Requests

    /// Returns the URL with ``query`` appended.
    func url(_ text: String) throws(WebSocketError) -> WebSocketURL {
        guard !self.query.isEmpty else { return try WebSocketURL(text) }
        let query = self.query.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let separator = !text.contains("?") ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&"
        return try WebSocketURL(text + separator + query)
    }

    /// Returns the additional fields of a request.
    ///
    /// - Parameters:
    ///   - computed: The result of ``requestHeaders``.
    ///   - isSameOrigin: `false` after a redirect to another host.
    func fields(computed: [(String, String)], isSameOrigin: Bool) -> [(String, String)] {
        var fields: [(String, String)] = []
        if isSameOrigin {
            fields += self.headers + computed
            if !self.cookies.isEmpty {
                fields.append(("Cookie", self.cookies.map { "\($0.0)=\($0.1)" }.joined(separator: "; ")))
            }
        }
        if !self.subprotocols.isEmpty {
            fields.append(("Sec-WebSocket-Protocol", self.subprotocols.joined(separator: ", ")))
        }
        return fields
    }
}

enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Percent-encodes all characters that RFC 3986 does not call unreserved.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
