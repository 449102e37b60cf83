import ApusBytes

/// The origin of an HTTP server: scheme, host and port.
///
/// Source: RFC 9110 section 4.3.1.
package struct HTTPOrigin: Hashable, Sendable {
    /// Whether the scheme is `https` or `wss`.
    package let isSecure: Bool
    /// The host name or address; an IPv6 address without brackets.
    package let host: String
    package let port: Int

    package init(isSecure: Bool, host: String, port: Int? = nil) {
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// Parses `host`, `host:port`, `[v6]` or `[v6]:port`.
    ///
    /// - Throws: `invalidConfiguration` if the authority is malformed.
    package init(isSecure: Bool, authority: some StringProtocol) throws(ConnectivityError) {
        func refuse(_ message: String) -> ConnectivityError {
            ConnectivityError(.invalidConfiguration, message: "\"\(authority)\" \(message)")
        }
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !authority.contains("@") else {
            throw refuse("contains a user name, a space, a control character or a non-ASCII character")
        }
        guard let (host, portText) = HostAndPort.split(Substring(authority)), !host.isEmpty else { throw refuse("has no valid host") }
        var port: Int?
        if let portText, !portText.isEmpty {
            guard let number = Int(digits: portText), (1...65535).contains(number) else {
                throw refuse("has an invalid port: use 1 to 65535")
            }
            port = number
        }
        self.init(isSecure: isSecure, host: String(host), port: port)
    }

    /// The value of the `Host` field, without the scheme's default port (RFC 9110 section 7.2).
    package var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == (self.isSecure ? 443 : 80) ? host : "\(host):\(self.port)"
    }
}
