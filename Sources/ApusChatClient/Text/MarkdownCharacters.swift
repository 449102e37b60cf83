// The classes of characters to which the rules of Markdown refer.

extension Unicode.Scalar {
    /// Whether the scalar is white space, as `\s` of ECMAScript defines it.
    var isMarkdownSpace: Bool {
        switch self.value {
        case 0x09...0x0D, 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF: true
        default: false
        }
    }

    var isLetterOrNumber: Bool {
        switch self.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber:
            true
        default: false
        }
    }

    /// Whether the scalar can be a part of a name after `@`.
    var isNameCharacter: Bool { self == "." || self == "_" || self == "-" || self.isLetterOrNumber }

    /// Whether the scalar is an ASCII letter or digit, or `_`.
    var isWordCharacter: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }

    var isLanguageCharacter: Bool { self.isWordCharacter || self == "+" || self == "#" || self == "." || self == "-" }

    /// Whether the scalar is a Latin letter, or a number of any script. `@` after such a character
    /// is a part of a word, as in an email address.
    var isLatinOrNumber: Bool {
        switch self.properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: true
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            switch self.value {
            case 0x41...0x5A, 0x61...0x7A, 0xAA, 0xBA, 0xC0...0x2B8, 0x2E0...0x2E4, 0x1D00...0x1D25, 0x1D6B...0x1D77, 0x1D79...0x1DBE,
                0x1E00...0x1EFF, 0x2071, 0x207F, 0x2090...0x209C, 0x212A, 0x212B, 0x2132, 0x214E, 0x2C60...0x2C7F, 0xA722...0xA787,
                0xA78B...0xA7FF, 0xAB30...0xAB5A, 0xAB5C...0xAB64, 0xFB00...0xFB06, 0xFF21...0xFF3A, 0xFF41...0xFF5A:
                true
            default: false
            }
        default: false
        }
    }

    /// Whether the scalar ends an address in a text.
    var endsAddress: Bool { self.isMarkdownSpace || "<>\"'“”‘’，。；！？、（）【】《》".unicodeScalars.contains(self) }
}

extension ArraySlice<Unicode.Scalar> {
    func hasPrefix(_ text: String) -> Bool { self.starts(with: text.unicodeScalars) }

    /// Whether the text begins with `http://` or `https://` and another character.
    var hasAddress: Bool {
        guard let first = self.first, first == "h" || first == "H" else { return false }
        let start = String(String.UnicodeScalarView(self.prefix(8))).lowercased()
        let length = start.hasPrefix("https://") ? 8 : start.hasPrefix("http://") ? 7 : 0
        guard length > 0, let next = self.dropFirst(length).first else { return false }
        return !next.isMarkdownSpace
    }
}
