/// An account name, which identifies a user everywhere on the wire.
///
/// Source: RFC 8265 section 3.3 (UsernameCaseMapped), restricted further as RFC 8264 section 5
/// allows: letters, digits and marks of any script, and `.`, `_` and `-` between them; 1 to 32
/// Unicode scalars; no letters of scripts that look alike mixed in one name. A name is immutable
/// and never given to another account, so that it can stand for the user in the log.
public struct UserName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name in its one form: width and case mapped, in normalization form C.
    public let rawValue: String

    /// Prepares a name from unchecked text: `ALICE` and `ａｌｉｃｅ` are `alice`.
    ///
    /// - Returns: nil if the text is not a valid name.
    public init?(_ text: String) {
        guard let name = UserNameRule.prepared(text) else { return nil }
        self.rawValue = name
    }

    /// Creates a name from a text that ``init(_:)`` has prepared, such as a stored one.
    package init(prepared text: String) { self.rawValue = text }

    /// The name.
    public var description: String { self.rawValue }

    // A prepared name has one sequence of bytes. Comparing bytes is faster than Unicode equality.

    /// Compares the bytes.
    public static func == (left: Self, right: Self) -> Bool { left.rawValue.utf8.elementsEqual(right.rawValue.utf8) }
    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = self.rawValue
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
    /// Orders by the Unicode scalars.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8) }
}

extension UserName: WireText {
    package static let wireRule = "must be an account name"
    package init?(wireText: String) { self.init(wireText) }
    package var wireText: String { self.rawValue }
}
