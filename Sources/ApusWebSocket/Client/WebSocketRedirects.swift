import ApusBytes
import ApusWebSocketProtocol
import HTTPTypes

/// Follows redirects of the handshake, up to a maximum number, and never from `wss` to `ws`.
///
/// Source: RFC 6455 section 4.1 ("the client … MAY follow redirects"), RFC 9110 section 15.4, RFC
/// 3986 section 5.2.
struct WebSocketRedirects {
    /// The URL of the next request.
    private(set) var url: WebSocketURL
    /// Whether every URL so far has the scheme, host and port of the original URL. A redirect back
    /// to the original URL does not reset it, because another host chose that redirect.
    private(set) var isSameOrigin = true
    private var left: Int

    init(url: WebSocketURL, maximum: Int) {
        self.url = url
        self.left = maximum
    }

    enum Action: Equatable {
        /// Send the request to ``url``.
        case follow
        /// The attempt has failed.
        case fail(WebSocketError)
    }

    /// Handles a failed attempt. Any failure other than a redirect is final.
    mutating func refused(_ error: WebSocketError) -> Action {
        guard let refusal = error.refusal, [301, 302, 303, 307, 308].contains(refusal.status),
            let location = refusal.headers[.location]
        else { return .fail(error) }
        func refuse(_ message: String) -> Action {
            .fail(WebSocketError(.connectionRefused, message: message, refusal: refusal))
        }
        guard self.left > 0 else { return refuse("the server sent more redirects than `maximumRedirects` allows") }
        let target: WebSocketURL
        do throws(WebSocketError) {
            target = try Self.resolve(location, against: self.url)
        } catch {
            return refuse("the server redirects to an address that is not a WebSocket URL (\(error.message))")
        }
        guard target.isSecure || !self.url.isSecure else {
            return refuse("the server redirects from wss to ws, which is not followed because the connection would not be encrypted")
        }
        self.left -= 1
        let isSameHost = target.host.equalsIgnoringASCIICase(self.url.host)
        if !isSameHost || target.port != self.url.port || target.isSecure != self.url.isSecure {
            self.isSameOrigin = false
        }
        self.url = target
        return .follow
    }

    /// Resolves a URI reference from a `Location` field.
    static func resolve(_ location: String, against base: WebSocketURL) throws(WebSocketError) -> WebSocketURL {
        let reference = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        if let colon = reference.firstIndex(of: ":"), !reference[..<colon].contains(where: { "/?".contains($0) }) {
            return try WebSocketURL(String(reference))
        }
        let scheme = base.isSecure ? "wss" : "ws"
        if reference.hasPrefix("//") { return try WebSocketURL("\(scheme):\(reference)") }
        let root = "\(scheme)://\(base.authority)"
        if reference.isEmpty { return base }
        let basePath = base.requestTarget.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return try WebSocketURL(root + basePath + reference) }
        let path = reference.prefix { $0 != "?" }
        let query = reference[path.endIndex...]
        let merged = path.hasPrefix("/") ? String(path) : basePath[..<(basePath.lastIndex(of: "/") ?? basePath.startIndex)] + "/" + path
        return try WebSocketURL(root + Self.withoutDots(merged) + query)
    }

    /// Returns a path without its `.` and `..` segments (RFC 3986 section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if kept.count > 1 { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }
}
