import ApusBytes
import Crypto
import HTTPTypes

/// The opening handshake, both sides.
///
/// Source: RFC 6455 4.
package enum WebSocketHandshake {
    /// The one version in use.
    package static let version = "13"

    /// "258EAFA5-…": proves that a server knows WebSocket (RFC 6455 1.3).
    private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The value of `Sec-WebSocket-Accept` that answers a key.
    package static func acceptValue(forKey key: String) -> String {
        Base64.encode(Insecure.SHA1.hash(data: Array((key + Self.magic).utf8)))
    }

    /// The value of `Sec-WebSocket-Key` for 16 random bytes.
    package static func key(fromRandom high: UInt64, _ low: UInt64) -> String {
        withUnsafeBytes(of: (high, low)) { Base64.encode($0) }
    }

    /// Whether `text` is the base64 of exactly 16 bytes. Bits that no byte takes may be set: clients draw the characters.
    static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 24 && bytes[22...].allSatisfy { $0 == UInt8(ascii: "=") } && bytes[..<22].allSatisfy(Base64.isCharacter)
    }

    /// Whether one of the comma-separated words of a field is `token`, in any case.
    static func fields(_ fields: HTTPFields, _ name: HTTPField.Name, contain token: String) -> Bool {
        fields[values: name].contains { value in
            value.split(separator: ",").contains { Self.trimmed($0).lowercased() == token }
        }
    }

    static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
