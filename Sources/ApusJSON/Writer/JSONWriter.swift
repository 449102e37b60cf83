/// Writes values as JSON text, without whitespace.
///
/// Source: RFC 8259. Strings are UTF-8, escaped only where section 7 demands it. Doubles have the shortest form that reads back as the
/// same double, and keep a fraction or an exponent (`1.0`, `1e+16`), so that they stay doubles.
public enum JSONWriter {
    /// What becomes of binary data, for which JSON has no form.
    public struct BinaryStrategy: Hashable, Sendable {
        enum Value { case refuse, base64 }

        let value: Value

        /// ``JSONError/Code/binaryValue`` is thrown. The default: a forgotten replacement must not pass for text.
        public static let refuse = Self(value: .refuse)
        /// A string in base64 (RFC 4648 section 4, with padding).
        public static let base64 = Self(value: .base64)
    }

    /// Appends a value as text. After an error the bytes appended so far remain.
    public static func write(
        _ value: JSONValue, into bytes: inout [UInt8], binary: BinaryStrategy = .refuse
    ) throws(JSONError) {
        try JSONOutput.append(to: &bytes) { output throws(JSONError) in
            try Self.write(value, into: &output, binary: binary, depth: 0)
        }
    }

    /// Appends a value as text, among other things. Binary data is refused.
    package static func write(_ value: JSONValue, into output: inout JSONOutput) throws(JSONError) {
        try self.write(value, into: &output, binary: .refuse, depth: 0)
    }

    /// Appends a string as text, among other things.
    package static func write(_ value: String, into output: inout JSONOutput) { self.append(quoted: value, to: &output) }

    /// Appends a number as text, among other things.
    package static func write(_ value: Int, into output: inout JSONOutput) { self.append(Int64(value), to: &output) }

    /// A value as text.
    public static func bytes(of value: JSONValue, binary: BinaryStrategy = .refuse) throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        try Self.write(value, into: &bytes, binary: binary)
        return bytes
    }

    private static func write(
        _ value: JSONValue, into output: inout JSONOutput, binary: BinaryStrategy, depth: Int
    ) throws(JSONError) {
        switch value {
        case .null: output.append("null")
        case .bool(let value): output.append(value ? "true" : "false")
        case .integer(let value): Self.append(value, to: &output)
        case .double(let value):
            guard value.isFinite else { throw JSONError(.nonFiniteNumber, message: "\(value) has no form in JSON") }
            Self.append(unquoted: value.description, to: &output)
        case .string(let value): Self.append(quoted: value, to: &output)
        case .binary(let value): try Self.write(binary: value, into: &output, strategy: binary)
        case .array(let elements):
            try Self.check(depth: depth)
            output.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if isFirst { isFirst = false } else { output.append(UInt8(ascii: ",")) }
                try Self.write(element, into: &output, binary: binary, depth: depth + 1)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            try Self.check(depth: depth)
            output.append(UInt8(ascii: "{"))
            var isFirst = true
            for member in object {
                if isFirst { isFirst = false } else { output.append(UInt8(ascii: ",")) }
                Self.append(quoted: member.key, to: &output)
                output.append(UInt8(ascii: ":"))
                try Self.write(member.value, into: &output, binary: binary, depth: depth + 1)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// No reader of ours would take it back, and the stack is finite.
    private static func check(depth: Int) throws(JSONError) {
        guard depth < JSONReader.Limits.highestDepth else {
            throw JSONError(.tooDeep, message: "nested deeper than \(JSONReader.Limits.highestDepth) levels")
        }
    }

    private static func write(binary: [UInt8], into output: inout JSONOutput, strategy: BinaryStrategy) throws(JSONError) {
        switch strategy.value {
        case .refuse: throw JSONError(.binaryValue, message: "\(binary.count) bytes of binary data have no form in JSON text")
        case .base64: Self.append(base64: binary, to: &output)
        }
    }
}
