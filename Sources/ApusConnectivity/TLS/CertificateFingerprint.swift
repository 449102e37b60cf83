/// The SHA-256 digest of a certificate's DER bytes.
public struct CertificateFingerprint: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Creates a fingerprint from a digest; `nil` unless it has 32 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses 64 hexadecimal digits in either case, with or without the colons that
    /// `openssl x509 -fingerprint -sha256` prints. Returns `nil` for other texts.
    public init?(_ description: String) {
        var bytes: [UInt8] = []
        var high: UInt8?
        var isAfterColon = true
        for character in description.utf8 {
            if character == UInt8(ascii: ":") {
                // A colon must follow a whole byte.
                guard high == nil, !isAfterColon else { return nil }
                isAfterColon = true
                continue
            }
            isAfterColon = false
            guard let digit = Self.value(ofHexDigit: character), bytes.count < 32 else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil, !isAfterColon else { return nil }
        self.init(bytes: bytes)
    }

    private static func value(ofHexDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// 64 lowercase hexadecimal digits.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: self.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
