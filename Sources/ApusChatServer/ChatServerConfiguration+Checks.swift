import ApusConnectivity
import ApusWebSocket

extension ChatServerConfiguration {
    /// Checks the values that do not depend on the machine.
    ///
    /// - Throws: ``ChatServerError/Code/invalidConfiguration``. The message names the value and the
    ///   limit.
    public func validate() throws(ChatServerError) {
        try self.require(!self.dataFolder.isEmpty, "`dataFolder` must not be empty")
        try self.require(!self.host.isEmpty, "`host` must not be empty; use 0.0.0.0 for all IPv4 addresses")
        try self.require(
            (1...100).contains(self.name.unicodeScalars.count),
            "`name` must have 1 to 100 characters, not \(self.name.unicodeScalars.count)")
        let ports = [
            ("port", self.port), ("tls.port", self.tlsPort ?? 0), ("metricsPort", self.metricsPort ?? 0),
            ("legacyPort", self.legacyPort ?? 0),
        ]
        for (name, port) in ports {
            try self.require((0...65_535).contains(port), "`\(name)` must be from 0 to 65535, not \(port)")
        }
        try self.require(
            self.legacyPort == nil || self.directory == .open,
            "`directory` must be `open` if `legacyPort` is set, because the apps of that protocol list all users")
        try self.require(
            !self.legacyUsesTLS || (self.legacyPort != nil && self.tls != .off),
            "`legacyUsesTLS` requires `legacyPort`, and `tls` with a certificate")
        try self.require(self.listensWithoutTLS || self.tls != .off, "`listensWithoutTLS` must be true if `tls` is off")
        try self.require(
            self.sessionLifetime >= .seconds(3_600), "`sessionLifetime` must be at least one hour, not \(self.sessionLifetime)")
        try self.require(
            self.pushContact.map { $0.hasPrefix("mailto:") || $0.hasPrefix("https://") } ?? true,
            "`pushContact` must be a URL with the scheme `mailto` or `https`")
        for (name, time) in [("editTime", self.editTime), ("recallTime", self.recallTime)] {
            try self.require((.zero ... .seconds(87_600 * 3_600)).contains(time), "`\(name)` must be from 0 to 87600 hours, not \(time)")
        }
        try self.require(self.uploadBytes > 0, "`uploadBytes` must be greater than 0, not \(self.uploadBytes)")
        try self.require(
            self.uploadQuota >= self.uploadBytes,
            "`uploadQuota` must be at least `uploadBytes`, which is \(self.uploadBytes), not \(self.uploadQuota)")
        try self.require(
            self.maximumClients > 0 && self.maximumClientsPerAddress > 0,
            "`maximumClients` and `maximumClientsPerAddress` must be greater than 0")
        try self.require(
            self.hasLimits || IPAddress(self.host)?.isLoopback ?? (self.host == "localhost"),
            "`hasLimits` must be true if `host` is \(self.host); the limits can be disabled on loopback addresses only")
        if let problem = self.blobs.problem { throw ChatServerError(.invalidConfiguration, message: problem) }
        if let problem = self.calls.problem { throw ChatServerError(.invalidConfiguration, message: problem) }
        try self.require(
            self.proxies.source != .proxyProtocol || !self.proxies.networks.isEmpty,
            "`proxies.networks` must not be empty if `proxies.source` is `proxyProtocol`")
        _ = try self.trustedProxies
    }

    private func require(_ isValid: Bool, _ message: String) throws(ChatServerError) {
        if !isValid { throw ChatServerError(.invalidConfiguration, message: message) }
    }

    /// The trusted proxies. With the PROXY protocol, the handler of its header sets
    /// `X-Forwarded-For`.
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

    /// Returns whether responses over TLS instruct browsers to use only HTTPS for the host (RFC
    /// 6797).
    ///
    /// A browser then also changes the scheme of `http://host:port` and keeps a port other than 80
    /// (section 8.3), so the redirect of a listener on such a port would become unreachable.
    func isStrict(tlsPort: Int) -> Bool { !self.listensWithoutTLS || (self.port == 80 && tlsPort == 443) }
}
