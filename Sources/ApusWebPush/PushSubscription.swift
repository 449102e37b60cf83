package import ApusJSON
package import Crypto

/// The endpoint and the keys with which a browser receives pushes. Source: Push API (W3C), `toJSON`
/// of a `PushSubscription`; RFC 8291 section 2.
package struct PushSubscription: Sendable {
    /// The maximum length of an endpoint, in bytes. Known push services use at most 500.
    package static let endpointBytes = 2_000

    package let endpoint: PushEndpoint
    /// The public key of the browser, with which messages for the browser are encrypted.
    package let key: P256.KeyAgreement.PublicKey
    /// The authentication secret that the browser shares with the server.
    package let secret: [UInt8]

    package init(endpoint: PushEndpoint, key: P256.KeyAgreement.PublicKey, secret: [UInt8]) {
        self.endpoint = endpoint
        self.key = key
        self.secret = secret
    }

    /// Decodes the JSON representation that browsers create: `{"endpoint": …, "keys": {"p256dh": …,
    /// "auth": …}}`.
    ///
    /// - Throws: An error with the name of the invalid field and the rule that it violates.
    package init(json: JSONObject) throws(PushFieldError) {
        guard let text = json["endpoint"]?.stringValue, text.utf8.count <= Self.endpointBytes, let endpoint = PushEndpoint(text) else {
            throw PushFieldError(
                field: "endpoint", rule: "must be an https URL of at most \(Self.endpointBytes) bytes in ASCII, without user information")
        }
        let keys = json["keys"]?.objectValue
        guard let bytes = keys?["p256dh"]?.stringValue.flatMap({ Base64URL.decode($0) }), bytes.count == 65,
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes)
        else { throw PushFieldError(field: "keys.p256dh", rule: "must be an uncompressed point of P-256 in base64url") }
        guard let secret = keys?["auth"]?.stringValue.flatMap({ Base64URL.decode($0) }), secret.count == 16 else {
            throw PushFieldError(field: "keys.auth", rule: "must be 16 bytes in base64url")
        }
        self.init(endpoint: endpoint, key: key, secret: secret)
    }

    /// The JSON representation, in which the subscription is stored.
    package var json: JSONObject {
        [
            "endpoint": .string(self.endpoint.url),
            "keys": .object([
                "p256dh": .string(Base64URL.encode(self.key.x963Representation)), "auth": .string(Base64URL.encode(self.secret)),
            ]),
        ]
    }
}

/// The error of a subscription with an invalid field.
package struct PushFieldError: Error, Equatable {
    package let field: String
    package let rule: String
}

/// The address of a push resource (RFC 8030 section 4): an https URL that a client provides.
package struct PushEndpoint: Sendable, Hashable {
    package let url: String
    /// The host without brackets.
    package let host: String
    package let port: Int
    /// The path and query.
    package let target: String

    /// The origin (RFC 6454), which is the audience of a VAPID token.
    package var origin: String {
        "https://" + (self.host.contains(":") ? "[\(self.host)]" : self.host) + (self.port == 443 ? "" : ":\(self.port)")
    }

    /// Parses a URL. Returns nil unless the URL has the scheme https, no user information, visible ASCII
    /// characters only, and a host that is an IPv6 address or consists of letters, digits, periods,
    /// hyphens and underscores.
    package init?(_ url: String) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), url.prefix(8).lowercased() == "https://" else { return nil }
        let rest = url.dropFirst(8).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("\\") else { return nil }
        let host: Substring
        let port: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            port = authority[authority.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
            else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            port = authority.dropFirst(host.count)
            guard host.utf8.allSatisfy(Self.isHostCharacter) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        if port.isEmpty || port == ":" {
            self.port = 443
        } else {
            guard port.first == ":", port.count <= 6, port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(port.dropFirst()), (1...65_535).contains(number)
            else { return nil }
            self.port = number
        }
        let target = String(rest[authority.endIndex...])
        self.url = url
        self.host = host.lowercased()
        self.target = target.hasPrefix("/") ? target : "/" + target
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
