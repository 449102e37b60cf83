import Crypto
import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The certificate and private key of a server, or of a client whose server requests a certificate.
public struct TLSIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The certificate, followed by its intermediate certificates, in PEM format.
    public var certificateChainPEM: String
    /// The unencrypted private key in PEM format.
    public var privateKeyPEM: String

    /// Creates an identity from two PEM texts, which are parsed when the server starts or the
    /// client first connects.
    ///
    /// - Parameters:
    ///   - certificateChainPEM: The certificate, followed by its intermediate certificates.
    ///   - privateKeyPEM: The unencrypted private key.
    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Reads an identity from two PEM files.
    ///
    /// - Parameters:
    ///   - certificateChainFile: The path of the certificate and its intermediate certificates.
    ///   - privateKeyFile: The path of the unencrypted private key.
    /// - Throws: `ConnectivityError.Code.invalidConfiguration` for a file that cannot be read.
    public init(certificateChainFile: String, privateKeyFile: String) throws(ConnectivityError) {
        self.init(certificateChainPEM: try Self.text(of: certificateChainFile), privateKeyPEM: try Self.text(of: privateKeyFile))
    }

    private static func text(of file: String) throws(ConnectivityError) -> String {
        do {
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "the file \(file) cannot be read", cause: error)
        }
    }

    /// The fingerprint of the first certificate, for pinning; `nil` if the PEM text contains no
    /// valid certificate.
    public var fingerprint: CertificateFingerprint? {
        guard let certificate = try? NIOSSLCertificate.fromPEMBytes(Array(self.certificateChainPEM.utf8)).first,
            let bytes = try? certificate.toDERBytes()
        else { return nil }
        return CertificateFingerprint(bytes: SHA256.hash(data: bytes))
    }

    /// The size of the certificates, without the key.
    public var description: String { "TLSIdentity(\(self.certificateChainPEM.utf8.count) bytes of certificates)" }
}
