/// Byte classification for the reader and the writer.
enum JSONBytes {
    static let highBits: UInt64 = 0x8080_8080_8080_8080
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Marks each quote, backslash or control character of eight bytes with the high bit of its
    /// byte.
    ///
    /// The lowest mark is correct; those above it may be false positives, caused by the borrow of
    /// the subtraction. Bytes of 0x80 or more are not marked. Source: the `haszero` and `hasless`
    /// tests of S. E. Anderson's "Bit Twiddling Hacks".
    @inline(__always)
    static func special(in word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        return ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word) & self.highBits
    }

    static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
