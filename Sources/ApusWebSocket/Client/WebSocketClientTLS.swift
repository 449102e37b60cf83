import ApusConnectivity
import Crypto
import NIOCore
import NIOSSL

/// ``TLSSettings`` in the words of swift-nio-ssl.
struct WebSocketClientTLS {
    private let context: NIOSSLContext
    private let serverName: String?
    private let pin: CertificateFingerprint?

    init(settings: TLSSettings, host: String) throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12  // RFC 8996 retired 1.0 and 1.1
        configuration.applicationProtocols = ["http/1.1"]  // the handshake is HTTP/1.1's
        var pin: CertificateFingerprint?
        switch settings.verification {
        case .system:
            break
        case .additionalAuthorities(let pem):
            configuration.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))]
        case .pinned(let fingerprint):
            pin = fingerprint
        case .insecureSkipVerification:
            configuration.certificateVerification = .none
        }
        self.context = try NIOSSLContext(configuration: configuration)
        self.pin = pin
        // An address is no name for SNI; without a name the certificate is verified against the address itself.
        let name = settings.serverName ?? host
        self.serverName = (try? SocketAddress(ipAddress: name, port: 0)) == nil ? name : nil
    }

    func makeHandler() throws -> NIOSSLClientHandler {
        guard let pin = self.pin else {
            return try NIOSSLClientHandler(context: self.context, serverHostname: self.serverName)
        }
        return try NIOSSLClientHandler(context: self.context, serverHostname: self.serverName) { certificates, result in
            // Replaces the library's own verification: the fingerprint alone decides.
            let digest = certificates.first.flatMap { try? SHA256.hash(data: $0.toDERBytes()) }
            result.succeed(digest.map(Array.init) == pin.bytes ? .certificateVerified : .failed)
        }
    }
}
