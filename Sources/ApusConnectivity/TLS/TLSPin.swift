/// A certificate or a key that a server is known by.
public enum TLSPin: Sendable, Hashable, CustomStringConvertible {
    /// Exactly this certificate. It changes whenever the certificate is renewed.
    case certificate(CertificateFingerprint)
    /// Any certificate for this key. It stays when the certificate is renewed for the same key.
    case publicKey(PublicKeyFingerprint)

    /// What is pinned, and the fingerprint.
    public var description: String {
        switch self {
        case .certificate(let fingerprint): "certificate \(fingerprint)"
        case .publicKey(let fingerprint): "public key \(fingerprint)"
        }
    }
}
