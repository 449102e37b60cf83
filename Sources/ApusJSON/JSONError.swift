/// Why JSON could not be read or written.
///
/// The message names offsets and byte values only, never the text itself: it may end up in a log.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error. Later releases may add some: keep a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unexpectedEnd, unexpectedByte, invalidNumber, numberOutOfRange, numberTooLong, controlCharacter, invalidEscape
            case loneSurrogate, invalidUTF8, tooDeep, repeatedName, binaryValue, nonFiniteNumber
        }

        private let value: Value

        private init(value: Value) { self.value = value }

        /// The text ends inside a value.
        public static let unexpectedEnd = Self(value: .unexpectedEnd)
        /// A byte stands where the grammar does not allow it; also anything after the value, and a byte order mark.
        public static let unexpectedByte = Self(value: .unexpectedByte)
        /// A number breaks RFC 8259 section 6: a leading zero, no digit after the point or the exponent.
        public static let invalidNumber = Self(value: .invalidNumber)
        /// A number is larger than any finite `Double`.
        public static let numberOutOfRange = Self(value: .numberOutOfRange)
        /// A number has more bytes than ``JSONReader/Limits/maximumNumberBytes``.
        public static let numberTooLong = Self(value: .numberTooLong)
        /// A byte below 0x20 stands unescaped in a string.
        public static let controlCharacter = Self(value: .controlCharacter)
        /// A backslash is followed by something that is not an escape.
        public static let invalidEscape = Self(value: .invalidEscape)
        /// A `\u` escape is one half of a surrogate pair without the other.
        public static let loneSurrogate = Self(value: .loneSurrogate)
        /// The bytes of a string are not UTF-8.
        public static let invalidUTF8 = Self(value: .invalidUTF8)
        /// Arrays and objects are nested deeper than the limit.
        public static let tooDeep = Self(value: .tooDeep)
        /// An object has a name twice, and ``JSONReader/Limits/refusesRepeatedNames`` is set.
        public static let repeatedName = Self(value: .repeatedName)
        /// A ``JSONValue/binary(_:)`` was to be written as text. Replace it first, or choose a strategy.
        public static let binaryValue = Self(value: .binaryValue)
        /// NaN or an infinity was to be written; JSON has no form for them.
        public static let nonFiniteNumber = Self(value: .nonFiniteNumber)

        /// The name of the code.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// What happened, with the numbers.
    public var message: String
    /// Where in the text, in bytes from its start; `nil` when writing.
    public var offset: Int?

    /// Makes an error.
    public init(_ code: Code, message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// Code, message and offset in one line.
    public var description: String {
        "\(self.code): \(self.message)" + (self.offset.map { " (at byte \($0))" } ?? "")
    }
}
