#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The SHA-256 digest of a key's `SubjectPublicKeyInfo`, as in RFC 7469 section 2.4 and curl's
/// `--pinnedpubkey`.
///
/// The following command prints it:
///
/// ```sh
/// openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der \
///     | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyFingerprint: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Creates a fingerprint from a digest; `nil` unless it has 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses base64, with or without curl's prefix `sha256//`, or 64 hexadecimal digits, with or
    /// without colons. Returns `nil` for other texts.
    public init?(_ description: String) {
        if let digest = CertificateFingerprint(description) {
            self.init(bytes: digest.bytes)
            return
        }
        let text = description.hasPrefix("sha256//") ? String(description.dropFirst(8)) : description
        guard let data = Data(base64Encoded: text) else { return nil }
        self.init(bytes: data)
    }

    /// `sha256//` and the digest in base64.
    public var description: String { "sha256//" + Data(self.bytes).base64EncodedString() }
}
