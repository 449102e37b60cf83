/// A client certificate and its private key, for servers that request one.
public struct TLSClientIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The certificate, followed by its intermediate certificates, in PEM format.
    public var certificateChainPEM: String
    /// The unencrypted private key in PEM format.
    public var privateKeyPEM: String

    /// Creates an identity from two PEM texts, which are parsed for the first connection.
    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// The size of the certificates, without the key.
    public var description: String { "TLSClientIdentity(\(self.certificateChainPEM.utf8.count) bytes of certificates)" }
}
