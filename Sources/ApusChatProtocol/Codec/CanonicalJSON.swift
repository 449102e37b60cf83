package import ApusJSON

/// Encodes JSON values in the canonical form (RFC 8785), whose hash identifies a request.
///
/// Members are sorted by the UTF-16 code units of their names, and numbers have the form of
/// ECMAScript. The hash of a request is therefore the same in Swift and in JavaScript. As in
/// ECMAScript, each number is a `Double`: an integer beyond 2⁵³ is rounded.
package enum CanonicalJSON {
    /// Returns the canonical text of a value.
    ///
    /// - Throws: An error for binary data and for numbers that are not finite. Values that
    ///   `JSONReader` returns contain neither.
    package static func bytes(of value: JSONValue) throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        try JSONOutput.append(to: &bytes) { output throws(JSONError) in try Self.write(value, into: &output) }
        return bytes
    }

    /// Writes a value. Recurses once for each level. `JSONReader` limits the depth to 128 by
    /// default.
    private static func write(_ value: JSONValue, into output: inout JSONOutput) throws(JSONError) {
        switch value {
        case .null, .bool, .string, .date: try JSONWriter.write(value, into: &output)
        case .binary: throw JSONError(.binaryValue, message: "binary data has no canonical form")
        case .integer(let number):
            if number.magnitude <= WireReader.largestInteger.magnitude {
                try JSONWriter.write(value, into: &output)
            } else {
                self.append(try ECMAScriptNumber.text(of: Double(number)), to: &output)
            }
        case .double(let number): self.append(try ECMAScriptNumber.text(of: number), to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                try self.write(element, into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for (index, member) in self.sorted(object).enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONWriter.write(member.key, into: &output)
                output.append(UInt8(ascii: ":"))
                try self.write(member.value, into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func sorted(_ object: JSONObject) -> [JSONObject.Element] {
        object.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
    }

    private static func append(_ text: String, to output: inout JSONOutput) {
        for byte in text.utf8 { output.append(byte) }
    }
}

/// Formats numbers as ECMAScript does (ECMA-262, Number::toString), which RFC 8785 requires.
enum ECMAScriptNumber {
    static func text(of number: Double) throws(JSONError) -> String {
        guard number.isFinite else { throw JSONError(.nonFiniteNumber, message: "\(number) has no canonical form") }
        guard number != 0 else { return "0" }
        let (digits, point) = self.digits(of: number.magnitude)
        let sign = number < 0 ? "-" : ""
        let count = digits.count
        // `point` is the number of digits before the decimal point; ECMA-262 calls it n.
        switch point {
        case count...21 where point >= count: return sign + digits + String(repeating: "0", count: point - count)
        case 1...21: return sign + digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0: return sign + "0." + String(repeating: "0", count: -point) + digits
        default:
            let exponent = point - 1
            let fraction = count > 1 ? "." + digits.dropFirst() : ""
            return sign + digits.prefix(1) + fraction + "e" + (exponent < 0 ? "-" : "+") + String(exponent.magnitude)
        }
    }

    /// Returns the shortest decimal digits of a positive number, and the position of the decimal
    /// point.
    ///
    /// Swift and ECMAScript choose the same digits, and differ only in the format.
    private static func digits(of number: Double) -> (digits: String, point: Int) {
        var digits = ""
        var point: Int?
        var exponent = 0
        let text = number.description
        for (offset, character) in text.utf8.enumerated() {
            if character == UInt8(ascii: ".") {
                point = digits.utf8.count
            } else if character == UInt8(ascii: "e") {
                exponent =
                    Int(
                        text.utf8.dropFirst(offset + 1).drop { $0 == UInt8(ascii: "+") }.reduce(into: "") {
                            $0.unicodeScalars.append(Unicode.Scalar($1))
                        }) ?? 0
                break
            } else {
                digits.unicodeScalars.append(Unicode.Scalar(character))
            }
        }
        var place = (point ?? digits.utf8.count) + exponent
        let significant = digits.drop { $0 == "0" }
        place -= digits.utf8.count - significant.utf8.count
        var end = String(significant)
        while end.utf8.last == UInt8(ascii: "0") { end.removeLast() }
        return (end, place)
    }
}
