import ApusJSON
import ApusSeededRandom
import Testing

struct JSONWriterTests {
    @Test(
        arguments: [
            (JSONValue.null, "null"), (true, "true"), (false, "false"), (0, "0"), (-7, "-7"), (.integer(.max), "9223372036854775807"),
            (.integer(.min), "-9223372036854775808"),
            (1.0, "1.0"), (0.1, "0.1"), (-0.0, "-0.0"), (1e300, "1e+300"), (.double(.leastNonzeroMagnitude), "5e-324"),
            (1e15, "1000000000000000.0"), ("", "\"\""),
            ([], "[]"), ([:], "{}"),
            ([1, "a", nil], "[1,\"a\",null]"), (["b": 1, "a": [true, [:]]], "{\"b\":1,\"a\":[true,{}]}"),
            (["a\"\n": 1], "{\"a\\\"\\n\":1}"),
            ("\"\\/", "\"\\\"\\\\/\""),
            ("\u{0}\u{1}\u{8}\u{9}\u{A}\u{B}\u{C}\u{D}\u{10}\u{1F}\u{7F}", "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u0010\\u001f\u{7F}\""),
            ("é漢😀\u{2028}", "\"é漢😀\u{2028}\""), ("12345678\"12345678\\x", "\"12345678\\\"12345678\\\\x\""),
        ] as [(JSONValue, String)])
    func writes(value: JSONValue, text: String) throws {
        #expect(try value.jsonString() == text)
        #expect(try JSONReader.read(text) == value)
    }

    @Test func specialByteAtEveryPlaceIsEscaped() throws {
        for length in 0..<40 {
            let text =
                String(repeating: "é", count: length / 2) + String(repeating: "~", count: length) + "\n"
                + String(repeating: "x", count: length)
            #expect(try JSONReader.read(JSONWriter.bytes(of: .string(text))) == .string(text))
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func nonFiniteNumbersAreRefused(value: Double) {
        let error = #expect(throws: JSONError.self) { try JSONWriter.bytes(of: [.double(value)]) }
        #expect(error?.code == .nonFiniteNumber)
    }

    @Test func binaryIsRefusedUnlessAStrategyIsGiven() throws {
        let value: JSONValue = ["a": .binary([0xFB, 0xFF])]
        let error = #expect(throws: JSONError.self) { try value.jsonString() }
        #expect(error?.code == .binaryValue)
        #expect(try value.jsonString(binary: .base64) == "{\"a\":\"+/8=\"}")
    }

    /// RFC 4648 section 10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ] as [(String, String)])
    func base64(data: String, text: String) throws {
        #expect(try JSONValue.binary(Array(data.utf8)).jsonString(binary: .base64) == "\"\(text)\"")
    }

    @Test func appendsToExistingBytes() throws {
        var bytes = Array("42".utf8)
        try JSONWriter.write(["a"], into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "42[\"a\"]")
    }

    @Test func depthIsBounded() throws {
        var value: JSONValue = []
        for _ in 1..<JSONReader.Limits.highestDepth { value = [value] }
        #expect(try JSONReader.read(JSONWriter.bytes(of: value), limits: .init(maximumDepth: .max)) == value)
        let error = #expect(throws: JSONError.self) { try JSONWriter.bytes(of: ["a": value]) }
        #expect(error?.code == .tooDeep)
    }

    @Test func descriptionIsJSONText() {
        #expect("\(["a": 1, "b": .binary([1])] as JSONValue)" == "{\"a\":1,\"b\":\"AQ==\"}")
        #expect("\(JSONValue.double(.nan))" == "<nonFiniteNumber: the number nan cannot be written as JSON>")
    }

    /// Random values are equal after a round trip.
    @Test func roundTrips() throws {
        var generator = SplitMix64(state: 1)
        for _ in 0..<2000 {
            let value = Self.randomValue(depth: 4, &generator)
            #expect(try JSONReader.read(JSONWriter.bytes(of: value)) == value)
        }
    }

    private static func randomValue(depth: Int, _ generator: inout SplitMix64) -> JSONValue {
        switch generator.next() % (depth > 0 ? 8 : 6) {
        case 0: return .null
        case 1: return .bool(generator.next() % 2 == 0)
        case 2: return .integer(Int64(truncatingIfNeeded: generator.next() >> (generator.next() % 64)))
        case 3:
            let value = Double(bitPattern: generator.next())
            return .double(value.isFinite ? value : 0.5)
        case 4, 5:
            let count = Int(generator.next() % 20)
            return .string(
                String(String.UnicodeScalarView((0..<count).compactMap { _ in Unicode.Scalar(UInt32(generator.next() % 0x300)) })))
        case 6: return .array((0..<generator.next() % 5).map { _ in Self.randomValue(depth: depth - 1, &generator) })
        default:
            return .object(
                JSONObject((0..<generator.next() % 20).map { (key: "k\($0)", value: Self.randomValue(depth: depth - 1, &generator)) }))
        }
    }
}
