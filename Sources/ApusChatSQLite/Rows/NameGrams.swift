import ApusChatStorage

/// Encodes names for full-text search, so that a query finds a name by any part of it.
///
/// A name is split into its pairs of consecutive characters, followed by the last character alone.
/// A query of two or more characters is a phrase of pairs; a query of one character is the
/// beginning of a word. Each character is encoded as four letters, so that a word has the same
/// length in every script.
enum NameGrams {
    /// Returns the encoded words of a name, in order.
    static func words(of name: String) -> String {
        let letters = self.letters(of: name)
        guard let last = letters.last else { return "" }
        return (zip(letters, letters.dropFirst()).map { $0 + $1 } + [last]).joined(separator: " ")
    }

    /// Returns the full-text query for names that contain `part`; nil if `part` is empty.
    static func query(for part: String) -> String? {
        let letters = self.letters(of: NameQuery.part(part))
        guard let first = letters.first else { return nil }
        guard letters.count > 1 else { return first + "*" }
        return "\"" + zip(letters, letters.dropFirst()).map { $0 + $1 }.joined(separator: " ") + "\""
    }

    private static func letters(of text: String) -> [String] {
        text.lowercased().unicodeScalars.map { scalar in
            var rest = scalar.value
            var letters = [UInt8](repeating: UInt8(ascii: "a"), count: 4)
            for index in letters.indices.reversed() {
                let digit = UInt8(truncatingIfNeeded: rest % 36)
                letters[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                rest /= 36
            }
            return String(decoding: letters, as: UTF8.self)
        }
    }
}
