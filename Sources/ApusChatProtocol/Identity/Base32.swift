/// Encodes a non-negative 64-bit number as 13 characters in Crockford's base 32, in lower case.
///
/// The alphabet does not contain `i`, `l`, `o` and `u`, which look like other characters. The
/// length is fixed, so that the texts sort in the order of the numbers.
package enum Base32 {
    /// The length of a text.
    package static let length = 13

    private static let digits: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"

    /// Returns the text of a number; the sign bit is ignored.
    package static func text(of number: Int64) -> String {
        String(unsafeUninitializedCapacity: self.length) { text in
            var rest = UInt64(bitPattern: number) & UInt64(Int64.max)
            for index in stride(from: self.length - 1, through: 0, by: -1) {
                text[index] = self.digits.utf8Start[Int(truncatingIfNeeded: rest & 31)]
                rest >>= 5
            }
            return self.length
        }
    }

    /// Returns the number of a text; nil if ``text(of:)`` does not return this text for any number.
    package static func number(of text: String) -> Int64? {
        guard text.utf8.count == self.length else { return nil }
        var number: UInt64 = 0
        var isFirst = true
        for character in text.utf8 {
            guard let digit = self.digit(of: character), !isFirst || digit < 8 else { return nil }
            number = number << 5 | digit
            isFirst = false
        }
        return Int64(exactly: number)
    }

    private static func digit(of character: UInt8) -> UInt64? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "h"): UInt64(character - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "j"), UInt8(ascii: "k"): UInt64(character - UInt8(ascii: "j")) + 18
        case UInt8(ascii: "m"), UInt8(ascii: "n"): UInt64(character - UInt8(ascii: "m")) + 20
        case UInt8(ascii: "p")...UInt8(ascii: "t"): UInt64(character - UInt8(ascii: "p")) + 22
        case UInt8(ascii: "v")...UInt8(ascii: "z"): UInt64(character - UInt8(ascii: "v")) + 27
        default: nil
        }
    }
}
