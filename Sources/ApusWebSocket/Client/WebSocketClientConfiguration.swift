public import ApusConnectivity
public import ApusWebSocketProtocol

/// How a client opens a WebSocket.
public struct WebSocketClientConfiguration: Sendable {
    /// Asked for the fields of each request; see ``WebSocketClientConfiguration/requestHeaders``.
    public typealias RequestHeaders = @Sendable (_ url: String) async throws -> [(String, String)]

    /// Fields of the request beside the handshake's own, in order. `Host` replaces the address's own.
    ///
    /// After a redirect to another host none of them is sent: only you know which is a secret.
    public var headers: [(String, String)] = []

    /// Computes more fields anew for every attempt, a token that expires for instance. When it throws, the attempt has failed.
    ///
    /// Default: `nil`. Runs under ``connectTimeout``, and not for a redirect to another host.
    public var requestHeaders: RequestHeaders?

    /// Names and values that are appended to the URL's query, percent-encoded.
    public var query: [(String, String)] = []

    /// Names and values of the `Cookie` field. Not sent to another host.
    public var cookies: [(String, String)] = []

    /// The subprotocols we speak, best first. The server's choice is ``WebSocketConnection/subprotocol``.
    public var subprotocols: [String] = []

    /// How many redirects (301, 302, 303, 307, 308) are followed. From `wss` to `ws` none is. Default: 5; 0 makes each an error.
    public var maximumRedirects: Int = 5

    /// How the certificate of a `wss` server is judged.
    public var tls: TLSSettings = .system

    /// The proxy to connect through. Default: none; ``ProxySettings/environment`` does what the environment says.
    public var proxy: ProxySettings = .none

    /// The address of this machine to connect from. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// A Unix socket to connect to in place of the URL's host and port. Default: `nil`.
    ///
    /// The URL still says what stands in the request and whether TLS is spoken. Not for a redirect to another host.
    public var unixSocketPath: String?

    /// How messages are compressed, if the server agrees. Default: `nil`, compression is not offered.
    public var compression: WebSocketDeflateConfiguration?

    /// The bounds of frames and messages, and the deadline of the close handshake.
    public var limits = WebSocketLimits()

    /// The bounds of what waits between the peer and you.
    public var flow = WebSocketFlowControl()

    /// For the name, the connection, the proxy and the ``requestHeaders``, together.
    ///
    /// Default: 10 seconds. No byte of the peer prolongs it; neither do those below.
    public var connectTimeout: Duration = .seconds(10)

    /// For the handshake of TLS.
    ///
    /// Default: 10 seconds, for each redirect anew.
    public var tlsTimeout: Duration = .seconds(10)

    /// For the server's answer to the handshake.
    ///
    /// Default: 10 seconds, for each redirect anew.
    public var handshakeTimeout: Duration = .seconds(10)

    /// The defaults.
    public init() {}

    /// Says what cannot be sent.
    func validate() throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        for name in self.subprotocols where !HTTPToken.isToken(name) {
            throw refuse("the subprotocol \(name.debugDescription) is no token of HTTP")
        }
        guard Set(self.subprotocols).count == self.subprotocols.count else { throw refuse("a subprotocol is there twice") }
        for (name, value) in self.cookies where !HTTPToken.isToken(name) || !value.utf8.allSatisfy(Self.isCookieByte) {
            throw refuse("the cookie \(name.debugDescription) holds what may not stand in one")
        }
        guard self.connectTimeout > .zero, self.tlsTimeout > .zero, self.handshakeTimeout > .zero else {
            throw refuse("a deadline of no time")
        }
        try self.compression?.validate()
        guard self.maximumRedirects >= 0 else { throw refuse("\(self.maximumRedirects) redirects") }
    }

    /// RFC 6265 4.1.1, cookie-octet.
    private static func isCookieByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && ![UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\")].contains(byte)
    }

    // MARK: Requests

    /// The address with ``query``.
    func url(_ text: String) throws(WebSocketError) -> WebSocketURL {
        guard !self.query.isEmpty else { return try WebSocketURL(text) }
        let query = self.query.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let sharedBuffer = !text.contains("?") ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&"
        return try WebSocketURL(text + sharedBuffer + query)
    }

    /// The caller's fields of a request.
    ///
    /// - Parameters:
    ///   - computed: What ``requestHeaders`` answered.
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

    /// All but RFC 3986's unreserved characters.
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
