/// The TLS settings of a client: verification of the server, TLS version and client certificate.
///
/// The default verifies the chain against the system's roots, verifies the host name, and requires
/// TLS 1.2 or later. The type does not depend on a TLS library.
public struct TLSSettings: Sendable, Hashable {
    /// The verification of the server's certificate, completed before application data is sent.
    public enum Verification: Sendable, Hashable {
        /// Verifies the chain against the system's roots, and the host name.
        case system
        /// Verifies as `system`, and also trusts these authorities: one or more certificates in PEM
        /// format.
        case additionalAuthorities(pem: String)
        /// Verifies the host name, and the chain against these authorities only: one or more
        /// certificates in PEM format.
        case onlyAuthorities(pem: String)
        /// Requires one of these certificates or keys, regardless of the issuer. Does not verify
        /// the chain, the dates or the host name. An empty list accepts no certificate.
        case pinned([TLSPin])
        /// Verifies nothing, so that an attacker can read and change all data. For tests only.
        case insecureSkipVerification
    }

    /// A version of TLS. Versions before 1.2 are deprecated (RFC 8996) and not supported.
    public enum Version: Sendable, Hashable, Comparable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// The verification of the server's certificate. Default: `.system`.
    public var verification: Verification

    /// The pins, one of which the server's own certificate must match in addition to
    /// ``verification``. Default: empty, no pin is required.
    ///
    /// Pin the current key and its successor, so that clients can connect after a change of the
    /// key.
    public var pins: [TLSPin]

    /// The name to verify and to send with SNI in place of the URL's host. An IP address is
    /// verified but not sent.
    ///
    /// Default: `nil`, the URL's host. Required to connect by address to a server whose certificate
    /// contains a name.
    public var serverName: String?

    /// The minimum version of TLS. Default: TLS 1.2.
    public var minimumVersion: Version

    /// The client certificate, sent if the server requests one. Default: `nil`, none.
    public var clientIdentity: TLSIdentity?

    /// Creates settings. The defaults are secure.
    public init(
        verification: Verification = .system, pins: [TLSPin] = [], serverName: String? = nil, minimumVersion: Version = .tls12,
        clientIdentity: TLSIdentity? = nil
    ) {
        self.verification = verification
        self.pins = pins
        self.serverName = serverName
        self.minimumVersion = minimumVersion
        self.clientIdentity = clientIdentity
    }

    /// The default settings, which verify against the system's roots.
    public static let system = Self()

    /// Returns settings that trust the system's roots and the authorities in a PEM text.
    public static func trusting(authoritiesPEM pem: String) -> Self { Self(verification: .additionalAuthorities(pem: pem)) }

    /// Returns settings that accept only the certificate with this fingerprint.
    public static func pinned(_ fingerprint: CertificateFingerprint) -> Self { Self(verification: .pinned([.certificate(fingerprint)])) }

    /// Returns settings that accept only certificates for the key with this fingerprint.
    public static func pinned(_ fingerprint: PublicKeyFingerprint) -> Self { Self(verification: .pinned([.publicKey(fingerprint)])) }

    /// Settings that accept every certificate. For tests only.
    public static let insecureSkipVerification = Self(verification: .insecureSkipVerification)
}
