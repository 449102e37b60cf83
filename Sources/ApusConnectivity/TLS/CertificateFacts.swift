import SwiftASN1

/// What our own checks need to know of a certificate. Pure; any bytes are an answer or `nil`.
///
/// swift-nio-ssl shows little of a certificate (its `extractPublicKey` stops the process for a key it does not know), and
/// swift-certificates would be a large dependency for four fields.
///
/// Source: RFC 5280 4.1.
struct CertificateFacts: Equatable {
    /// The issuer's name as encoded.
    let issuer: ArraySlice<UInt8>
    /// The subject's name as encoded.
    let subject: ArraySlice<UInt8>
    /// The `SubjectPublicKeyInfo` as encoded.
    let publicKeyInfo: ArraySlice<UInt8>
    /// The DNS names among the subject's alternative names, as they stand there.
    let dnsNames: [ArraySlice<UInt8>]
    /// The IP addresses among them, 4 or 16 bytes each.
    let ipAddresses: [ArraySlice<UInt8>]

    /// Whether the certificate says that it issued itself.
    var isSelfIssued: Bool { self.issuer == self.subject }

    /// Takes a certificate apart.
    init?(der: [UInt8]) {
        // Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }
        guard let certificate = try? DER.parse(der), let body = Self.children(certificate)?.first, var fields = Self.children(body)
        else { return nil }
        // TBSCertificate ::= SEQUENCE { version [0] OPTIONAL, serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo, … }
        if fields.first?.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) { fields.removeFirst() }
        guard fields.count >= 6 else { return nil }
        self.issuer = fields[2].encodedBytes
        self.subject = fields[4].encodedBytes
        self.publicKeyInfo = fields[5].encodedBytes
        let extensions = fields.first { $0.identifier == ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific) }
        let names = extensions.map(Self.alternativeNames(inExtensions:)) ?? []
        // GeneralName: dNSName [2] IA5String, iPAddress [7] OCTET STRING
        self.dnsNames = names.compactMap { Self.bytes(of: $0, tag: 2) }
        self.ipAddresses = names.compactMap { Self.bytes(of: $0, tag: 7) }
    }

    private static func bytes(of name: ASN1Node, tag: UInt) -> ArraySlice<UInt8>? {
        guard name.identifier == ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific), case .primitive(let bytes) = name.content
        else { return nil }
        return bytes
    }

    private static func alternativeNames(inExtensions node: ASN1Node) -> [ASN1Node] {
        let alternativeName: ASN1ObjectIdentifier = [2, 5, 29, 17]
        guard let list = self.children(node)?.first, let extensions = self.children(list) else { return [] }
        for item in extensions {
            // Extension ::= SEQUENCE { extnID, critical DEFAULT FALSE, extnValue OCTET STRING }
            guard let parts = self.children(item), let id = parts.first, let value = parts.last,
                (try? ASN1ObjectIdentifier(derEncoded: id)) == alternativeName, case .primitive(let bytes) = value.content,
                let names = (try? DER.parse(bytes)).flatMap(Self.children)
            else { continue }
            return names
        }
        return []
    }

    private static func children(_ node: ASN1Node) -> [ASN1Node]? {
        guard case .constructed(let nodes) = node.content else { return nil }
        return Array(nodes)
    }
}
