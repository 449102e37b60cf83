/// The TLS settings of a server: its certificate, the minimum version, and the certificates that it
/// requests of clients.
///
/// The default requires TLS 1.2 or later and requests no certificate. The type does not depend on a
/// TLS library.
public struct TLSServerSettings: Sendable, Hashable {
    /// The certificate of the server and its private key.
    public var identity: TLSIdentity

    /// The minimum version of TLS. Default: TLS 1.2.
    public var minimumVersion: TLSSettings.Version

    /// The authorities, one or more certificates in PEM format, one of which must have issued the
    /// certificate that each client presents. Default: `nil`, clients need no certificate.
    public var clientAuthoritiesPEM: String?

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - identity: The certificate of the server and its private key.
    ///   - minimumVersion: The minimum version of TLS.
    ///   - clientAuthoritiesPEM: The authorities of the required client certificates; `nil`
    ///     requires none.
    public init(identity: TLSIdentity, minimumVersion: TLSSettings.Version = .tls12, clientAuthoritiesPEM: String? = nil) {
        self.identity = identity
        self.minimumVersion = minimumVersion
        self.clientAuthoritiesPEM = clientAuthoritiesPEM
    }
}
