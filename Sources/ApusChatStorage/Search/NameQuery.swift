import ApusChatProtocol

/// Prepares and compares texts for searches among names and titles.
package enum NameQuery {
    /// The maximum number of Unicode scalars of a part of a name. Further scalars are ignored.
    package static let longestPart = 64

    /// Returns the form of a query in which stored names contain it: in lower case, and with the
    /// compatibility forms of RFC 8266. Keyboards of some languages enter a letter and its marks as
    /// several characters, or letters of double width.
    package static func prepared(_ text: String) -> String {
        // The compatibility form of a letter, such as U+210C, can be a capital.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : Nickname.compared(text).lowercased()
    }

    /// Returns the prepared form of a part of a name. No name contains an empty part.
    package static func part(_ text: String) -> String {
        String(String.UnicodeScalarView(self.prepared(text).unicodeScalars.prefix(self.longestPart)))
    }

    /// Returns whether a text in lower case contains the Unicode scalars of a prepared query. The
    /// query can end within a character of the text: `ก` is a part of `กำ`.
    package static func contains(_ text: String, _ query: String) -> Bool { text.utf8.contains(query.utf8) }
}
