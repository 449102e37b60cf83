import Crypto

/// What `apus receive --code` prints and `apus send --code` takes: who the receiver is, and that the sender may send.
///
/// Forty characters: the first 16 bytes of the SHA-256 of the receiver's certificate, eight bytes of secret, and a byte that finds typing mistakes.
/// Nothing of it can be guessed away from the receiver. Who stands in the middle needs a certificate with those 128 bits of hash, and without it
/// sees neither the files nor the secret, which is sent inside TLS after the certificate was checked. Who listens sees the certificate's hash at
/// most. Who guesses the secret must ask the receiver for each of the 2⁶⁴, a connection at a time. A short code to speak over the telephone
/// would need a PAKE; this one is copied.
struct TransferCode: Hashable {
    static let hashBytes = 16
    static let secretBytes = 8

    /// The beginning of the certificate's SHA-256.
    let hash: [UInt8]
    let secret: [UInt8]

    init(fingerprint: some Collection<UInt8>, secret: some Collection<UInt8>) {
        self.hash = Array(fingerprint.prefix(Self.hashBytes))
        self.secret = Array(secret.prefix(Self.secretBytes))
    }

    // Crockford's: no I, L, O and U; small letters, and what looks like a digit, are taken as well.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// Reads a code; spaces and dashes do not count. `nil` for anything that is none.
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

    /// Eight groups of five.
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

    /// Whether a certificate is the receiver's.
    func names(_ fingerprint: [UInt8]) -> Bool { fingerprint.count == 32 && fingerprint.starts(with: self.hash) }

    /// The secret as it is sent.
    var secretText: String { self.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    /// Compares in a time that does not tell where they differ.
    func accepts(secretText: String) -> Bool {
        let (left, right) = (Array(self.secretText.utf8), Array(secretText.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
