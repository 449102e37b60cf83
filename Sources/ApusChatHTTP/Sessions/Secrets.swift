import Crypto
import Foundation

/// Creates random values, and encodes secrets as text.
enum Secrets {
    /// Returns cryptographically secure random bytes.
    static func bytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }

    /// Returns a random number of 63 bits, which is used as the key of a row.
    static func key() -> Int64 { self.bytes(8).reduce(0) { $0 << 8 | Int64($1) } & .max }

    /// Returns a code of 80 random bits that a user can type, such as `k3v9-2m7q-…`. It contains no
    /// letters that look like digits.
    static func code() -> String {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
        let text = self.bytes(16).map { digits[Int($0 & 31)] }
        return stride(from: 0, to: 16, by: 4).map { String(text[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Returns the hash of a code as a user typed it. A fast hash is sufficient, because a code has
    /// 80 random bits.
    static func hash(ofCode text: String) -> [UInt8] {
        let letters = text.lowercased().unicodeScalars.compactMap { scalar -> UInt8? in
            switch scalar {
            case "o": UInt8(ascii: "0")
            case "i", "l": UInt8(ascii: "1")
            case "0"..."9", "a"..."z": UInt8(exactly: scalar.value)
            default: nil
            }
        }
        return Array(SHA256.hash(data: letters))
    }

    /// Returns base64url without padding (RFC 4648 section 5).
    static func base64url(_ bytes: [UInt8]) -> String {
        var text = Data(bytes).base64EncodedString()
        text.removeAll { $0 == "=" }
        return String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// Returns the bytes of base64url text without padding; nil if it is not valid.
    static func bytes(base64url text: Substring) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + padding).map(Array.init)
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
