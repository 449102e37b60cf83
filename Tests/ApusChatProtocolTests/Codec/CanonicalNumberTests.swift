import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Foundation
import Testing

/// The numbers of the canonical form, for doubles with random bits.
@Suite("Numbers of the canonical form")
struct CanonicalNumberTests {
    private func text(_ number: Double) throws -> String { String(decoding: try CanonicalJSON.bytes(of: .double(number)), as: UTF8.self) }

    private static func randomNumbers(_ count: Int, state: UInt64) -> [Double] {
        var generator = SplitMix64(state: state)
        var numbers: [Double] = []
        while numbers.count < count {
            let bits = generator.next()
            let number =
                switch numbers.count % 4 {
                case 0: Double(bitPattern: bits)
                case 1: Double(Int64(bitPattern: bits) >> Int64(bits % 60))
                case 2: Double(bits % 100_000_000) / 1_000
                default: Double(bits % 1_000_000) * pow(10, Double(Int(bits >> 40) % 50 - 25))
                }
            if number.isFinite { numbers.append(number) }
        }
        return numbers
    }

    /// The text is read back as the same number, is the text of no other, and has the form of
    /// ECMA-262 (Number::toString): an exponent only from 1e21 and below 1e-6.
    @Test func textsAreReadBackAsTheNumber() throws {
        for number in Self.randomNumbers(20_000, state: 51) {
            let text = try self.text(number)
            #expect(strtod(text, nil) == number, "\(number): \(text)")
            let size = number.magnitude
            #expect(text.contains("e") == (number != 0 && (size >= 1e21 || size < 1e-6)), "\(text)")
            let digits = text.drop { $0 == "-" }.prefix { $0 != "e" }
            #expect(digits.first != "." && digits.last != ".", "\(text)")
            #expect(!digits.contains(".") || digits.last != "0", "\(text)")
            #expect(digits.first != "0" || digits == "0" || digits.hasPrefix("0."), "\(text)")
            if let exponent = text.split(separator: "e").dropFirst().first {
                #expect(exponent.first == "+" || exponent.first == "-", "\(text)")
                #expect(exponent.dropFirst().first != "0", "\(text)")
                #expect(digits.prefix { $0 != "." }.count == 1, "\(text)")
            }
        }
    }

    /// The digits are the fewest that determine the number.
    @Test func digitsAreTheFewest() throws {
        for number in Self.randomNumbers(4_000, state: 53) where number != 0 {
            let significant = try self.text(number).prefix { $0 != "e" }.filter { $0.isNumber }.drop { $0 == "0" }
            var digits = String(significant)
            while digits.hasSuffix("0") { digits.removeLast() }
            guard digits.count > 1 else { continue }
            let shorter = String(format: "%.\(digits.count - 2)e", number)
            #expect(strtod(shorter, nil) != number, "\(number): \(digits)")
        }
    }

    /// Integers and doubles of one value have one text, so that the hash does not depend on how a
    /// client wrote a number.
    @Test func integersAndDoublesOfOneValueHaveOneText() throws {
        var generator = SplitMix64(state: 57)
        for shift in Int64(0)..<63 {
            let number = Int64(bitPattern: generator.next()) >> shift
            let integer = String(decoding: try CanonicalJSON.bytes(of: .integer(number)), as: UTF8.self)
            #expect(try integer == self.text(Double(number)), "\(number)")
        }
        for number in [Int64.max, .min, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, WireReader.largestInteger] {
            let integer = String(decoding: try CanonicalJSON.bytes(of: .integer(number)), as: UTF8.self)
            #expect(try integer == self.text(Double(number)), "\(number)")
        }
    }

    @Test func theOrderAndTheSpacesOfATextDoNotMatter() throws {
        var generator = SplitMix64(state: 59)
        let names = ["a", "B", "é", "e\u{301}", "\u{FB33}", "😀", "\u{20AC}", "1", "10", "2", ""]
        for _ in 0..<200 {
            let members = names.shuffled(using: &generator).prefix(5).map { ($0, JSONValue.integer(Int64($0.utf8.count))) }
            let first = try CanonicalJSON.bytes(of: .object(JSONObject(members)))
            #expect(try CanonicalJSON.bytes(of: .object(JSONObject(members.reversed()))) == first)
            // The canonical text is its own canonical text.
            #expect(try CanonicalJSON.bytes(of: try JSONReader.read(first)) == first)
        }
    }
}
