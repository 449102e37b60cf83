/// A pinned certificate or key of a server.
public enum TLSPin: Sendable, Hashable, CustomStringConvertible {
    /// Accepts exactly this certificate. Each renewed certificate requires a new pin.
    case certificate(CertificateFingerprint)
    /// Accepts any certificate for this key. The pin stays valid if a renewal keeps the key.
    case publicKey(PublicKeyFingerprint)

    /// The kind of the pin and the fingerprint.
    public var description: String {
        switch self {
        case .certificate(let fingerprint): "certificate \(fingerprint)"
        case .publicKey(let fingerprint): "public key \(fingerprint)"
        }
    }
}
