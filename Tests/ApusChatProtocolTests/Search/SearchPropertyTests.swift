import ApusChatProtocol
import ApusSeededRandom
import Testing

/// Properties of every search in any text.
@Suite("Searches of any text")
struct SearchPropertyTests {
    private static let alphabet = Array(
        "abcABC  012 .,\"'-\n\t éÉßẞİıſΣσςΟοФфדשلاสวัสดี上海가각カﾅ🐦👍🏽👩‍👩‍👧\u{301}\u{200D}\u{FE0F}①½Ⅻǅ\u{0}\u{202E}𐐀𐐨ꭺᎪ".unicodeScalars)

    private func text(length: Int, with generator: inout SplitMix64) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<length { text.append(Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &generator)]) }
        return String(text)
    }

    /// Texts that differ in case only have the same terms, and each finds the other.
    @Test(arguments: [
        ("ΟΔΟΣ", "οδος"), ("ΟΔΟΣ", "οδοσ"), ("Οδός", "οδοσ"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("МОСКВА", "москва"), ("Հայ", "ՀԱՅ"), ("ǅep", "ǆep"),
        ("İstanbul", "istanbul"), ("ÉCOLE", "école"), ("ＡＢＣ", "abc"), ("𐐀𐐁", "𐐨𐐩"), ("ⅫX", "xiix"), ("ſoft", "SOFT"), ("ᎪᎬ", "ꭺꭼ"),
    ])
    func caseDoesNotMatter(first: String, second: String) {
        #expect(SearchText.terms(of: first) == SearchText.terms(of: second))
        #expect(SearchWords(first).matches(in: second) != nil && SearchWords(second).matches(in: first) != nil)
    }

    /// Every word of a text finds the text, with and without quotes, and so does its beginning.
    @Test func aTextIsFoundByItsOwnWords() {
        var generator = SplitMix64(state: 31)
        for _ in 0..<1_500 {
            let text = self.text(length: Int.random(in: 1..<40, using: &generator), with: &generator)
            let tokens = SearchText.tokens(of: text)
            let scalars = Array(text.unicodeScalars)
            for token in tokens {
                var word = String.UnicodeScalarView()
                word.append(contentsOf: scalars[token.range])
                #expect(SearchWords(String(word)).matches(in: text)?.contains { $0.overlaps(token.range) } == true, "\(text): \(word)")
                #expect(SearchWords("\"\(String(word))\"").matches(in: text) != nil, "\(text): \(word)")
                guard token.isWord, token.term.unicodeScalars.count > 3 else { continue }
                let beginning = String(token.term.unicodeScalars.prefix(3))
                #expect(SearchWords(beginning).matches(in: text) != nil, "\(text): \(beginning)")
                // A beginning in quotes is a whole word.
                let isAlsoAWord = tokens.contains { $0.term == beginning }
                #expect((SearchWords("\"\(beginning)\"").matches(in: text) != nil) == isAlsoAWord, "\(text): \(beginning)")
            }
            #expect(SearchWords(text).phrases.isEmpty == tokens.isEmpty, "\(text)")
        }
    }

    /// The tokens follow each other, and the terms of a term are the term.
    @Test func tokensFollowEachOtherAndAreStable() {
        var generator = SplitMix64(state: 37)
        for _ in 0..<1_500 {
            let text = self.text(length: Int.random(in: 0..<60, using: &generator), with: &generator)
            let tokens = SearchText.tokens(of: text)
            for (one, next) in zip(tokens, tokens.dropFirst()) { #expect(one.range.upperBound <= next.range.lowerBound, "\(text)") }
            for token in tokens where token.isWord {
                #expect(SearchText.terms(of: token.term) == token.term, "\(token.term)")
            }
        }
    }

    /// A snippet is a bounded line, and its ranges are in it, in order and without overlaps.
    @Test func snippetsAreBoundedLines() throws {
        var generator = SplitMix64(state: 41)
        var found = 0
        for _ in 0..<800 {
            let text = self.text(length: Int.random(in: 1..<400, using: &generator), with: &generator)
            let tokens = SearchText.tokens(of: text)
            guard !tokens.isEmpty else { continue }
            let words = (0..<3).compactMap { _ in tokens.randomElement(using: &generator)?.term }
            guard let (snippet, ranges) = SearchWords(words.joined(separator: " ")).snippet(of: text) else { continue }
            found += 1
            let count = Int64(snippet.unicodeScalars.count)
            #expect(count <= ChatLimits.previewLength && !snippet.unicodeScalars.contains { $0 == "\n" || $0 == "\t" })
            #expect(
                ranges.count <= 20 && ranges.allSatisfy { $0.offset >= 0 && $0.length > 0 && $0.offset + $0.length <= count }, "\(text)")
            for (one, next) in zip(ranges, ranges.dropFirst()) { #expect(one.offset + one.length <= next.offset, "\(text)") }
        }
        #expect(found > 200)
    }

    /// Queries of an attacker have a bounded number of phrases, and find nothing or a range.
    @Test(arguments: [
        "\"", "\"\"\"\"\"", "a\"b\"c\"", "\u{0}", "\"a", "* OR 1=1 --", "NEAR(a b)", "a AND NOT b", "col:term", "-a", "^a", "{a b}: c",
        String(repeating: "\"a ", count: 5_000), String(repeating: "上", count: 10_000), String(repeating: "\u{301}", count: 10_000),
    ])
    func queriesOfAnAttackerAreTexts(query: String) {
        let words = SearchWords(query)
        #expect(words.phrases.count <= 16)
        #expect(
            words.phrases.allSatisfy { !$0.terms.isEmpty && $0.terms.allSatisfy { !$0.isEmpty && !$0.contains("\"") && !$0.contains(" ") } }
        )
        #expect(words.matches(in: "") == nil && words.snippet(of: "\u{301}") == nil)
    }
}
