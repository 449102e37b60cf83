/// How a client judges the server's certificate, and what it shows of its own. The default verifies chain and host name against the
/// system's roots and speaks TLS 1.2 or later.
///
/// A value without any TLS library in it; the shells turn it into the configuration of the one they use.
public struct TLSSettings: Sendable, Hashable {
    /// What a certificate must satisfy before the first byte of the application is sent.
    public enum Verification: Sendable, Hashable {
        /// The chain ends at a root the system trusts, and the certificate names the host.
        case system
        /// As `system`, but these authorities are trusted too. PEM text of one or more certificates.
        case additionalAuthorities(pem: String)
        /// The chain ends at one of these authorities and at no other, and the certificate names the host. PEM text of one or more.
        case onlyAuthorities(pem: String)
        /// One of these certificates or keys, whoever signed it (a self-signed one for instance). Chain, dates and host name are not
        /// looked at: the fingerprint says more than they do. An empty list accepts nothing.
        case pinned([TLSPin])
        /// Nothing is checked. Anyone on the way can read and change everything: for tests only.
        case insecureSkipVerification
    }

    /// A version of TLS. Those before 1.2 are retired (RFC 8996) and cannot be chosen.
    public enum Version: Sendable, Hashable, Comparable {
        /// RFC 5246.
        case tls12
        /// RFC 8446.
        case tls13
    }

    /// The rule for the server's certificate. Default: `.system`.
    public var verification: Verification

    /// What the server's own certificate must match beside ``verification``: one of these. Default: none, no such rule.
    ///
    /// Give the key in use and the one that will follow it, else a renewal locks every client out.
    public var pins: [TLSPin]

    /// The name to verify and to announce (SNI) in place of the URL's host. An IP address is verified and not announced.
    ///
    /// Default: `nil`, the URL's host. Needed when connecting by address to a server with a named certificate.
    public var serverName: String?

    /// The oldest version spoken. Default: TLS 1.2.
    public var minimumVersion: Version

    /// Shown to a server that asks. Default: `nil`, none.
    public var clientIdentity: TLSClientIdentity?

    /// Makes settings; without arguments the safe default.
    public init(
        verification: Verification = .system, pins: [TLSPin] = [], serverName: String? = nil, minimumVersion: Version = .tls12,
        clientIdentity: TLSClientIdentity? = nil
    ) {
        self.verification = verification
        self.pins = pins
        self.serverName = serverName
        self.minimumVersion = minimumVersion
        self.clientIdentity = clientIdentity
    }

    /// Verified against the system's roots.
    public static let system = Self()

    /// The system's roots and the authorities of this PEM text.
    public static func trusting(authoritiesPEM pem: String) -> Self { Self(verification: .additionalAuthorities(pem: pem)) }

    /// Only the certificate with this fingerprint.
    public static func pinned(_ fingerprint: CertificateFingerprint) -> Self { Self(verification: .pinned([.certificate(fingerprint)])) }

    /// Only a certificate for the key with this fingerprint.
    public static func pinned(_ fingerprint: PublicKeyFingerprint) -> Self { Self(verification: .pinned([.publicKey(fingerprint)])) }

    /// Accepts every certificate, and with it every eavesdropper. For tests only.
    public static let insecureSkipVerification = Self(verification: .insecureSkipVerification)
}
