/// The secret part of an invite link.
public struct LinkCode: Hashable, Sendable, CustomStringConvertible {
    /// The code on the wire.
    public let rawValue: String

    /// Creates a code from unchecked text; nil unless the text has 16 to 64 characters of base64url
    /// (RFC 4648 section 5).
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard (16...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isCodeCharacter) else { return nil }
        self.rawValue = text
    }

    /// The code on the wire.
    public var description: String { self.rawValue }

    private static func isCodeCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

extension LinkCode: WireText {
    package static let wireRule = "must be the code of an invite link, 16 to 64 characters of base64url"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}

/// A new picture, or the removal of the current one, which is an empty string on the wire.
public enum BlobChange: Hashable, Sendable {
    /// A new picture.
    case set(BlobID)
    /// No picture.
    case remove

    /// The new picture; nil if the picture is removed.
    public var blob: BlobID? {
        if case .set(let blob) = self { blob } else { nil }
    }
}

extension BlobChange: WireText {
    package static let wireRule = "must be empty or 64 lowercase hexadecimal digits"
    package init?(wireText: String) {
        if wireText.isEmpty {
            self = .remove
        } else if let blob = BlobID(wireText) {
            self = .set(blob)
        } else {
            return nil
        }
    }
    package var wireText: String { self.blob?.rawValue ?? "" }
}
