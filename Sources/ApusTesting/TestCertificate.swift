package import Crypto
package import Foundation
package import NIOSSL
import SwiftASN1
package import X509

/// A certificate and its private key for tests.
package struct TestCertificate {
    package let certificate: Certificate
    package let key: P256.Signing.PrivateKey

    /// Creates a certificate for `names`, signed by `issuer` or self-signed.
    package init(
        _ name: String, names: [GeneralName] = [.dnsName("localhost"), .loopback], issuer: TestCertificate? = nil,
        isAuthority: Bool = false,
        expiresAfter seconds: TimeInterval = 3600
    ) throws {
        self.key = P256.Signing.PrivateKey()
        let subject = try DistinguishedName { CommonName(name) }
        let signer = Certificate.PrivateKey(issuer?.key ?? self.key)
        self.certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(self.key.publicKey),
            notValidBefore: Date.now.addingTimeInterval(min(0, seconds) - 3600), notValidAfter: Date.now.addingTimeInterval(seconds),
            issuer: issuer?.certificate.subject ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                if isAuthority {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                    Critical(KeyUsage(keyCertSign: true))
                } else {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.serverAuth, .clientAuth])
                    SubjectAlternativeNames(names)
                }
            }, issuerPrivateKey: signer)
    }

    package var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try self.certificate.serialize(into: &serializer)
            return serializer.serializedBytes
        }
    }

    package var pem: String { get throws { try self.certificate.serializeAsPEM().pemString } }
    package var keyPEM: String { self.key.pemRepresentation }
    package var digest: [UInt8] { get throws { Array(SHA256.hash(data: try self.der)) } }
    /// The SHA-256 digest of the key's SubjectPublicKeyInfo.
    package var keyDigest: [UInt8] { Array(SHA256.hash(data: self.key.publicKey.derRepresentation)) }

    package func serverConfiguration() throws -> TLSConfiguration {
        TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: try self.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(self.key.derRepresentation), format: .der)))
    }
}

extension GeneralName {
    package static let loopback = GeneralName.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))
}
