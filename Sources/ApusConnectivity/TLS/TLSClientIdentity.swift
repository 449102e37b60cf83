/// A certificate of the client's own and its key, for servers that ask for one.
public struct TLSClientIdentity: Sendable, Hashable, CustomStringConvertible {
    /// PEM text of the certificate and of those between it and an authority that the server knows, the own one first.
    public var certificateChainPEM: String
    /// PEM text of the private key, not encrypted.
    public var privateKeyPEM: String

    /// An identity of two PEM texts; they are read when the first connection is made.
    public init(certificateChainPEM: String, privateKeyPEM: String) {
        self.certificateChainPEM = certificateChainPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Says nothing of the key.
    public var description: String { "TLSClientIdentity(\(self.certificateChainPEM.utf8.count) bytes of certificates)" }
}
