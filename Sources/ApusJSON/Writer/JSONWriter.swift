/// Writes values as JSON text, without whitespace.
///
/// Source: RFC 8259. Strings are UTF-8, with only the escapes that section 7 requires. Doubles have
/// the shortest representation that reads back as the same value, with a fraction or an exponent
/// (`1.0`, `1e+16`), so that they remain doubles.
public enum JSONWriter {
    /// The treatment of binary data, which JSON cannot represent.
    public struct BinaryStrategy: Hashable, Sendable {
        enum Value { case refuse, base64 }

        let value: Value

        /// Throws ``JSONError/Code/binaryValue``. The default, which detects binary data that was
        /// not replaced.
        public static let refuse = Self(value: .refuse)
        /// Writes a base64 string (RFC 4648 section 4, with padding).
        public static let base64 = Self(value: .base64)
    }

    /// Appends a value as text. After an error the bytes appended so far remain.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - bytes: The bytes to which the text is appended.
    ///   - binary: The treatment of binary data.
    /// - Throws: ``JSONError`` for a value that cannot be written.
    public static func write(
        _ value: JSONValue, into bytes: inout [UInt8], binary: BinaryStrategy = .refuse
    ) throws(JSONError) {
        try JSONOutput.append(to: &bytes) { output throws(JSONError) in
            try Self.write(value, into: &output, binary: binary, depth: 0)
        }
    }

    /// Appends a value to a larger text. Binary data is an error.
    ///
    /// - Parameter depth: The number of arrays and objects that the caller writes around the value.
    package static func write(_ value: JSONValue, into output: inout JSONOutput, depth: Int = 0) throws(JSONError) {
        try self.write(value, into: &output, binary: .refuse, depth: depth)
    }

    /// Appends a string to a larger text.
    package static func write(_ value: String, into output: inout JSONOutput) { self.append(quoted: value, to: &output) }

    /// Appends a number to a larger text.
    package static func write(_ value: Int, into output: inout JSONOutput) { self.append(Int64(value), to: &output) }

    /// Returns a value as text.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - binary: The treatment of binary data.
    /// - Throws: ``JSONError`` for a value that cannot be written.
    public static func bytes(of value: JSONValue, binary: BinaryStrategy = .refuse) throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        try Self.write(value, into: &bytes, binary: binary)
        return bytes
    }

    /// The number of levels written by recursion, which takes fewer instructions. Deeper levels are
    /// written in a loop, so that nested values cannot exhaust the stack.
    private static let recursiveDepth = 16

    private static func write(
        _ value: JSONValue, into output: inout JSONOutput, binary: BinaryStrategy, depth: Int
    ) throws(JSONError) {
        switch value {
        case .null: output.append("null")
        case .bool(let value): output.append(value ? "true" : "false")
        case .integer(let value): Self.append(value, to: &output)
        case .double(let value):
            guard value.isFinite else { throw JSONError(.nonFiniteNumber, message: "the number \(value) cannot be written as JSON") }
            Self.append(unquoted: value.description, to: &output)
        case .string(let value): Self.append(quoted: value, to: &output)
        case .date(let value):
            if let text = JSONDate.text(of: value) { Self.append(quoted: text, to: &output) } else { output.append("null") }
        case .binary(let value): try Self.write(binary: value, into: &output, strategy: binary)
        case .array(let elements):
            guard depth < Self.recursiveDepth else { return try self.writeInLoop(value, into: &output, binary: binary, depth: depth) }
            output.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if isFirst { isFirst = false } else { output.append(UInt8(ascii: ",")) }
                try Self.write(element, into: &output, binary: binary, depth: depth + 1)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            guard depth < Self.recursiveDepth else { return try self.writeInLoop(value, into: &output, binary: binary, depth: depth) }
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

    private static func writeInLoop(
        _ value: JSONValue, into output: inout JSONOutput, binary: BinaryStrategy, depth: Int
    ) throws(JSONError) {
        guard var current = JSONContainerCursor(value) else { return }
        // The containers around `current`.
        var outer: [JSONContainerCursor] = []
        try self.open(current, depth: depth, into: &output)
        while true {
            let isFirst = current.isAtStart
            guard let (name, value) = current.next() else {
                output.append(current.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                guard let last = outer.popLast() else { return }
                current = last
                continue
            }
            if !isFirst { output.append(UInt8(ascii: ",")) }
            if let name {
                self.append(quoted: name, to: &output)
                output.append(UInt8(ascii: ":"))
            }
            if let inner = JSONContainerCursor(value) {
                outer.append(current)
                current = inner
                try self.open(current, depth: depth + outer.count, into: &output)
            } else {
                try self.write(value, into: &output, binary: binary, depth: 0)  // a scalar
            }
        }
    }

    private static func open(_ container: JSONContainerCursor, depth: Int, into output: inout JSONOutput) throws(JSONError) {
        guard depth < JSONReader.Limits.highestDepth else {
            // No deeper value is written, because the readers of this library have the same limit.
            throw JSONError(.tooDeep, message: "the nesting exceeds \(JSONReader.Limits.highestDepth) levels")
        }
        output.append(container.isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
    }

    private static func write(binary: [UInt8], into output: inout JSONOutput, strategy: BinaryStrategy) throws(JSONError) {
        switch strategy.value {
        case .refuse: throw JSONError(.binaryValue, message: "\(binary.count) bytes of binary data cannot be written as JSON text")
        case .base64: Self.append(base64: binary, to: &output)
        }
    }
}
