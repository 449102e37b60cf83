import Foundation

/// Splits text into terms, for the search index and for queries.
///
/// - A run of letters and digits is one term. Letter case, accents and width are ignored.
/// - Each Chinese, Japanese, Korean, Thai, Lao, Myanmar and Khmer character is a term, and each
///   emoji is a term. A search for several of these characters finds them as a phrase, also within
///   a longer text.
package enum SearchText {
    /// A term and its position in the text.
    package struct Token: Hashable {
        package var term: String
        /// The range of the term in the text, in Unicode scalars.
        package var range: Range<Int>
        /// Whether the term is a whole word. A query can match a word by its beginning.
        package var isWord: Bool
    }

    /// The maximum number of characters of a term. The rest of a longer word is ignored.
    static let longestTerm = 64

    /// Returns the terms of a text in order, separated by spaces.
    package static func terms(of text: String) -> String { self.tokens(of: text).map(\.term).joined(separator: " ") }

    /// Splits a text into terms.
    package static func tokens(of text: String) -> [Token] {
        let scalars = text.unicodeScalars
        var tokens: [Token] = []
        /// The start of the current word in the text; nil between two words.
        var word: String.Index?
        var start = 0
        var index = 0
        var previous: Unicode.Scalar?
        func endWord(at end: String.Index) {
            guard let begin = word else { return }
            let term = self.folded(String(scalars[begin..<end]))
            if !term.isEmpty { tokens.append(Token(term: term, range: start..<index, isWord: true)) }
            word = nil
        }
        for position in scalars.indices {
            let scalar = scalars[position]
            switch Self.role(of: scalar) {
            case .letter:
                if word == nil { (word, start) = (position, index) }
            case .mark:
                if word == nil, let previous, self.isEmoji(previous, before: scalar) {
                    tokens.append(self.emoji(previous, at: index - 1..<index + 1))
                }
            case .single:
                endWord(at: position)
                let term = self.folded(String(scalar))
                if self.continuesSyllable(scalar), let last = tokens.indices.last, tokens[last].endsInJamo(before: index) {
                    tokens[last].term += term
                    tokens[last].range = tokens[last].range.lowerBound..<index + 1
                } else if !term.isEmpty {
                    tokens.append(Token(term: term, range: index..<index + 1, isWord: false))
                }
            case .emoji:
                endWord(at: position)
                tokens.append(self.emoji(scalar, at: index..<index + 1))
            case .separator:
                if word == nil, let previous, self.isEmoji(previous, before: scalar) {
                    tokens.append(self.emoji(previous, at: index - 1..<index + 1))
                }
                endWord(at: position)
            }
            index += 1
            previous = scalar
        }
        endWord(at: scalars.endIndex)
        return tokens
    }

    private static func emoji(_ scalar: Unicode.Scalar, at range: Range<Int>) -> Token {
        Token(term: "e" + String(scalar.value, radix: 16), range: range, isWord: false)
    }

    /// Returns whether a symbol of texts, such as U+2764, is an emoji because of the scalar after
    /// it: the variation selector U+FE0F or a skin tone (UTS 51 section 1.4).
    private static func isEmoji(_ symbol: Unicode.Scalar, before next: Unicode.Scalar) -> Bool {
        guard !next.isASCII, next.value == 0xFE0F || next.properties.isEmojiModifier else { return false }
        return !symbol.isASCII && symbol.properties.isEmoji && !symbol.properties.isEmojiModifier && self.role(of: symbol) == .separator
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
            // A skin tone modifier belongs to the preceding emoji.
            return scalar.properties.isEmojiPresentation && !scalar.properties.isEmojiModifier ? .emoji : .separator
        }
    }

    private static func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }

    /// Returns whether each scalar of the script is a term, because the script has no spaces
    /// between words or users search for parts of its words. Source: the blocks of Unicode.
    private static func isWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true  // Thai, Lao, Myanmar, Khmer
        case 0x1100...0x11FF, 0x3130...0x318F, 0xAC00...0xD7AF: true  // Hangul
        case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D: true  // Kana
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true  // Han
        default: false
        }
    }

    /// Returns whether a scalar is a vowel or a final consonant of Hangul (Unicode, 3.12), which
    /// belongs to the syllable before it. File names of macOS contain syllables in this form.
    private static func continuesSyllable(_ scalar: Unicode.Scalar) -> Bool { (0x1160...0x11FF).contains(scalar.value) }

    /// Returns a word without letter case, accents and differences of width.
    private static func folded(_ word: String) -> String {
        if word.utf8.allSatisfy({ $0 < 0x80 }) {
            let term = word.lowercased()
            return term.utf8.count > self.longestTerm ? String(term.prefix(self.longestTerm)) : term
        }
        var term = String.UnicodeScalarView()
        for scalar in word.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
                .otherNumber:
                // Both forms of the small sigma have the same capital letter and must match each
                // other.
                term.append(scalar == "ς" ? "σ" : scalar)
            default: break
            }
            if term.count == self.longestTerm { break }
        }
        return String(term)
    }
}

extension SearchText.Token {
    /// Returns whether the token is of Hangul and ends at an index.
    fileprivate func endsInJamo(before index: Int) -> Bool {
        self.range.upperBound == index && self.term.unicodeScalars.last.map { (0x1100...0x11FF).contains($0.value) } ?? false
    }
}
