/// An account name, which identifies a user everywhere on the wire.
///
/// A name has 1 to 32 Unicode scalars: letters, digits and marks of any script, and `.`, `_` and
/// `-` between them. Letters of different scripts that look alike must not be mixed. A name never
/// changes and is never assigned to another account, so it identifies the user in the log.
///
/// Source: RFC 8265 section 3.3 (UsernameCaseMapped), restricted further as RFC 8264 section 5
/// allows.
public struct UserName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The prepared name: width and case are mapped, and it is in normalization form C.
    public let rawValue: String

    /// Creates a name from unchecked text, which is prepared: `ALICE` and `ａｌｉｃｅ` become `alice`.
    /// Nil if the text is not a valid name.
    ///
    /// - Parameter text: The text.
    public init?(_ text: String) {
        guard let name = UserNameRule.prepared(text) else { return nil }
        self.rawValue = name
    }

    /// Creates a name from text that ``init(_:)`` has already prepared, such as a stored name.
    package init(prepared text: String) { self.rawValue = text }

    /// The name.
    public var description: String { self.rawValue }

    // A prepared name has a unique byte sequence, and comparing bytes is faster than Unicode
    // equality.

    /// Compares the bytes of the prepared names.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue.utf8.elementsEqual(right.rawValue.utf8) }
    /// Hashes the bytes of the prepared name.
    public func hash(into hasher: inout Hasher) {
        var text = self.rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
    /// Compares the Unicode scalars of the prepared names.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8) }
}

extension UserName: WireText {
    package static let wireRule = "must be an account name: 1 to 32 letters, digits, `.`, `_` and `-`"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}
