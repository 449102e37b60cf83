import Crypto
import Foundation

/// Randomness, hashes and comparisons of secrets.
enum Secrets {
    /// Bytes nobody can guess: `SymmetricKey` takes them from the system's source.
    static func randomBytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }

    /// A new device token: 32 random bytes in base64url.
    static func newToken() -> String {
        Data(self.randomBytes(32)).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// A new identifier: 128 random bits in hexadecimal.
    static func newID() -> String { self.hex(self.randomBytes(16)) }

    /// What the database keeps of a token. A plain hash is enough: the token is random, there is nothing to guess.
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
