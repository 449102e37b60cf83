import ApusJSON
package import Crypto

/// Creates the tokens by which push services identify the server. Source: RFC 8292.
package struct VAPID: Sendable {
    /// The validity of a token, in seconds. Push services accept at most 24 hours (RFC 8292 section
    /// 2).
    package static let validSeconds: Int64 = 12 * 3_600

    private let key: P256.Signing.PrivateKey
    private let contact: String?

    /// Creates a source of tokens.
    ///
    /// - Parameters:
    ///   - key: The key of the server, to which subscriptions are bound.
    ///   - contact: A `mailto:` or `https:` URL by which the operator of a push service can contact
    ///     the operator of the server.
    package init(key: P256.Signing.PrivateKey, contact: String? = nil) {
        self.key = key
        self.contact = contact
    }

    /// The public key, used as the `applicationServerKey` of a subscription.
    package var publicKey: String { Base64URL.encode(self.key.publicKey.x963Representation) }

    /// Returns the value of the field `Authorization` in requests to an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint, whose origin is the audience.
    ///   - time: The current time, in seconds since 1970.
    package func authorization(for endpoint: PushEndpoint, at time: Int64) throws -> String {
        let header: JSONObject = ["typ": "JWT", "alg": "ES256"]
        var claims: JSONObject = ["aud": .string(endpoint.origin), "exp": .integer(time + Self.validSeconds)]
        if let contact = self.contact { claims["sub"] = .string(contact) }
        let parts = try [header, claims].map { Base64URL.encode(try JSONWriter.bytes(of: .object($0))) }
        let content = parts.joined(separator: ".")
        let signature = try self.key.signature(for: Array(content.utf8)).rawRepresentation
        return "vapid t=\(content).\(Base64URL.encode(signature)), k=\(self.publicKey)"
    }
}
