import ApusJSON
import Crypto
import Foundation

/// An access token of LiveKit: a JWT (RFC 7519) with HMAC-SHA-256 (RFC 7518 section 3.2), whose
/// claim `video` contains the grants.
///
/// Source: LiveKit, "Tokens & grants" (docs.livekit.io/home/get-started/authentication).
struct LiveKitToken: Sendable {
    /// The name of the participant; nil for requests of the server.
    var identity: String?
    /// The name that other participants see.
    var name: String?
    /// The grants of the claim `video`.
    var grants: JSONObject
    /// The period in which the token is valid, in seconds since 1970.
    var validity: Range<Int64>

    /// Returns the grants of a participant of a room.
    static func joining(_ room: String) -> JSONObject {
        ["room": .string(room), "roomJoin": true, "canPublish": true, "canSubscribe": true]
    }
    /// Returns the grants with which the server creates, deletes and reads a room.
    static func administering(_ room: String) -> JSONObject { ["room": .string(room), "roomCreate": true, "roomAdmin": true] }

    /// Returns the signed token.
    func text(key: String, secret: String) throws -> String {
        var claims: JSONObject = [
            "iss": .string(key), "nbf": .integer(self.validity.lowerBound), "exp": .integer(self.validity.upperBound),
            "video": .object(self.grants),
        ]
        if let identity { claims["sub"] = .string(identity) }
        if let name, !name.isEmpty { claims["name"] = .string(name) }
        let header = Self.base64URL(#"{"alg":"HS256","typ":"JWT"}"#.utf8)
        let signed = header + "." + Self.base64URL(try JSONValue.object(claims).jsonString().utf8)
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return signed + "." + Self.base64URL(code)
    }

    /// Returns base64url without padding (RFC 4648 section 5).
    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
