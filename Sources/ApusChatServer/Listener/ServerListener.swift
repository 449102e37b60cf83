import ApusCertificates
import ApusConnectivity
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// A configured listener of the server.
struct ServerListener: Sendable {
    var scheme: String
    var host: String
    var port: Int
    var tls: NIOSSLContext?
    var certificate: CertificateFingerprint?
    /// Whether the server starts without this listener if its port is in use.
    var isOptional = false
    /// Whether the listener serves apps of the legacy protocol.
    var isLegacy = false
    var transport = SecureTransport.unchanged
    /// The box that receives the port when the server listens; nil if the port is not needed.
    var boundPort: NIOLockedValueBox<Int?>?

    /// Returns the listeners of a validated configuration.
    static func all(_ configuration: ChatServerConfiguration) throws(ChatServerError) -> [ServerListener] {
        let host = configuration.host
        var plain = ServerListener(scheme: "http", host: host, port: configuration.port)
        var secure: ServerListener?
        do {
            switch configuration.tls.value {
            case .off: break
            case .selfSigned(let port, let isOptional):
                let identity = try SelfSignedCertificate.makeIdentity(host: host, now: .now)
                secure = ServerListener(
                    scheme: "https", host: host, port: port, tls: try TLSServerSettings(identity: identity).makeContext(),
                    certificate: identity.fingerprint,
                    // The TLS listener is not optional if it is the only listener.
                    isOptional: isOptional && configuration.listensWithoutTLS)
            case .files(let port, let certificates, let key):
                let identity = try TLSIdentity(certificateChainFile: certificates, privateKeyFile: key)
                let boundPort = NIOLockedValueBox<Int?>(nil)
                secure = ServerListener(
                    scheme: "https", host: host, port: port, tls: try TLSServerSettings(identity: identity).makeContext(),
                    certificate: identity.fingerprint,
                    transport: configuration.isStrict(tlsPort: port) ? .strict : .unchanged, boundPort: boundPort)
                plain.transport = .redirects(port: boundPort)
            }
        } catch {
            throw ChatServerError(
                .certificate, message: "the certificate or its key cannot be used: \(ConnectivityError.reason(of: error))")
        }
        var listeners = (configuration.listensWithoutTLS ? [plain] : []) + (secure.map { [$0] } ?? [])
        if let port = configuration.legacyPort {
            var legacy = ServerListener(scheme: "http", host: host, port: port, isLegacy: true)
            if configuration.legacyUsesTLS, let secure {
                (legacy.scheme, legacy.tls, legacy.certificate) = (secure.scheme, secure.tls, secure.certificate)
            }
            listeners.append(legacy)
        }
        return listeners
    }

    /// Converts an error of the socket to an error that names the address of this listener. Returns
    /// other errors unchanged.
    func explain(_ error: any Error) -> any Error {
        guard let error = error as? IOError else { return error }
        guard error.errnoCode == EADDRINUSE else {
            return ChatServerError(
                .cannotListen, message: "the server cannot listen on \(self.host) port \(self.port): \(ConnectivityError.reason(of: error))"
            )
        }
        return ChatServerError(
            .addressInUse, message: "port \(self.port) on \(self.host) is already in use; select another port", port: self.port)
    }
}
