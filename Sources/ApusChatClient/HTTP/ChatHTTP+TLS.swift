import ApusConnectivity
import AsyncHTTPClient
import NIOCore
import NIOSSL

extension ChatHTTP {
    /// Redirects are not followed: a token goes to the server it was made for and to no other.
    ///
    /// - Throws: `badInput` for a pinned certificate or another name, which async-http-client cannot check. Nothing is sent rather than sent
    ///   unchecked.
    static func clientConfiguration(_ configuration: ChatClientConfiguration) throws(ChatClientError) -> HTTPClient.Configuration {
        var client = HTTPClient.Configuration()
        client.connectionPool.retryConnectionEstablishment = false  // a refused connection is news at once
        client.redirectConfiguration = .disallow
        client.timeout.connect = .milliseconds(configuration.requestTimeout.milliseconds)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12  // RFC 8996 retired 1.0 and 1.1
        switch configuration.tls.verification {
        case .system: break
        case .additionalAuthorities(let pem):
            do {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))]
            } catch {
                throw ChatClientError(.badInput, message: "the additional authorities are no PEM certificates", cause: error)
            }
        case .pinned:
            throw ChatClientError(
                .badInput, message: "the chat client cannot check a pinned certificate yet; give it as an additional authority instead")
        case .insecureSkipVerification: tls.certificateVerification = .none
        }
        guard configuration.tls.serverName == nil else {
            throw ChatClientError(.badInput, message: "the chat client cannot verify another server name yet; use the name in the address")
        }
        client.tlsConfiguration = tls
        return client
    }
}
