/// An error of reading or writing JSON.
///
/// The message contains byte values, counts and limits, and never the text that was read, because
/// the message may be logged.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error. A later release may add kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case unexpectedEnd, unexpectedByte, invalidNumber, numberOutOfRange, numberTooLong, controlCharacter, invalidEscape
            case loneSurrogate, invalidUTF8, tooDeep, repeatedName, binaryValue, nonFiniteNumber
        }

        private let value: Value

        private init(value: Value) { self.value = value }

        /// The text ends inside a value.
        public static let unexpectedEnd = Self(value: .unexpectedEnd)
        /// A byte that the grammar does not allow, including any byte after the value, and a byte
        /// order mark.
        public static let unexpectedByte = Self(value: .unexpectedByte)
        /// A number violates RFC 8259 section 6: a leading zero, or no digit after the minus sign,
        /// in the fraction or in the exponent.
        public static let invalidNumber = Self(value: .invalidNumber)
        /// A number exceeds the range of `Double`.
        public static let numberOutOfRange = Self(value: .numberOutOfRange)
        /// A number is longer than ``JSONReader/Limits/maximumNumberBytes`` permits.
        public static let numberTooLong = Self(value: .numberTooLong)
        /// An unescaped byte below 0x20 in a string.
        public static let controlCharacter = Self(value: .controlCharacter)
        /// A backslash without a valid escape.
        public static let invalidEscape = Self(value: .invalidEscape)
        /// A `\u` escape of a surrogate without the other half of the pair.
        public static let loneSurrogate = Self(value: .loneSurrogate)
        /// The bytes of a string are not UTF-8.
        public static let invalidUTF8 = Self(value: .invalidUTF8)
        /// The nesting of arrays and objects exceeds the limit.
        public static let tooDeep = Self(value: .tooDeep)
        /// An object repeats a name, and ``JSONReader/Limits/refusesRepeatedNames`` is set.
        public static let repeatedName = Self(value: .repeatedName)
        /// A ``JSONValue/binary(_:)`` cannot be written as text. Replace it first, or choose a
        /// strategy.
        public static let binaryValue = Self(value: .binaryValue)
        /// NaN or an infinity cannot be written as JSON.
        public static let nonFiniteNumber = Self(value: .nonFiniteNumber)

        /// The name of the code.
        public var description: String { self.value.rawValue }
    }

    /// The kind of the error.
    public var code: Code
    /// The description, with the values and limits.
    public var message: String
    /// The offset in the text, in bytes; `nil` when writing.
    public var offset: Int?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of the error.
    ///   - message: The description, with the values and limits.
    ///   - offset: The offset in the text, in bytes.
    public init(_ code: Code, message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// The code, the message and the offset.
    public var description: String {
        "\(self.code): \(self.message)" + (self.offset.map { " (at byte \($0))" } ?? "")
    }
}
