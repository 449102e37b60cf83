public import ApusConnectivity
public import ApusWebSocketProtocol
public import HTTPTypes

/// The configuration of a WebSocket client.
public struct WebSocketClientConfiguration: Sendable {
    /// A closure that computes fields of a request; see
    /// ``WebSocketClientConfiguration/requestHeaders``.
    public typealias RequestHeaders = @Sendable (_ url: String) async throws -> HTTPFields

    /// Additional fields of the request, in order, for example `[.authorization: "Bearer …"]`.
    /// `Host` replaces the value from the URL.
    ///
    /// A field that the handshake sets itself, such as `Upgrade`, fails the attempt. The fields are
    /// not sent after a redirect to another origin (scheme, host or port), because they may be
    /// secrets.
    public var headers: HTTPFields = [:]

    /// A closure that computes further fields for every attempt, for example a token that expires.
    /// If it throws, the attempt fails.
    ///
    /// Default: `nil`. ``connectTimeout`` includes its duration. It is not called after a redirect
    /// to another origin.
    public var requestHeaders: RequestHeaders?

    /// The names and values to append to the URL's query, percent-encoded.
    public var query: [(String, String)] = []

    /// The names and values of the cookies to send, after those of a `Cookie` field in ``headers``.
    /// Default: none. They are not sent after a redirect to another origin.
    public var cookies: [String: String] = [:]

    /// The offered subprotocols, in order of preference. The server's choice is
    /// ``WebSocketConnection/subprotocol``.
    public var subprotocols: [String] = []

    /// The maximum number of redirects (301, 302, 303, 307, 308) to follow. A redirect from `wss`
    /// to `ws` is never followed. Default: 5. With 0, each redirect is an error.
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
    /// The URL still determines the request and the use of TLS. The socket is not used after a
    /// redirect to another origin.
    public var unixSocketPath: String?

    /// The compression to offer. Default: `nil`, none.
    public var compression: WebSocketDeflateConfiguration?

    /// The limits on frames and messages, and the time for a close handshake.
    public var limits = WebSocketLimits()

    /// The limits on the queues between the peer and the application.
    public var flow = WebSocketFlowControl()

    /// The maximum time for the name resolution, the connection, the proxy and ``requestHeaders``
    /// together.
    ///
    /// Default: 10 seconds, restarted at each redirect. Received bytes extend neither this deadline
    /// nor ``tlsTimeout`` and ``handshakeTimeout``.
    public var connectTimeout: Duration = .seconds(10)

    /// The maximum time for the TLS handshake.
    ///
    /// Default: 10 seconds, restarted at each redirect.
    public var tlsTimeout: Duration = .seconds(10)

    /// The maximum time for the response to the WebSocket handshake.
    ///
    /// Default: 10 seconds, restarted at each redirect.
    public var handshakeTimeout: Duration = .seconds(10)

    /// Creates the default configuration.
    public init() {}

    /// Throws `invalidConfiguration` if a setting is invalid.
    func validate() throws(WebSocketError) {
        func invalid(_ message: String) -> WebSocketError { WebSocketError(.invalidConfiguration, message: message) }
        for name in self.subprotocols where !HTTPToken.isToken(name) {
            throw invalid("`subprotocols` must contain HTTP tokens only, not \(name.debugDescription)")
        }
        guard Set(self.subprotocols).count == self.subprotocols.count else {
            throw invalid("`subprotocols` must not contain duplicates: \(self.subprotocols.joined(separator: ", ").debugDescription)")
        }
        for (name, value) in self.cookies where !HTTPToken.isToken(name) || !value.utf8.allSatisfy(Self.isCookieByte) {
            throw invalid("`cookies`: the name or value of \(name.debugDescription) contains an invalid character (RFC 6265 4.1.1)")
        }
        let times = [
            ("connectTimeout", self.connectTimeout), ("tlsTimeout", self.tlsTimeout), ("handshakeTimeout", self.handshakeTimeout),
        ]
        for (name, time) in times where time <= .zero { throw invalid("`\(name)` must be greater than 0, not \(time)") }
        try self.compression?.validate()
        guard self.maximumRedirects >= 0 else { throw invalid("`maximumRedirects` must not be negative, but is \(self.maximumRedirects)") }
    }

    /// Returns whether a byte is a cookie-octet (RFC 6265 section 4.1.1).
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
    ///   - isSameOrigin: `false` after a redirect to another origin.
    func fields(computed: HTTPFields, isSameOrigin: Bool) -> HTTPFields {
        var fields: HTTPFields = [:]
        if isSameOrigin {
            fields.append(contentsOf: self.headers)
            fields.append(contentsOf: computed)
            if !self.cookies.isEmpty {
                let pairs = self.cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                fields.append(HTTPField(name: .cookie, value: pairs.joined(separator: "; ")))
            }
        }
        if !self.subprotocols.isEmpty {
            fields.append(HTTPField(name: .secWebSocketProtocol, value: self.subprotocols.joined(separator: ", ")))
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
