extension JSONParser {
    /// The digits read so far.
    private struct Digits {
        /// The first `kept` digits as an integer, without the decimal point.
        var magnitude: UInt64 = 0
        /// The number of digits in `magnitude`, without leading zeros. Nineteen digits always fit
        /// in 64 bits.
        var kept = 0
        /// The number of digits after the nineteenth.
        var dropped = 0
        /// The power of ten to multiply `magnitude` by.
        var exponent = 0

        @inline(__always)
        mutating func append(_ digit: UInt8) {
            guard self.kept < 19 else {
                self.dropped += 1
                return
            }
            self.magnitude = self.magnitude &* 10 &+ UInt64(digit)
            if self.magnitude != 0 { self.kept += 1 }
        }
    }

    /// Reads a number.
    ///
    /// Source: RFC 8259 section 6, `number = [ minus ] int [ frac ] [ exp ]`.
    mutating func number() throws(JSONError) -> JSONValue {
        let start = self.offset
        let negative = self.peek == UInt8(ascii: "-")
        if negative { self.offset += 1 }
        var digits = Digits()
        var isWhole = true
        if self.peek == UInt8(ascii: "0") {
            self.offset += 1
            if self.digit != nil { throw self.unexpected(.invalidNumber, expected: "no digit after a leading zero") }
        } else {
            try self.digits(into: &digits, isFraction: false)
        }
        if self.peek == UInt8(ascii: ".") {
            isWhole = false
            self.offset += 1
            try self.digits(into: &digits, isFraction: true)
        }
        if let byte = self.peek, byte | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            self.offset += 1
            digits.exponent += try self.exponent()
        }
        if isWhole, digits.dropped == 0, let integer = Self.integer(digits.magnitude, negative: negative) { return .integer(integer) }
        if let value = Self.exactDouble(digits, negative: negative) { return .double(value) }
        return .double(try self.double(from: start))
    }

    private var digit: UInt8? {
        guard let byte = self.peek, byte &- UInt8(ascii: "0") < 10 else { return nil }
        return byte &- UInt8(ascii: "0")
    }

    private mutating func digits(into digits: inout Digits, isFraction: Bool) throws(JSONError) {
        guard self.digit != nil else { throw self.unexpected(.invalidNumber, expected: "a digit") }
        while let digit = self.digit {
            if isFraction { digits.exponent -= 1 }
            digits.append(digit)
            self.offset += 1
        }
    }

    private mutating func exponent() throws(JSONError) -> Int {
        let negative = self.peek == UInt8(ascii: "-")
        if negative || self.peek == UInt8(ascii: "+") { self.offset += 1 }
        guard self.digit != nil else { throw self.unexpected(.invalidNumber, expected: "a digit") }
        var value = 0
        while let digit = self.digit {
            value = min(value * 10 + Int(digit), 100_000)  // beyond any finite double; avoids overflow
            self.offset += 1
        }
        return negative ? -value : value
    }

    /// Returns `nil` beyond `Int64`, and for `-0`, which only a double can represent.
    private static func integer(_ magnitude: UInt64, negative: Bool) -> Int64? {
        if !negative { return Int64(exactly: magnitude) }
        guard magnitude != 0, magnitude <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- magnitude)
    }

    /// Returns the value if a single multiplication or division of two exact doubles rounds it
    /// correctly.
    ///
    /// Source: W. D. Clinger, "How to read floating point numbers accurately" (1990), the fast
    /// path.
    private static func exactDouble(_ digits: Digits, negative: Bool) -> Double? {
        guard digits.dropped == 0, digits.magnitude <= 1 << 53, self.powersOfTen.indices.contains(abs(digits.exponent)) else { return nil }
        let power = self.powersOfTen[abs(digits.exponent)]
        let value = digits.exponent < 0 ? Double(digits.magnitude) / power : Double(digits.magnitude) * power
        return negative ? -value : value
    }

    /// The powers of ten that a double represents exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// Uses the standard library to convert a number that has no fast conversion. The result does
    /// not depend on the locale.
    private func double(from start: Int) throws(JSONError) -> Double {
        let length = self.offset - start
        guard length <= self.limits.maximumNumberBytes else {
            throw JSONError(
                .numberTooLong,
                message: "a number has \(length) bytes; the maximum is \(self.limits.maximumNumberBytes) (`maximumNumberBytes`)",
                offset: start)
        }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: self.bytes[start..<self.offset]), as: UTF8.self)
        guard let value = Double(text), value.isFinite else {
            throw JSONError(.numberOutOfRange, message: "a number exceeds the range of Double", offset: start)
        }
        return value
    }
}
