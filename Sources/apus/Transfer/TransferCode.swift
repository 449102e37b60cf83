import Crypto

/// The code that `apus receive --code` prints and `apus send --code` accepts. It authenticates the
/// receiver to the sender and the sender to the receiver.
///
/// A code has 40 characters: the first 16 bytes of the SHA-256 of the receiver's certificate, a
/// secret of 8 bytes, and a check byte that detects typing errors. It cannot be attacked offline.
/// The sender sends the secret and the files over TLS, after it has verified the certificate. A man
/// in the middle would need a certificate with the same 128 bits of hash. An eavesdropper obtains
/// at most the hash of the certificate. To guess the secret, an attacker needs one connection to
/// the receiver for each of 2⁶⁴ values. A shorter code, to be spoken rather than copied, would
/// require a PAKE.
struct TransferCode: Hashable {
    static let hashBytes = 16
    static let secretBytes = 8

    /// The first bytes of the certificate's SHA-256.
    let hash: [UInt8]
    let secret: [UInt8]

    init(fingerprint: some Collection<UInt8>, secret: some Collection<UInt8>) {
        self.hash = Array(fingerprint.prefix(Self.hashBytes))
        self.secret = Array(secret.prefix(Self.secretBytes))
    }

    // Crockford's Base32, without I, L, O and U. The parser also accepts lowercase letters, and
    // reads I, L and O as digits.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// Parses a code, ignoring white space and hyphens. Returns `nil` if the text is not a valid
    /// code.
    init?(_ text: String) {
        var bits = 0
        var count = 0
        var bytes: [UInt8] = []
        for character in text.uppercased() where character != "-" && !character.isWhitespace {
            let letter: Character = character == "O" ? "0" : character == "I" || character == "L" ? "1" : character
            guard let value = Self.alphabet.firstIndex(of: letter), bytes.count < 25 else { return nil }
            bits = bits << 5 | value
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= (1 << count) - 1
            }
        }
        guard bytes.count == 25, count == 0, bytes[24] == Self.check(bytes[..<24]) else { return nil }
        self.init(fingerprint: bytes[..<16], secret: bytes[16..<24])
    }

    private static func check(_ bytes: some Sequence<UInt8>) -> UInt8 { SHA256.hash(data: Array(bytes)).first { _ in true } ?? 0 }

    /// The code as eight groups of five characters.
    var text: String {
        let bytes = self.hash + self.secret
        var bits = 0
        var count = 0
        var text = ""
        for byte in bytes + [Self.check(bytes)] {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                if text.count % 6 == 5 { text.append("-") }
                text.append(Self.alphabet[bits >> count])
                bits &= (1 << count) - 1
            }
        }
        return text
    }

    /// Returns whether a certificate's fingerprint matches the code.
    func names(_ fingerprint: [UInt8]) -> Bool { fingerprint.count == 32 && fingerprint.starts(with: self.hash) }

    /// The secret in hexadecimal, the form in which it is sent.
    var secretText: String { self.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    /// Returns whether a secret is correct. The time of the comparison does not depend on the
    /// position of the first difference.
    func accepts(secretText: String) -> Bool {
        let (left, right) = (Array(self.secretText.utf8), Array(secretText.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
