import ApusJSON
import ApusSeededRandom
import Testing

struct JSONNumberReadingTests {
    @Test(
        arguments: [
            ("0", JSONValue.integer(0)), ("-1", -1), ("123", 123), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .double(0x1p63)), ("-9223372036854775809", .double(-0x1p63)), ("9999999999999999999", .double(1e19)),
            ("18446744073709551615", .double(0x1p64)), ("18446744073709551616", .double(0x1p64)), ("100000000000000000000", .double(1e20)),
            ("1.0", .double(1)), ("1.5", .double(1.5)), ("-0.0", .double(-0.0)), ("0.1", .double(0.1)), ("0e0", .double(0)),
            ("1e2", .double(100)), ("1E2", .double(100)),
            ("1e+2", .double(100)), ("1e-2", .double(0.01)), ("1.5e3", .double(1500)), ("123456789012345678", 123_456_789_012_345_678),
            ("0.30000000000000004", .double(0.30000000000000004)), ("1e22", .double(1e22)), ("1e23", .double(1e23)),
            ("5e-324", .double(.leastNonzeroMagnitude)),
            ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("2.2250738585072014e-308", .double(.leastNormalMagnitude)),
            ("1e-400", .double(0)),
            ("0.0000001", .double(1e-7)), ("9007199254740993.0", .double(9007199254740992)), ("0.1e1", .double(1)),
            ("0.00000000000000000000000000001", .double(1e-29)),
            ("0e999999999999999999999", .double(0)), ("1e-999999999999999999999", .double(0)),
            ("179769313486231570000000000000000000000", .double(1.7976931348623157e38)),
        ] as [(String, JSONValue)])
    func takes(text: String, value: JSONValue) throws {
        #expect(try JSONReader.read(text) == value)
        #expect(try JSONReader.read("[\(text)]") == [value])
    }

    @Test func minusZeroKeepsItsSign() throws {
        let value = try #require(try JSONReader.read("-0").doubleValue)
        #expect(value == 0 && value.sign == .minus)
    }

    @Test(
        arguments: [
            ("[01]", JSONError.Code.invalidNumber), ("[-01]", .invalidNumber), ("[00]", .invalidNumber), ("[1.]", .invalidNumber),
            ("[1.e1]", .invalidNumber), ("[-]", .invalidNumber),
            ("[-.5]", .invalidNumber), ("[-a]", .invalidNumber), ("[--1]", .invalidNumber), ("[1e]", .invalidNumber),
            ("[1e+]", .invalidNumber), ("[1e+-1]", .invalidNumber),
            ("[1eE2]", .invalidNumber), ("[-Infinity]", .invalidNumber), ("[-NaN]", .invalidNumber), ("[1e400]", .numberOutOfRange),
            ("[-1e400]", .numberOutOfRange),
            ("[1e99999999999999999999]", .numberOutOfRange), ("[0.1a]", .unexpectedByte), ("[1+2]", .unexpectedByte),
            ("[1-2]", .unexpectedByte), ("[１]", .unexpectedByte),
        ] as [(String, JSONError.Code)])
    func refuses(text: String, code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) { try JSONReader.read(text) }
        #expect(error?.code == code)
    }

    @Test(arguments: [(1024, true), (1025, false), (100_000, false)] as [(Int, Bool)])
    func lengthIsBounded(length: Int, isTaken: Bool) throws {
        let text = "0." + String(repeating: "3", count: length - 2)
        if isTaken {
            #expect(try JSONReader.read(text) == .double(1.0 / 3))
        } else {
            let error = #expect(throws: JSONError.self) { try JSONReader.read(text) }
            #expect(error?.code == .numberTooLong)
        }
    }

    /// The fast path and the standard library must agree exactly.
    @Test func doublesAreRoundedRightly() throws {
        var generator = SplitMix64(state: 7)
        for _ in 0..<20_000 {
            let bits = Double(bitPattern: generator.next())
            let short = Double(Int64(truncatingIfNeeded: generator.next()) >> 20) / 1e4
            for value in [bits, short] where value.isFinite {
                #expect(try JSONReader.read(value.description).doubleValue?.bitPattern == value.bitPattern)
            }
        }
    }
}
