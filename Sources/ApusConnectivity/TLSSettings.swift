/// How a client judges the server's certificate. The default verifies chain and host name against the system's roots.
///
/// A value without any TLS library in it; the shells turn it into the configuration of the one they use.
public struct TLSSettings: Sendable, Hashable {
    /// What a certificate must satisfy before the first byte of the application is sent.
    public enum Verification: Sendable, Hashable {
        /// The chain ends at a root the system trusts, and the certificate names the host.
        case system
        /// As `system`, but these authorities are trusted too. PEM text of one or more certificates.
        case additionalAuthorities(pem: String)
        /// Exactly this certificate, whoever signed it (a self-signed one for instance). Chain, dates and host name are not looked at:
        /// the fingerprint says more than they do.
        case pinned(CertificateFingerprint)
        /// Nothing is checked. Anyone on the way can read and change everything: for tests only.
        case insecureSkipVerification
    }

    /// The rule for the server's certificate. Default: `.system`.
    public var verification: Verification

    /// The name to verify and to announce (SNI) in place of the URL's host.
    ///
    /// Default: `nil`, the URL's host. Needed when connecting by address to a server with a named certificate.
    public var serverName: String?

    /// Makes settings; without arguments the safe default.
    public init(verification: Verification = .system, serverName: String? = nil) {
        self.verification = verification
        self.serverName = serverName
    }

    /// Verified against the system's roots.
    public static let system = Self()

    /// The system's roots and the authorities of this PEM text.
    public static func trusting(authoritiesPEM pem: String) -> Self { Self(verification: .additionalAuthorities(pem: pem)) }

    /// Only the certificate with this fingerprint.
    public static func pinned(_ fingerprint: CertificateFingerprint) -> Self { Self(verification: .pinned(fingerprint)) }

    /// Accepts every certificate, and with it every eavesdropper. For tests only.
    public static let insecureSkipVerification = Self(verification: .insecureSkipVerification)
}
