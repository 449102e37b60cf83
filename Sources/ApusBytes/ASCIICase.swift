// The names, tokens, schemes, hosts and media types of HTTP are compared by bytes, with the case of ASCII letters folded.
//
// `String` compares by canonical equivalence, and `lowercased()` maps all of Unicode: with them U+212A KELVIN SIGN is a `k`, and U+037E is a `;`.
//
// Source: RFC 9110 5.1, 5.6.2 and 8.3.1; RFC 3986 3.1 and 3.2.2; RFC 4790 9.2 (`i;ascii-casemap`).

extension StringProtocol {
    /// Whether both texts have the same bytes.
    package func hasSameBytes(as other: some StringProtocol) -> Bool { self.utf8.elementsEqual(other.utf8) }

    /// Whether both texts have the same bytes, apart from the case of ASCII letters.
    package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        self.utf8.elementsEqual(other.utf8) { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The text with its ASCII letters in lower case. Every other character stays as it is.
    package var asciiLowercased: String {
        guard self.utf8.contains(where: \.isASCIIUppercase) else { return String(self) }
        return String(decoding: self.utf8.map(\.asciiLowercased), as: UTF8.self)
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs at both ends, which HTTP calls optional white space (RFC 9110 5.6.3).
    package var trimmedOfBlanks: Substring {
        func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = self[...].utf8
        while isBlank(bytes.first) { bytes.removeFirst() }
        while isBlank(bytes.last) { bytes.removeLast() }
        return Substring(bytes)
    }

    /// The parts between the bytes `separator`, an ASCII character. Empty parts are kept.
    package func split(atByte separator: Unicode.Scalar) -> [Substring] {
        self[...].utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { Substring($0) }
    }
}

extension UInt8 {
    /// Whether the byte is one of `A` to `Z`.
    package var isASCIIUppercase: Bool { self &- UInt8(ascii: "A") < 26 }

    /// The byte; one of `A` to `Z` in lower case.
    package var asciiLowercased: UInt8 { self.isASCIIUppercase ? self | 0x20 : self }
}
