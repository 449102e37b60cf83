import ApusBytes
import Testing

@Suite struct DecimalDigitsTests {
    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("007", 7), ("9223372036854775807", .max), ("9223372036854775808", nil), ("", nil), ("+7", nil),
            ("-7", nil),
            ("-0", nil), (" 7", nil), ("7 ", nil), ("7.0", nil), ("7e1", nil), ("0x7", nil), ("７", nil), ("٧", nil), ("7\u{301}", nil),
            ("seven", nil), ("1_000", nil), ("1,000", nil), ("\u{200B}7", nil), ("7\n", nil), ("7\u{0}", nil),
        ] as [(String, Int64?)])
    func onlyDigitsAreANumber(text: String, number: Int64?) {
        #expect(Int64(digits: text) == number)
        #expect(Int64(digits: text[...]) == number)
    }

    @Test func aNumberIsInTheRangeOfItsType() {
        #expect(UInt8(digits: "255") == 255)
        #expect(UInt8(digits: "256") == nil)
    }
}
