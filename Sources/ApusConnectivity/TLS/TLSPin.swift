/// A pinned certificate or key of a server.
public enum TLSPin: Sendable, Hashable, CustomStringConvertible {
    /// Accepts exactly this certificate. The pin changes with every renewal.
    case certificate(CertificateFingerprint)
    /// Accepts any certificate for this key. The pin is unchanged if a renewal keeps the key.
    case publicKey(PublicKeyFingerprint)

    /// The kind of the pin and the fingerprint.
    public var description: String {
        switch self {
        case .certificate(let fingerprint): "certificate \(fingerprint)"
        case .publicKey(let fingerprint): "public key \(fingerprint)"
        }
    }
}
