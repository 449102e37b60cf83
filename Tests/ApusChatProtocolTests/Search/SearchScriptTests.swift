import ApusChatProtocol
import Testing

/// The terms of each script: words in scripts with spaces, single characters in the others, and
/// emoji.
@Suite("Terms of each script")
struct SearchScriptTests {
    private func tokens(_ text: String) -> [SearchText.Token] { SearchText.tokens(of: text) }

    // MARK: Scripts

    /// Each character of a script without spaces is a term, so that a search finds a part of a
    /// longer text.
    @Test(arguments: [
        ("กขค", "ก ข ค"), ("ກຂຄ", "ກ ຂ ຄ"), ("ကခဂ", "က ခ ဂ"), ("កខគ", "ក ខ គ"), ("ㄱㄴㄷ", "\u{1100} \u{1102} \u{1103}"),
        ("ぁんゖ", "ぁ ん ゖ"), ("ァヺー", "ァ ヲ ー"), ("ㇰㇿ", "ㇰ ㇿ"), ("ｱｲﾝ", "ア イ ン"), ("㐀䶵", "㐀 䶵"), ("一鿿", "一 鿿"), ("𠀀𪛖𰀀", "𠀀 𪛖 𰀀"),
        ("豈更", "\u{8C48} \u{66F4}"), ("々〇〆", "々 〇 〆"),
    ])
    func eachCharacterIsATerm(text: String, terms: String) {
        #expect(Array(SearchText.terms(of: text).unicodeScalars) == Array(terms.unicodeScalars))
        let tokens = self.tokens(text)
        #expect(tokens.count == text.unicodeScalars.count && tokens.allSatisfy { !$0.isWord && $0.range.count == 1 })
        // Any part of the text is found as a phrase, and never in another order.
        let part = String(String.UnicodeScalarView(text.unicodeScalars.suffix(2)))
        let turned = String(String.UnicodeScalarView(text.unicodeScalars.suffix(2).reversed()))
        #expect(SearchWords(part).matches(in: "a " + text)?.count == 1)
        #expect(SearchWords(turned).matches(in: text) == nil)
    }

    /// A word of a script with spaces is one term, and its marks and accents are ignored.
    @Test(arguments: [
        ("नमस्ते", "नमसत"), ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"), ("தமிழ்", "தமழ"), ("ሰላም", "ሰላም"), ("გამარჯობა", "გამარჯობა"),
        ("Ελλάδα", "ελλαδα"), ("Україна", "украіна"), ("Việt", "viet"), ("łódź", "łodz"), ("naïve", "naive"), ("Ångström", "angstrom"),
        ("ㄅㄆㄇ", "ㄅㄆㄇ"),
    ])
    func aWordIsOneTerm(text: String, term: String) {
        #expect(Array(SearchText.terms(of: text).unicodeScalars) == Array(term.unicodeScalars))
        let tokens = self.tokens(text)
        #expect(tokens.count == 1 && tokens[0].isWord && tokens[0].range == 0..<text.unicodeScalars.count)
    }

    /// A change of the script ends a term only beside a script without spaces.
    @Test(arguments: [
        ("Swift语言6", ["swift", "语", "言", "6"]), ("iPhone用", ["iphone", "用"]), ("aбв", ["aбв"]), ("v2.0β", ["v2", "0β"]),
        ("ABCข้าว", ["abc", "ข", "า", "ว"]),
        ("가나다abc", ["\u{1100}\u{1161}", "\u{1102}\u{1161}", "\u{1103}\u{1161}", "abc"]), ("C++", ["c"]), ("#tag @bob", ["tag", "bob"]),
        ("a_b-c.d", ["a", "b", "c", "d"]), ("don’t", ["don", "t"]), ("50%", ["50"]), ("１２３", ["123"]), ("½ ⅓", ["12", "13"]),
        ("x²", ["x2"]),
    ])
    func aTextIsDividedIntoTerms(text: String, terms: [String]) {
        #expect(self.tokens(text).map { Array($0.term.unicodeScalars) } == terms.map { Array($0.unicodeScalars) })
    }

    // MARK: Emoji

    /// Each emoji is a term. A skin tone and a joiner belong to the emoji before them.
    @Test(arguments: [
        ("👍", ["e1f44d"]), ("👍🏽", ["e1f44d"]), ("👍👍", ["e1f44d", "e1f44d"]), ("👩‍💻", ["e1f469", "e1f4bb"]), ("🇩🇪", ["e1f1e9", "e1f1ea"]),
        ("ok👍no", ["ok", "e1f44d", "no"]), ("上👍海", ["上", "e1f44d", "海"]), ("⭐", ["e2b50"]), ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", ["e1f3f4"]),
        // These symbols are emoji with the variation selector U+FE0F or a skin tone only.
        ("❤️", ["e2764"]), ("I ❤️ birds", ["i", "e2764", "birds"]), ("☀️☎️", ["e2600", "e260e"]), ("✌🏽", ["e270c"]), ("✌️🏽", ["e270c"]),
        ("👍🏽\u{FE0F}", ["e1f44d"]), ("❤", []), ("❤\u{FE0E}", []),
        ("❤️‍🔥", ["e2764", "e1f525"]), ("©️", ["ea9"]), ("Apus®", ["apus"]), ("⚠️!", ["e26a0"]), ("a\u{FE0F}", ["a"]), ("\u{FE0F}", []),
        ("!\u{FE0F}", []), ("—\u{FE0F}", []), ("1️⃣", ["1"]), ("#️⃣", []), ("👍\u{FE0F}", ["e1f44d"]), ("上\u{FE0F}", ["上"]),
    ])
    func eachEmojiIsATerm(text: String, terms: [String]) {
        let tokens = self.tokens(text)
        #expect(tokens.map(\.term) == terms)
        let scalars = Array(text.unicodeScalars)
        for token in tokens where token.term.hasPrefix("e") && !token.isWord {
            #expect("e" + String(scalars[token.range.lowerBound].value, radix: 16) == token.term)
        }
    }

    @Test(arguments: [("❤️", "I ❤️ birds", 2..<4), ("👍🏽", "ok 👍", 3..<4), ("👩‍💻", "a 👩‍💻", 2..<5), ("☀️ sun", "sun ☀️", 0..<3), ("✌🏽", "✌️", 0..<2)])
    func anEmojiIsFoundInAText(query: String, text: String, range: Range<Int>) {
        #expect(SearchWords(query).matches(in: text)?.first == range)
    }

    // MARK: Limits

    /// The rest of a word beyond 64 characters is ignored in the text and in the query, so that a
    /// long word finds itself. The range has the whole word.
    @Test(arguments: [(63, 63), (64, 64), (65, 64), (5_000, 64)]) func aTermHasUpToSixtyFourCharacters(length: Int, count: Int) {
        for letter in ["a", "é", "ß", "ა", "𐐨"] {
            let word = String(repeating: letter, count: length)
            let tokens = self.tokens(word)
            #expect(tokens.map { $0.term.unicodeScalars.count } == [count] && tokens[0].range == 0..<length, "\(letter)")
            #expect(SearchWords(word).matches(in: "- " + word)?.first == 2..<2 + length, "\(letter)")
        }
    }

    /// A letter with many marks is one letter, and the work for it is bounded by its length.
    @Test func manyMarksAreIgnored() {
        let tokens = self.tokens("e" + String(repeating: "\u{301}", count: 8_000) + "x")
        #expect(tokens.map(\.term) == ["ex"] && tokens[0].range == 0..<8_002)
        #expect(self.tokens(String(repeating: "\u{301}", count: 8_000)).isEmpty)
    }

    /// Characters that are shown as nothing or as a space divide words, except for marks.
    @Test(arguments: [
        ("a\u{200B}b", ["a", "b"]), ("a\u{A0}b", ["a", "b"]), ("a\u{3000}b", ["a", "b"]), ("a\u{202E}b", ["a", "b"]),
        ("a\u{0}b", ["a", "b"]),
        ("a\u{FEFF}b", ["a", "b"]), ("a\u{AD}b", ["a", "b"]), ("a\u{301}b", ["ab"]), ("a\u{FE00}b", ["ab"]), ("a\u{E000}b", ["a", "b"]),
        ("a\u{FFFD}b", ["a", "b"]), ("a\u{10FFFF}b", ["a", "b"]),
    ])
    func otherCharactersDivideWords(text: String, terms: [String]) { #expect(self.tokens(text).map(\.term) == terms) }
}
