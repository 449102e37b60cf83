/// Where the elements of an array lie in its text, for whoever hands them on, or reads them later or in part.
///
/// The text is checked as strictly as ``JSONReader`` checks it.
package struct JSONArrayOutline: Equatable {
    /// The first element.
    package var first: Range<Int>
    /// Whether that is a string without escapes: what stands between its quotes is its text.
    package var firstIsPlain: Bool
    /// The second to the last, and what separates them; empty when there is one element only.
    package var rest: Range<Int>

    /// All elements and what separates them.
    package var all: Range<Int> { self.first.lowerBound..<max(self.first.upperBound, self.rest.upperBound) }

    /// What a text is.
    package enum Finding: Equatable {
        case array(JSONArrayOutline)
        case emptyArray
        /// Some other value.
        case other
    }

    /// Checks a text, all of it.
    package static func find(in bytes: UnsafeRawBufferPointer, limits: JSONReader.Limits) throws(JSONError) -> Finding {
        var parser = JSONParser(bytes: bytes, limits: limits)
        parser.skipWhitespace()
        let finding = try self.find(&parser)
        parser.skipWhitespace()
        guard parser.offset == parser.count else { throw parser.unexpected(expected: "the end of the text") }
        return finding
    }

    private static func find(_ parser: inout JSONParser) throws(JSONError) -> Finding {
        guard parser.peek == UInt8(ascii: "[") else {
            try parser.skipValue(depth: 0)
            return .other
        }
        try parser.enter(depth: 1)
        guard parser.peek != UInt8(ascii: "]") else {
            parser.offset += 1
            return .emptyArray
        }
        let start = parser.offset
        let isPlain = try parser.skipValue(depth: 1)
        let first = start..<parser.offset
        guard try !parser.endsContainer(UInt8(ascii: "]")) else {
            return .array(JSONArrayOutline(first: first, firstIsPlain: isPlain, rest: first.upperBound..<first.upperBound))
        }
        let second = parser.offset
        var end: Int
        repeat {
            try parser.skipValue(depth: 1)
            end = parser.offset
        } while try !parser.endsContainer(UInt8(ascii: "]"))
        return .array(JSONArrayOutline(first: first, firstIsPlain: isPlain, rest: second..<end))
    }
}

/// Reads the elements of an array one after the other, from the text between its brackets.
package struct JSONElements {
    private var parser: JSONParser

    /// How far it has read.
    package var offset: Int { self.parser.offset }

    /// - Parameters:
    ///   - bytes: A range of a ``JSONArrayOutline``; it must outlive the reader.
    ///   - limits: Those the outline was found with.
    package init(_ bytes: UnsafeRawBufferPointer, limits: JSONReader.Limits) {
        self.parser = JSONParser(bytes: bytes, limits: limits)
    }

    /// The next element; nil after the last.
    package mutating func next() throws(JSONError) -> JSONValue? {
        self.parser.skipWhitespace()
        guard self.parser.offset < self.parser.count else { return nil }
        let value = try self.parser.value(depth: 1)
        self.parser.skipWhitespace()
        guard self.parser.offset < self.parser.count else { return value }
        guard self.parser.peek == UInt8(ascii: ",") else { throw self.parser.unexpected(expected: "a comma") }
        self.parser.offset += 1
        return value
    }
}
