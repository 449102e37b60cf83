import SwiftASN1

/// The fields of a certificate that this package checks. Performs no I/O; malformed bytes result in
/// `nil`.
///
/// swift-nio-ssl exposes few fields, and its `extractPublicKey` traps on an unknown key type.
/// swift-certificates would be a large dependency for five fields.
///
/// Source: RFC 5280 section 4.1.
struct CertificateFacts: Equatable {
    /// The DER encoding of the issuer's name.
    let issuer: ArraySlice<UInt8>
    /// The DER encoding of the subject's name.
    let subject: ArraySlice<UInt8>
    /// The DER encoding of the `SubjectPublicKeyInfo`.
    let publicKeyInfo: ArraySlice<UInt8>
    /// The DNS names in the subject alternative name extension, unchanged.
    let dnsNames: [ArraySlice<UInt8>]
    /// The IP addresses in the subject alternative name extension, usually 4 or 16 bytes each.
    let ipAddresses: [ArraySlice<UInt8>]

    /// Whether issuer and subject are the same.
    var isSelfIssued: Bool { self.issuer == self.subject }

    /// Parses a certificate; `nil` if it is malformed.
    init?(der: [UInt8]) {
        // Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }
        guard let certificate = try? DER.parse(der), let body = Self.children(certificate)?.first, var fields = Self.children(body)
        else { return nil }
        // TBSCertificate ::= SEQUENCE { version [0] OPTIONAL, serialNumber, signature, issuer,
        // validity, subject, subjectPublicKeyInfo, … }
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
