/// An account name: 4 to 15 ASCII letters, digits and `_`, without `_` at either end.
///
/// Two names that differ only in case are the same name to the server.
public struct UserName: Hashable, Sendable, CustomStringConvertible {
    /// The name as the user wrote it.
    public let rawValue: String

    /// Creates a name from unchecked text.
    /// - Returns: nil when the text is not valid.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (4...15).contains(bytes.count), bytes.first != UInt8(ascii: "_"), bytes.last != UInt8(ascii: "_"),
            bytes.allSatisfy({ ChatIdentifierRule.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.rawValue = text
    }

    /// The name as the user wrote it.
    public var description: String { self.rawValue }
    /// The name in lower case, which is unique on a server.
    public var folded: String { self.rawValue.lowercased() }
}
