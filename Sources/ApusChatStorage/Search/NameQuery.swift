import ApusChatProtocol

/// Prepares texts for searches among names and titles.
package enum NameQuery {
    /// Returns the form of a query in which stored names contain it: in lower case, and with the
    /// compatibility forms of RFC 8266. Keyboards of some languages enter a letter and its marks as
    /// several characters, or letters of double width.
    package static func prepared(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : Nickname.compared(text)
    }
}
