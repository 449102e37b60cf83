package import NIOSSL

extension TLSSettings {
    /// Returns the configuration for swift-nio-ssl, without pins and host name, which
    /// ``TLSPeerCheck`` verifies.
    ///
    /// - Throws: `invalidConfiguration` for a malformed PEM text.
    package func makeConfiguration() throws(ConnectivityError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = self.minimumVersion.version
        switch self.verification {
        case .system: break
        case .additionalAuthorities(let pem):
            configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.all(pem: pem, of: "the additional authorities"))]
        case .onlyAuthorities(let pem):
            configuration.trustRoots = .certificates(try NIOSSLCertificate.all(pem: pem, of: "the authorities"))
        case .pinned:
            configuration.trustRoots = .certificates([])  // no root is trusted: avoids reading the system's roots
        case .insecureSkipVerification:
            configuration.certificateVerification = .none
        }
        if let identity = self.clientIdentity {
            configuration.certificateChain = try identity.chain(of: "client")
            configuration.privateKey = .privateKey(try identity.key(of: "client"))
        }
        return configuration
    }
}

extension TLSServerSettings {
    /// Returns a context for the connections of a server.
    ///
    /// - Parameter applicationProtocols: The protocols that the server selects with ALPN
    ///   (RFC 7301).
    /// - Throws: `invalidConfiguration` for a malformed PEM text, or a key of another certificate.
    package func makeContext(applicationProtocols: [String] = ["http/1.1"]) throws(ConnectivityError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try self.identity.chain(of: "server"), privateKey: .privateKey(try self.identity.key(of: "server")))
        configuration.minimumTLSVersion = self.minimumVersion.version
        configuration.applicationProtocols = applicationProtocols
        if let pem = self.clientAuthoritiesPEM {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.all(pem: pem, of: "the authorities of the clients"))
            // Clients have no host name to verify.
            configuration.certificateVerification = .noHostnameVerification
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "the server's certificate cannot be used with its key", cause: error)
        }
    }
}

extension TLSSettings.Version {
    fileprivate var version: TLSVersion {
        switch self {
        case .tls12: .tlsv12  // RFC 8996 retired 1.0 and 1.1
        case .tls13: .tlsv13
        }
    }
}

extension TLSIdentity {
    fileprivate func chain(of side: String) throws(ConnectivityError) -> [NIOSSLCertificateSource] {
        try NIOSSLCertificate.all(pem: self.certificateChainPEM, of: "the \(side)'s certificates").map { .certificate($0) }
    }

    fileprivate func key(of side: String) throws(ConnectivityError) -> NIOSSLPrivateKey {
        do {
            return try NIOSSLPrivateKey(bytes: Array(self.privateKeyPEM.utf8), format: .pem)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "the \(side)'s private key is not an unencrypted PEM key", cause: error)
        }
    }
}

extension NIOSSLCertificate {
    fileprivate static func all(pem: String, of what: String) throws(ConnectivityError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try self.fromPEMBytes(Array(pem.utf8))
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "\(what) are not valid PEM certificates", cause: error)
        }
        guard !certificates.isEmpty else { throw ConnectivityError(.invalidConfiguration, message: "\(what) contain no PEM certificate") }
        return certificates
    }
}
