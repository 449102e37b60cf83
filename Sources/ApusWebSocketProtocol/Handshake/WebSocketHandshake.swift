import ApusBytes
import Crypto
package import HTTPTypes

/// The opening handshake of a client and of a server.
///
/// Source: RFC 6455 section 4.
package enum WebSocketHandshake {
    /// The supported version.
    package static let version = "13"

    /// The GUID that is hashed together with the key. The hash proves that the server supports
    /// WebSocket (RFC 6455 section 1.3).
    private static let magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Returns the value of `Sec-WebSocket-Accept` for a key.
    package static func acceptValue(forKey key: String) -> String {
        var sha1 = Insecure.SHA1()
        var text = key + Self.magic
        text.withUTF8 { sha1.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return sha1.finalize().withUnsafeBytes { Base64.encode($0) }
    }

    /// Returns the value of `Sec-WebSocket-Key` for 16 random bytes.
    package static func key(fromRandom high: UInt64, _ low: UInt64) -> String {
        withUnsafeBytes(of: (high, low)) { Base64.encode($0) }
    }

    /// Returns whether `text` is the base64 of exactly 16 bytes. Unused bits may be set, because
    /// some clients choose characters at random.
    static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 24 && bytes[22...].allSatisfy { $0 == UInt8(ascii: "=") } && bytes[..<22].allSatisfy(Base64.isCharacter)
    }

    /// Returns whether a comma-separated field contains `token`, ignoring case.
    package static func fields(_ fields: HTTPFields, _ name: HTTPField.Name, contain token: String) -> Bool {
        for field in fields where field.name == name {
            let value = field.value
            var rest = value.utf8[...]
            while !rest.isEmpty {
                let word = rest.prefix { $0 != UInt8(ascii: ",") }
                if Substring(word).trimmedOfBlanks.equalsIgnoringASCIICase(token) { return true }
                rest = rest[word.endIndex...].dropFirst()
            }
        }
        return false
    }
}
