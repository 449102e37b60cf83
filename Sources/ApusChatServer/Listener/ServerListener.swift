import ApusConnectivity
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL

/// A listener of the chat, as it is configured.
struct ServerListener: Sendable {
    var scheme: String
    var host: String
    var port: Int
    var tls: NIOSSLContext?
    var certificate: CertificateFingerprint?
    /// Whether the server runs without this listener if its port is in use.
    var isOptional = false
    var transport = SecureTransport.unchanged
    /// Set to the port when the server listens.
    var boundPort: NIOLockedValueBox<Int?>?

    /// The listeners of a configuration, after its check.
    static func all(_ configuration: ChatServerConfiguration) throws(ChatServerError) -> [ServerListener] {
        let host = configuration.host
        var plain = ServerListener(scheme: "http", host: host, port: configuration.port)
        var secure: ServerListener?
        do {
            switch configuration.tls.value {
            case .off: break
            case .selfSigned(let port, let isOptional):
                let identity = try ServerIdentity.selfSigned(host: host, now: .now)
                secure = ServerListener(
                    scheme: "https", host: host, port: port, tls: try identity.context(), certificate: identity.fingerprint,
                    // Without the other listener, it is not optional.
                    isOptional: isOptional && configuration.listensWithoutTLS)
            case .files(let port, let certificates, let key):
                let identity = try ServerIdentity(certificates: certificates, key: key)
                let boundPort = NIOLockedValueBox<Int?>(nil)
                secure = ServerListener(
                    scheme: "https", host: host, port: port, tls: try identity.context(), certificate: identity.fingerprint,
                    transport: configuration.isStrict(tlsPort: port) ? .strict : .unchanged, boundPort: boundPort)
                plain.transport = .redirects(port: boundPort)
            }
        } catch {
            throw ChatServerError(
                .certificate, message: "The certificate or its key cannot be used: \(ConnectivityError.reason(of: error))")
        }
        return (configuration.listensWithoutTLS ? [plain] : []) + (secure.map { [$0] } ?? [])
    }

    /// Adds the address to a failure to listen.
    func explain(_ error: any Error) -> any Error {
        guard let error = error as? IOError else { return error }
        guard error.errnoCode == EADDRINUSE else {
            return ChatServerError(
                .cannotListen, message: "The server cannot listen on \(self.host) port \(self.port): \(ConnectivityError.reason(of: error))"
            )
        }
        return ChatServerError(
            .addressInUse, message: "Port \(self.port) on \(self.host) is used by another program. Select another port.", port: self.port)
    }
}
