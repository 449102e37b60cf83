package import ApusConnectivity
import Crypto
package import Foundation
import SwiftASN1
import X509

/// Creates certificates for servers that have no certificate from an authority.
package enum SelfSignedCertificate {
    /// Creates a self-signed certificate and its key, for `localhost`, the loopback addresses and
    /// `host`.
    ///
    /// - Parameters:
    ///   - host: A name or an IPv4 address. IPv6 addresses other than `::1` are not added to the
    ///     certificate.
    ///   - now: The current time. The certificate is valid from one hour before this time to 90
    ///     days after it.
    package static func makeIdentity(host: String, now: Date) throws -> TLSIdentity {
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
                SubjectAlternativeNames(Self.names(of: host))
            }, issuerPrivateKey: signer)
        return TLSIdentity(
            certificateChainPEM: try certificate.serializeAsPEM().pemString + "\n", privateKeyPEM: key.pemRepresentation + "\n")
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
