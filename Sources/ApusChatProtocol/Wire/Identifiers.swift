/// Identifies a user. The server chooses it.
public struct UserID: Hashable, Sendable, ChatIdentifier {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text.
    /// - Returns: nil unless the text is 1 to 64 letters, digits, `-`, `_` and `.`.
    public init?(_ text: String) {
        guard ChatIdentifierRule.isServerIdentifier(text) else { return nil }
        self.rawValue = text
    }

    /// Creates an identifier from valid text.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Identifies a conversation. The server chooses it.
public struct ConversationID: Hashable, Sendable, ChatIdentifier {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text.
    /// - Returns: nil unless the text is 1 to 64 letters, digits, `-`, `_` and `.`.
    public init?(_ text: String) {
        guard ChatIdentifierRule.isServerIdentifier(text) else { return nil }
        self.rawValue = text
    }

    /// Creates an identifier from valid text.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Identifies one message of one sender. The client chooses it. A retry carries the same id, by
/// which the server recognizes it (docs/chat-rules.md, 1).
public struct ClientID: Hashable, Sendable, ChatIdentifier {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text.
    /// - Returns: nil unless the text has 1 to 64 characters, at most 256 bytes, and no control
    ///   character.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 256, text.unicodeScalars.count <= 64, !ChatIdentifierRule.holdsControls(text) else {
            return nil
        }
        self.rawValue = text
    }

    /// Creates an identifier from valid text.
    package init(unchecked text: String) { self.rawValue = text }
}

/// Identifies the bytes of an upload by their SHA-256 in 64 lowercase hexadecimal digits.
public struct BlobID: Hashable, Sendable, ChatIdentifier {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text.
    /// - Returns: nil unless the text is 64 lowercase hexadecimal digits.
    public init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 64,
            digits.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        self.rawValue = text
    }

    /// Creates an identifier from valid text.
    package init(unchecked text: String) { self.rawValue = text }
}

/// An identifier: validated text that is encoded as a string.
public protocol ChatIdentifier: Codable, CustomStringConvertible, Comparable {
    /// The identifier on the wire.
    var rawValue: String { get }
    /// Creates an identifier from unchecked text; nil when the text is not valid.
    init?(_ text: String)
}

extension ChatIdentifier {
    /// The identifier on the wire.
    public var description: String { self.rawValue }

    /// Orders by the text.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Decodes and validates a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a valid \(Self.self)")
        }
        self = value
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.rawValue)
    }
}

package enum ChatIdentifierRule {
    /// Whether a text contains a control character. SQLite functions end a text at its first NUL,
    /// so two names could compare as equal. A terminal interprets the other control characters.
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
