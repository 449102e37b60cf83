/// The ranges of an array's elements in its text, for relaying them or for decoding them later.
///
/// The text is validated as strictly as by ``JSONReader``.
package struct JSONArrayOutline: Equatable {
    /// The range of the first element.
    package var first: Range<Int>
    /// Whether the first element is a string without escapes, whose text is the bytes between its
    /// quotes.
    package var firstIsPlain: Bool
    /// The range of the other elements with their separators; empty if there is only one element.
    package var rest: Range<Int>

    /// The range of all elements with their separators.
    package var all: Range<Int> { self.first.lowerBound..<max(self.first.upperBound, self.rest.upperBound) }

    /// The kind of a text.
    package enum Finding: Equatable {
        case array(JSONArrayOutline)
        case emptyArray
        /// A value of another kind.
        case other
    }

    /// Validates a text and returns its outline.
    package static func find(in bytes: UnsafeRawBufferPointer, limits: JSONReader.Limits) throws(JSONError) -> Finding {
        var parser = JSONParser(bytes: bytes, limits: limits)
        parser.skipWhitespace()
        var finding = Finding.other
        if parser.peek != UInt8(ascii: "[") {
            try parser.skipValue(depth: 0)
        } else {
            try parser.enter(depth: 1)
            if parser.peek == UInt8(ascii: "]") {
                parser.offset += 1
                finding = .emptyArray
            } else {
                let start = parser.offset
                let isPlain = try parser.skipValue(depth: 1)
                let first = start..<parser.offset
                var rest = first.upperBound..<first.upperBound
                if try !parser.endsContainer(UInt8(ascii: "]")) {
                    let second = parser.offset
                    var end: Int
                    repeat {
                        try parser.skipValue(depth: 1)
                        end = parser.offset
                    } while try !parser.endsContainer(UInt8(ascii: "]"))
                    rest = second..<end
                }
                finding = .array(JSONArrayOutline(first: first, firstIsPlain: isPlain, rest: rest))
            }
        }
        parser.skipWhitespace()
        guard parser.offset == parser.count else { throw parser.unexpected(expected: "the end of the text") }
        return finding
    }
}

/// Decodes the elements of an array one at a time, from the text between its brackets.
package struct JSONElements {
    private var parser: JSONParser

    /// The number of bytes read.
    package var offset: Int { self.parser.offset }

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - bytes: A range of a ``JSONArrayOutline``, which must outlive the reader.
    ///   - limits: The limits of the outline.
    package init(_ bytes: UnsafeRawBufferPointer, limits: JSONReader.Limits) {
        self.parser = JSONParser(bytes: bytes, limits: limits)
    }

    /// Returns the next element, or `nil` after the last.
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
