import ApusBytes

/// A WebSocket URL: `ws://host:port/path?query` or `wss://…`. `http` and `https` are accepted as
/// synonyms.
///
/// Source: RFC 6455 section 3; RFC 3986 for its syntax.
package struct WebSocketURL: Hashable, Sendable, CustomStringConvertible {
    package let isSecure: Bool
    /// The host name or IP address. An IPv6 address has no brackets.
    package let host: String
    package let port: Int
    /// The path and query for the request line, at least `/`.
    package let requestTarget: String

    /// Parses a URL. Spaces and non-ASCII characters must be percent-encoded.
    package init(_ text: String) throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidURL, message: message) }
        // This also excludes CR, LF and NUL from the request line.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw refuse("the URL contains a space, a control character or a non-ASCII character; percent-encode it")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw refuse("the URL must begin with ws:// or wss://")
        }
        switch text[..<colon].asciiLowercased {
        case "ws", "http": self.isSecure = false
        case "wss", "https": self.isSecure = true
        case let scheme: throw refuse("the scheme must be ws or wss, not \(scheme)")
        }
        var rest = text[colon...].dropFirst(3)
        // RFC 6455 section 3: "Fragment identifiers are meaningless in the context of WebSocket
        // URIs and MUST NOT be used"
        guard !rest.contains("#") else { throw refuse("the URL must not have a fragment (#)") }
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<authorityEnd]
        rest = rest[authorityEnd...]
        self.requestTarget = rest.hasPrefix("/") ? String(rest) : "/" + rest
        guard !authority.contains("@") else { throw refuse("the URL has a user name; use an Authorization field instead") }

        var portText: Substring?
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { throw refuse("the IPv6 address has no closing bracket") }
            let tail = authority[bracket...].dropFirst()
            guard tail.isEmpty || tail.hasPrefix(":") else { throw refuse("the IPv6 address is followed by unexpected characters") }
            portText = tail.isEmpty ? nil : tail.dropFirst()
            authority = authority[..<bracket].dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            portText = authority[colon...].dropFirst()
            authority = authority[..<colon]
        }
        guard !authority.isEmpty else { throw refuse("the URL has no host") }
        self.host = String(authority)
        if let portText, !portText.isEmpty {
            guard let port = Int(digits: portText), (1...65535).contains(port) else {
                throw refuse("the port must be between 1 and 65535, not \(portText)")
            }
            self.port = port
        } else {
            self.port = self.isSecure ? 443 : 80
        }
    }

    /// The value of `Host`, without the default port of the scheme (RFC 6455 section 4.1).
    package var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == (self.isSecure ? 443 : 80) ? host : "\(host):\(self.port)"
    }

    package var description: String {
        "\(self.isSecure ? "wss" : "ws")://\(self.authority)\(self.requestTarget)"
    }
}
