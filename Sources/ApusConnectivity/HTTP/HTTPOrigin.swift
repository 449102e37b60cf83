/// Whom HTTP is spoken with: scheme, host and port.
///
/// Source: RFC 9110 4.3.1.
package struct HTTPOrigin: Hashable, Sendable {
    /// `https`, or `wss`.
    package let isSecure: Bool
    /// The name or address, an IPv6 address without its brackets.
    package let host: String
    package let port: Int

    package init(isSecure: Bool, host: String, port: Int? = nil) {
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    /// Takes `host`, `host:port`, `[v6]` or `[v6]:port`.
    ///
    /// - Throws: `invalidSettings`.
    package init(isSecure: Bool, authority: some StringProtocol) throws(ConnectivityError) {
        func refuse(_ message: String) -> ConnectivityError {
            ConnectivityError(.invalidSettings, message: "\"\(authority)\" \(message)")
        }
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !authority.contains("@") else {
            throw refuse("holds a user name, a space or a character that is not ASCII")
        }
        guard let (host, portText) = HostAndPort.split(Substring(authority)), !host.isEmpty else { throw refuse("has no host") }
        var port: Int?
        if let portText, !portText.isEmpty {
            guard let number = Int(portText), (1...65535).contains(number) else { throw refuse("has no port of 1 to 65535") }
            port = number
        }
        self.init(isSecure: isSecure, host: String(host), port: port)
    }

    /// The `Host` field: the port only when it is not the scheme's own (RFC 9110 7.2).
    package var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return self.port == (self.isSecure ? 443 : 80) ? host : "\(host):\(self.port)"
    }
}
