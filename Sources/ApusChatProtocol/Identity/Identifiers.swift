/// Identifies a conversation. The server chooses the identifier at random.
public struct ConversationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number that the text encodes. It is not negative.
    package let number: Int64

    /// Creates the identifier with a number. The sign bit is ignored.
    package init(number: Int64) { self.number = number & .max }

    /// Creates an identifier from unchecked text; nil unless the text has the 13 characters of an
    /// identifier.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard let number = Base32.number(of: text) else { return nil }
        self.number = number
    }

    /// The identifier on the wire.
    public var rawValue: String { Base32.text(of: self.number) }
    /// The identifier on the wire.
    public var description: String { self.rawValue }
    /// Compares the numbers. The texts have the same order.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Identifies a device of a user. The server chooses the identifier at the first sign-in of the
/// device.
public struct DeviceID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number that the text encodes. It is not negative.
    package let number: Int64

    /// Creates the identifier with a number. The sign bit is ignored.
    package init(number: Int64) { self.number = number & .max }

    /// Creates an identifier from unchecked text; nil unless the text has the 13 characters of an
    /// identifier.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard let number = Base32.number(of: text) else { return nil }
        self.number = number
    }

    /// The identifier on the wire.
    public var rawValue: String { Base32.text(of: self.number) }
    /// The identifier on the wire.
    public var description: String { self.rawValue }
    /// Compares the numbers. The texts have the same order.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Identifies a request that changes data among the requests of its sender. The client chooses the
/// id, and sends the same id with a retry. Clients use UUIDs of version 7 (RFC 9562), which sort by
/// time.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text; nil unless the text has 1 to 64 visible ASCII
    /// characters.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.rawValue = text
    }

    /// The identifier on the wire.
    public var description: String { self.rawValue }
}

/// Identifies a blob by the SHA-256 of its bytes, as 64 lowercase hexadecimal digits.
public struct BlobID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier on the wire.
    public let rawValue: String

    /// Creates an identifier from unchecked text; nil unless the text has 64 lowercase hexadecimal
    /// digits.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard text.utf8.count == 64, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        self.rawValue = text
    }

    /// The identifier on the wire.
    public var description: String { self.rawValue }
}

/// An opaque text of the server, such as a position in a list, which the client sends back
/// unchanged.
public struct PageToken: Hashable, Sendable, CustomStringConvertible {
    /// The token on the wire.
    public let rawValue: String

    /// Creates a token from unchecked text; nil unless the text has 1 to 256 visible ASCII
    /// characters.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.rawValue = text
    }

    /// The token on the wire.
    public var description: String { self.rawValue }
}

extension ConversationID: WireText {
    package static let wireRule = "must be the id of a conversation, 13 characters of base 32"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}

extension DeviceID: WireText {
    package static let wireRule = "must be the id of a device, 13 characters of base 32"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}

extension ClientID: WireText {
    package static let wireRule = "must have 1 to 64 visible ASCII characters"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}

extension BlobID: WireText {
    package static let wireRule = "must be 64 lowercase hexadecimal digits, as returned by the upload"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}

extension PageToken: WireText {
    package static let wireRule = "must be a token of an earlier answer, 1 to 256 visible ASCII characters"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}
