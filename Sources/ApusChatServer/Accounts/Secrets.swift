import Crypto
import Foundation

/// Random values and hashes of secrets.
enum Secrets {
    /// Returns cryptographically secure random bytes.
    static func randomBytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }

    /// Returns a new device token: 32 random bytes in base64url.
    static func newToken() -> String {
        Data(self.randomBytes(32)).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Returns a new identifier: 128 random bits in hexadecimal.
    static func newID() -> String { self.hex(self.randomBytes(16)) }

    /// Returns the stored form of a token. A plain hash suffices, because a random token cannot be
    /// guessed.
    static func tokenHash(_ token: String) -> Data { Data(SHA256.hash(data: Array(token.utf8))) }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
