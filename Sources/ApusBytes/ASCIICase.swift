// HTTP names, tokens, schemes, hosts and media types compare by bytes, ignoring the case of ASCII
// letters.
//
// `String` compares by canonical equivalence, so U+037E equals `;`. `lowercased()` maps all of
// Unicode, so U+212A KELVIN SIGN becomes `k`.
//
// Source: RFC 9110 sections 5.1, 5.6.2 and 8.3.1; RFC 3986 sections 3.1 and 3.2.2; RFC 4790 section
// 9.2 (`i;ascii-casemap`).

extension StringProtocol {
    /// Returns whether both strings have the same UTF-8 bytes.
    @inlinable
    package func hasSameBytes(as other: some StringProtocol) -> Bool { self.utf8.elementsEqual(other.utf8) }

    /// Returns whether both strings have the same UTF-8 bytes, ignoring the case of ASCII letters.
    @inlinable
    package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        self.utf8.elementsEqual(other.utf8) { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The string with its ASCII letters in lower case. Other characters are unchanged.
    @inlinable
    package var asciiLowercased: String {
        guard self.utf8.contains(where: \.isASCIIUppercase) else { return String(self) }
        return String(decoding: self.utf8.map(\.asciiLowercased), as: UTF8.self)
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The string without leading and trailing spaces and tabs, the optional white space of RFC
    /// 9110 section 5.6.3.
    @inlinable
    package var trimmedOfBlanks: Substring {
        func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = self[...].utf8
        while isBlank(bytes.first) { bytes.removeFirst() }
        while isBlank(bytes.last) { bytes.removeLast() }
        return Substring(bytes)
    }

    /// Splits the string at an ASCII character. Empty parts are kept.
    @inlinable
    package func split(atByte separator: Unicode.Scalar) -> [Substring] {
        self[...].utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { Substring($0) }
    }
}

extension UInt8 {
    /// Whether the byte is one of `A` to `Z`.
    @inlinable
    package var isASCIIUppercase: Bool { self &- UInt8(ascii: "A") < 26 }

    /// The byte, in lower case if it is one of `A` to `Z`.
    @inlinable
    package var asciiLowercased: UInt8 { self.isASCIIUppercase ? self | 0x20 : self }
}
