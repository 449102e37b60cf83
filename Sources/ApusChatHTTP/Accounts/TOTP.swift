import Crypto

/// Time-based one-time passwords.
///
/// Source: RFC 6238 with SHA-1, 6 digits and steps of 30 s, which all authenticators support.
enum TOTP {
    /// The length of a secret in bytes (RFC 4226 section 4, R6).
    static let secretBytes = 20
    private static let step: Int64 = 30_000

    /// Returns the code of a time step.
    static func code(_ secret: [UInt8], step: Int64) -> String {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * $0)) }
        let mac = Array(HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
        let offset = Int(mac[mac.count - 1] & 15)
        let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// Returns the time step of a valid code: the current step or an adjacent one, and later than
    /// the step of the last accepted code (RFC 6238 section 5.2). Returns nil for a wrong code.
    static func accepts(_ code: String, _ secret: [UInt8], after last: Int64, at time: Int64) -> Int64? {
        let typed = code.filter { !$0.isWhitespace }
        let now = max(0, time) / self.step
        // Compares all candidates, so that the running time does not depend on which of them
        // matches.
        var accepted: Int64?
        for candidate in (now - 1)...(now + 1) where candidate > last {
            if self.isEqual(self.code(secret, step: candidate), typed) { accepted = candidate }
        }
        return accepted
    }

    private static func isEqual(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns a secret in base32 (RFC 4648 section 6), the form that authenticators accept.
    static func text(of secret: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var text = ""
        var (bits, count) = (UInt32(0), 0)
        for byte in secret {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(digits[Int(bits >> UInt32(count) & 31)])
            }
            bits &= 0xFF
        }
        if count > 0 { text.append(digits[Int(bits << UInt32(5 - count) & 31)]) }
        return text
    }
}
