/// The name a user signs in with.
///
/// Source: the seed's rule (`reference/seeds.md`, Seed 001): 4 to 15 of ASCII letters, digits and `_`, no `_` at either end.
/// Two names that differ only in case are the same name to the server.
public struct UserName: Hashable, Sendable, CustomStringConvertible {
    /// The name as the user wrote it.
    public let rawValue: String

    /// Takes text from outside.
    /// - Returns: nil when it breaks the rule.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (4...15).contains(bytes.count), bytes.first != UInt8(ascii: "_"), bytes.last != UInt8(ascii: "_"),
            bytes.allSatisfy({ ChatIdentifierRule.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.rawValue = text
    }

    /// The name as the user wrote it.
    public var description: String { self.rawValue }
    /// What is unique: the name in lower case (it is ASCII).
    public var folded: String { self.rawValue.lowercased() }
}
