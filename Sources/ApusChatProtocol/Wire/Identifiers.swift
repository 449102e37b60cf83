/// Names a user. The server chooses it; clients only carry it.
public struct UserID: Hashable, Sendable, ChatIdentifier {
    /// The text that goes over the wire.
    public let rawValue: String

    /// Takes text from outside.
    /// - Returns: nil unless it is 1 to 64 of letters, digits, `-`, `_` and `.`.
    public init?(_ text: String) {
        guard ChatIdentifierRule.isServerIdentifier(text) else { return nil }
        self.rawValue = text
    }

    /// Takes text that is known to be right.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Names a conversation. The server chooses it.
public struct ConversationID: Hashable, Sendable, ChatIdentifier {
    /// The text that goes over the wire.
    public let rawValue: String

    /// Takes text from outside.
    /// - Returns: nil unless it is 1 to 64 of letters, digits, `-`, `_` and `.`.
    public init?(_ text: String) {
        guard ChatIdentifierRule.isServerIdentifier(text) else { return nil }
        self.rawValue = text
    }

    /// Takes text that is known to be right.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Names one message of one sender. The client chooses it, and a retry carries the same one: that is how the server recognises a retry (rule 1).
public struct ClientID: Hashable, Sendable, ChatIdentifier {
    /// The text that goes over the wire.
    public let rawValue: String

    /// Takes text from outside.
    /// - Returns: nil unless it is 1 to 64 characters long (and at most 256 bytes), none of them a control character.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 256, text.unicodeScalars.count <= 64, !ChatIdentifierRule.holdsControls(text) else {
            return nil
        }
        self.rawValue = text
    }

    /// Takes text that is known to be right.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Names the bytes of an upload: their SHA-256 in 64 lowercase hexadecimal digits.
public struct BlobID: Hashable, Sendable, ChatIdentifier {
    /// The text that goes over the wire.
    public let rawValue: String

    /// Takes text from outside.
    /// - Returns: nil unless it is 64 lowercase hexadecimal digits.
    public init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 64,
            digits.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        self.rawValue = text
    }

    /// Takes text that is known to be right.
    package init(unchecked text: String) { self.rawValue = text }
}

/// What all identifiers share: a checked text, which is also how they are written.
public protocol ChatIdentifier: Codable, CustomStringConvertible, Comparable {
    /// The text that goes over the wire.
    var rawValue: String { get }
    /// Takes text from outside; nil when it breaks the identifier's rule.
    init?(_ text: String)
}

extension ChatIdentifier {
    /// The text that goes over the wire.
    public var description: String { self.rawValue }

    /// Orders by the text, byte by byte.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Reads a string and judges it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a valid \(Self.self)")
        }
        self = value
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.rawValue)
    }
}

package enum ChatIdentifierRule {
    /// Whether a text holds a control character. Names and titles have none: to SQLite a text ends at its first NUL, so that two of them
    /// would be one, and a terminal obeys the others.
    package static func holdsControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    static func isServerIdentifier(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...64).contains(bytes.count)
            && bytes.allSatisfy { byte in
                isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
