import NIOSSL

extension TLSSettings {
    /// Returns the configuration for swift-nio-ssl, without pins and host name, which
    /// ``TLSPeerCheck`` verifies.
    ///
    /// - Throws: `invalidSettings` for a malformed PEM text.
    func makeConfiguration() throws(ConnectivityError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion =
            switch self.minimumVersion {
            case .tls12: .tlsv12  // RFC 8996 retired 1.0 and 1.1
            case .tls13: .tlsv13
            }
        switch self.verification {
        case .system: break
        case .additionalAuthorities(let pem):
            configuration.additionalTrustRoots = [.certificates(try Self.certificates(pem: pem, of: "the additional authorities"))]
        case .onlyAuthorities(let pem):
            configuration.trustRoots = .certificates(try Self.certificates(pem: pem, of: "the authorities"))
        case .pinned:
            configuration.trustRoots = .certificates([])  // no root is trusted: avoids reading the system's roots
        case .insecureSkipVerification:
            configuration.certificateVerification = .none
        }
        if let identity = self.clientIdentity {
            let chain = try Self.certificates(pem: identity.certificateChainPEM, of: "the client's certificates")
            configuration.certificateChain = chain.map { .certificate($0) }
            do {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem))
            } catch {
                throw ConnectivityError(.invalidSettings, message: "the client's private key is not an unencrypted PEM key", cause: error)
            }
        }
        return configuration
    }

    private static func certificates(pem: String, of what: String) throws(ConnectivityError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
        } catch {
            throw ConnectivityError(.invalidSettings, message: "\(what) are not valid PEM certificates", cause: error)
        }
        guard !certificates.isEmpty else { throw ConnectivityError(.invalidSettings, message: "\(what) contain no PEM certificate") }
        return certificates
    }
}
