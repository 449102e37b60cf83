package import ApusConnectivity
import Crypto
package import Foundation
package import NIOSSL
import SwiftASN1
import X509

/// The certificate and key of a TLS server, from files or self-signed.
package struct ServerIdentity {
    private let certificates: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// Reads a certificate chain, with the server's own certificate first, and its key from PEM
    /// files.
    package init(certificates: String, key: String) throws {
        self.certificates = try NIOSSLCertificate.fromPEMFile(certificates)
        self.key = try NIOSSLPrivateKey(file: key, format: .pem)
    }

    private init(certificate: NIOSSLCertificate, key: NIOSSLPrivateKey) {
        self.certificates = [certificate]
        self.key = key
    }

    /// Creates a self-signed certificate for `localhost`, the loopback addresses and `host`, valid
    /// for 90 days.
    package static func selfSigned(host: String, now: Date) throws -> Self {
        let (certificate, key) = try self.make(host: host, now: now)
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        return Self(
            certificate: try NIOSSLCertificate(bytes: serializer.serializedBytes, format: .der),
            key: try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der))
    }

    /// Creates a self-signed certificate and its key in PEM format.
    package static func selfSignedPEM(host: String, now: Date) throws -> (certificate: String, key: String) {
        let (certificate, key) = try self.make(host: host, now: now)
        return (try certificate.serializeAsPEM().pemString + "\n", key.pemRepresentation + "\n")
    }

    private static func make(host: String, now: Date) throws -> (certificate: Certificate, key: P256.Signing.PrivateKey) {
        let key = P256.Signing.PrivateKey()
        let signer = Certificate.PrivateKey(key)
        let name = try DistinguishedName { CommonName("Apus, self-signed") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: signer.publicKey,
            notValidBefore: now.addingTimeInterval(-3_600),
            notValidAfter: now.addingTimeInterval(90 * 24 * 3_600), issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(digitalSignature: true, keyCertSign: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(self.names(of: host))
            }, issuerPrivateKey: signer)
        return (certificate, key)
    }

    /// Returns a context for TLS 1.2 or later, with HTTP/1.1 as its application protocol.
    package func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: self.certificates.map { .certificate($0) }, privateKey: .privateKey(self.key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// The fingerprint of the server's certificate, for certificate pinning.
    package var fingerprint: CertificateFingerprint? {
        guard let bytes = try? self.certificates.first?.toDERBytes() else { return nil }
        return CertificateFingerprint(bytes: SHA256.hash(data: bytes))
    }

    private static func names(of host: String) -> [GeneralName] {
        var names: [GeneralName] = [
            .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
        ]
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if numbers.count == 4, !numbers.contains(nil) {
            names.append(.ipAddress(ASN1OctetString(contentBytes: ArraySlice(numbers.compactMap { $0 }))))
        } else if !host.contains(":"), host != "localhost" {
            names.append(.dnsName(host))
        }
        return names
    }
}
