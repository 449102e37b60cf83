import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate for trying out: made at the start, signed by itself, for `localhost`, the loopback addresses and the host given.
enum SelfSignedCertificate {
    static func context(host: String, now: Date) throws -> NIOSSLContext {
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
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        return try self.context(
            certificates: [.certificate(try NIOSSLCertificate(bytes: serializer.serializedBytes, format: .der))],
            key: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)))
    }

    static func context(certificates: [NIOSSLCertificateSource], key: NIOSSLPrivateKeySource) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: certificates, privateKey: key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
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
