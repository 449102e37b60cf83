import ApusConnectivity
import ApusWebSocket

extension ChatServerConfiguration {
    /// Checks the values that do not depend on the machine.
    ///
    /// - Throws: `ChatServerError` with `invalidConfiguration`.
    public func validate() throws(ChatServerError) {
        try self.require(!self.dataFolder.isEmpty, "`dataFolder` must not be empty.")
        try self.require(!self.host.isEmpty, "`host` must not be empty; use 0.0.0.0 for all IPv4 addresses.")
        try self.require((1...100).contains(self.name.unicodeScalars.count), "`name` must have 1 to 100 characters.")
        for (name, port) in [("port", self.port), ("tls.port", self.tlsPort ?? 0), ("metricsPort", self.metricsPort ?? 0)] {
            try self.require((0...65_535).contains(port), "`\(name)` must be from 0 to 65535, not \(port).")
        }
        try self.require(self.listensWithoutTLS || self.tls != .off, "`listensWithoutTLS` must be true if `tls` is off.")
        try self.require(self.sessionLifetime >= .seconds(3_600), "`sessionLifetime` must be at least one hour.")
        try self.require(
            self.pushContact.map { $0.hasPrefix("mailto:") || $0.hasPrefix("https://") } ?? true,
            "`pushContact` must be a URL with the scheme mailto or https.")
        try self.require(self.uploadBytes > 0, "`uploadBytes` must be greater than 0.")
        try self.require(self.uploadQuota >= self.uploadBytes, "`uploadQuota` must be at least `uploadBytes`, \(self.uploadBytes).")
        try self.require(
            self.maximumClients > 0 && self.maximumClientsPerAddress > 0,
            "`maximumClients` and `maximumClientsPerAddress` must be greater than 0.")
        try self.require(
            self.hasLimits || IPAddress(self.host)?.isLoopback ?? (self.host == "localhost"),
            "`hasLimits` must be true on \(self.host); limits can be off on loopback addresses only.")
        try self.require(
            self.proxies.source != .proxyProtocol || !self.proxies.networks.isEmpty,
            "`proxies.networks` must name the proxies that use the PROXY protocol.")
        _ = try self.trustedProxies
    }

    private func require(_ isValid: Bool, _ message: String) throws(ChatServerError) {
        if !isValid { throw ChatServerError(.invalidConfiguration, message: message) }
    }

    /// The trusted proxies. The handler of the PROXY protocol writes `X-Forwarded-For`.
    var trustedProxies: TrustedProxies {
        get throws(ChatServerError) {
            do throws(ConnectivityError) {
                return try TrustedProxies(
                    networks: self.proxies.networks, field: self.proxies.source == .forwarded ? .forwarded : .xForwardedFor)
            } catch {
                throw ChatServerError(.invalidConfiguration, message: "`proxies.networks`: \(error.message)")
            }
        }
    }

    var tlsPort: Int? {
        switch self.tls.value {
        case .off: nil
        case .selfSigned(let port, _), .files(let port, _, _): port
        }
    }

    /// Whether responses over TLS tell browsers to use HTTPS only (RFC 6797).
    ///
    /// A browser then also replaces the scheme of `http://host:port`, and keeps a port other than
    /// 80 (section 8.3). The redirect of a listener on such a port would no longer be reached.
    func isStrict(tlsPort: Int) -> Bool { !self.listensWithoutTLS || (self.port == 80 && tlsPort == 443) }
}
