import ApusBytes

extension ProxySettings.Proxy {
    /// Parses a proxy URL.
    init(url: String) throws(ConnectivityError) {
        func refuse(_ message: String) -> ConnectivityError {
            // The message omits the URL, which may contain a password.
            ConnectivityError(.invalidConfiguration, message: "the proxy URL \(message)")
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw refuse("contains a space, a control or a non-ASCII character") }
        var rest = url[...]
        var kind = Kind.httpConnect
        if let scheme = url.firstRange(of: "://") {
            switch url[..<scheme.lowerBound].asciiLowercased {
            case "http": kind = .httpConnect
            case "socks5", "socks5h", "socks": kind = .socks5
            default: throw refuse("has an unsupported scheme: use http, socks5 or socks5h")
            }
            rest = url[scheme.upperBound...]
        }
        if let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) {
            guard rest[end...] == "/" else { throw refuse("has a path, a query or a fragment, which is not allowed") }
            rest = rest[..<end]
        }
        var credentials: ProxySettings.Credentials?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let username = Self.decoded(parts[0]), let password = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw refuse("has a percent-encoding that is malformed or not UTF-8")
            }
            credentials = .init(username: username, password: password)
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, portText) = HostAndPort.split(rest), !host.isEmpty else { throw refuse("has no valid host") }
        let port = portText.map { $0.isEmpty ? nil : Int(digits: $0) } ?? (kind == .socks5 ? 1080 : 80)
        guard let port, (1...65535).contains(port) else { throw refuse("has an invalid port: use 1 to 65535") }
        self.init(kind: kind, host: String(host), port: port, credentials: credentials)
    }

    /// Decodes percent-encoding (RFC 3986 section 2.1); `nil` if it is malformed or not UTF-8.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        // `String(validating:as:)` requires macOS 15. Decoding replaces only
        // bytes that are not UTF-8.
        let decoded = String(decoding: bytes, as: UTF8.self)
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }
}

/// A parser of `host`, `host:port`, `[v6]` and `[v6]:port`.
enum HostAndPort {
    /// Returns the host without brackets and the text after the colon; `nil` if brackets do not
    /// match or are followed by other text. An IPv6 address without brackets has no port.
    static func split(_ text: Substring) -> (host: Substring, port: Substring?)? {
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            let host = text[text.index(after: text.startIndex)..<close]
            let rest = text[text.index(after: close)...]
            if rest.isEmpty { return (host, nil) }
            return rest.hasPrefix(":") ? (host, rest.dropFirst()) : nil
        }
        guard let colon = text.firstIndex(of: ":") else { return (text, nil) }
        guard text[text.index(after: colon)...].contains(":") else { return (text[..<colon], text[text.index(after: colon)...]) }
        return (text, nil)
    }
}
