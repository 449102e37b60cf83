import Foundation

/// How a text is divided into terms, for the index of a search and for what is looked up in it.
///
/// - A run of letters and digits is one term. Case, accents and width are ignored.
/// - A character of a script without spaces between words (Chinese, Japanese, Korean, Thai and
///   others) is a term of its own, and so is an emoji. A word of them is then found as a phrase,
///   also inside a longer text, and from one character.
package enum SearchText {
    /// A term and its place in the text.
    package struct Token: Hashable {
        package var term: String
        /// The Unicode scalars of the text that it stands for.
        package var range: Range<Int>
        /// Whether the term is a whole word, of which a search may have the beginning only.
        package var isWord: Bool
    }

    /// The maximum number of characters of a term. The rest of a longer word is ignored.
    static let longestTerm = 64

    /// Returns the terms of a text in their order, separated by spaces.
    package static func terms(of text: String) -> String { self.tokens(of: text).map(\.term).joined(separator: " ") }

    /// Divides a text.
    package static func tokens(of text: String) -> [Token] {
        var tokens: [Token] = []
        var word = String.UnicodeScalarView()
        var start = 0
        var index = 0
        func endWord() {
            guard !word.isEmpty else { return }
            let term = self.folded(String(word))
            if !term.isEmpty { tokens.append(Token(term: term, range: start..<index, isWord: true)) }
            word = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars {
            switch Self.role(of: scalar) {
            case .letter:
                if word.isEmpty { start = index }
                word.append(scalar)
            case .mark:
                if !word.isEmpty { word.append(scalar) }
            case .single:
                endWord()
                let term = self.folded(String(scalar))
                if !term.isEmpty { tokens.append(Token(term: term, range: index..<index + 1, isWord: false)) }
            case .emoji:
                endWord()
                tokens.append(Token(term: "e" + String(scalar.value, radix: 16), range: index..<index + 1, isWord: false))
            case .separator: endWord()
            }
            index += 1
        }
        endWord()
        return tokens
    }

    private enum Role {
        case letter, mark, single, emoji, separator
    }

    private static func role(of scalar: Unicode.Scalar) -> Role {
        if scalar.isASCII { return self.isAlphanumeric(scalar) ? .letter : .separator }
        if self.isWithoutSpaces(scalar) { return .single }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
            .otherNumber:
            return .letter
        default:
            // A tone of skin belongs to the emoji before it.
            return scalar.properties.isEmojiPresentation && !scalar.properties.isEmojiModifier ? .emoji : .separator
        }
    }

    private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    /// Whether words of the scalar's script are not separated by spaces, or are looked for by their
    /// parts. Source: the blocks of Unicode.
    private static func isWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true  // Thai, Lao, Myanmar, Khmer
        case 0x1100...0x11FF, 0x3130...0x318F, 0xAC00...0xD7AF: true  // Hangul
        case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D: true  // Kana
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true  // Han
        default: false
        }
    }

    /// Without case, accents and differences of width.
    private static func folded(_ word: String) -> String {
        if word.utf8.allSatisfy({ $0 < 0x80 }) { return String(word.lowercased().prefix(self.longestTerm)) }
        var term = String.UnicodeScalarView()
        for scalar in word.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
                .otherNumber:
                term.append(scalar)
            default: break
            }
            if term.count == self.longestTerm { break }
        }
        return String(term)
    }
}
