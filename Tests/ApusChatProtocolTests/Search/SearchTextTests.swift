import ApusChatProtocol
import Foundation
import Testing

@Suite struct SearchTextTests {
    @Test(arguments: [
        ("Hello, World!", "hello world"), ("don't 3.14 a_b", "don t 3 14 a b"), ("Élan STRASSE ß", "elan strasse ß"),
        ("ＦＵＬＬ ｶﾅ", "full カ ナ"), ("上海abc开会", "上 海 abc 开 会"), ("ไทย", "ไ ท ย"), ("👩‍👩‍👧 🇨🇳", "e1f469 e1f469 e1f467 e1f1e8 e1f1f3"),
        ("👍🏽", "e1f44d"), ("①½", "112"), ("", ""), ("  \n—", ""), ("e\u{301}te\u{301}", "ete"),
    ]) func termsOfATextAreThese(_ text: String, _ terms: String) {
        #expect(SearchText.terms(of: text) == terms)
    }

    @Test func longWordsAreCut() {
        #expect(SearchText.terms(of: String(repeating: "a", count: 1_000)).count == 64)
        #expect(SearchText.terms(of: String(repeating: "é", count: 1_000)).count == 64)
    }

    @Test func tokensHaveTheirPlaces() {
        #expect(SearchText.tokens(of: "a 上海b").map(\.range) == [0..<1, 2..<3, 3..<4, 4..<5])
    }

    /// Composed and decomposed characters are the same word, as in the file names of macOS.
    @Test(
        arguments: [
            ("한국어", "한국"), ("가", "가"), ("각", "각"), ("읽다 값", "값"), ("서울 회의록.pdf", "회의"), ("がぎぐ パン", "ぎぐ"), ("Ünïcödé", "unicode"),
            ("Tiếng Việt", "tieng"),
            ("İstanbul", "istanbul"), ("क़लम", "कलम"), ("ώρα", "ωρα"), ("ё", "е"), ("ที่", "ท"),
        ])
    func normalFormsAreTheSame(text: String, words: String) {
        let forms = [text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping]
        let queries = [words.precomposedStringWithCanonicalMapping, words.decomposedStringWithCanonicalMapping]
        #expect(SearchText.terms(of: forms[0]) == SearchText.terms(of: forms[1]))
        for form in forms {
            let count = form.unicodeScalars.count
            for query in queries {
                let matches = SearchWords(query).matches(in: form)
                #expect(matches?.isEmpty == false && matches?.allSatisfy { $0.upperBound <= count } == true, "\(query) in \(form)")
            }
        }
    }

    @Test(
        arguments: [
            // A syllable, then letters that are not part of it.
            ("\u{1100}\u{1161}\u{11A8}\u{1100}", "\u{1100}\u{1161}\u{11A8} \u{1100}"), ("\u{1161}", "\u{1161}"),
            ("a\u{1161}", "a \u{1161}"),
            ("\u{AC00}\u{11A8}", "\u{1100}\u{1161}\u{11A8}"), ("\u{AC00} \u{11A8}", "\u{1100}\u{1161} \u{11A8}"),
            ("上\u{1161}", "上 \u{1161}"),
            ("ㄱㅏ", "\u{1100} \u{1161}"),
        ])
    func syllablesOfHangulAreTerms(text: String, terms: String) {
        #expect(Array(SearchText.terms(of: text).unicodeScalars) == Array(terms.unicodeScalars))
    }

    /// The dotless i of Turkish is a separate letter; the dotted one is the letter of other
    /// languages.
    @Test(arguments: [
        ("İ", "i"), ("I", "i"), ("i", "i"), ("ı", "ı"), ("IĞDIR", "igdir"), ("ığdır", "ıgdır"), ("ß", "ß"), ("ẞ", "ß"), ("ﬁn", "fin"),
        ("Å", "a"),
    ])
    func lettersAreFolded(text: String, term: String) { #expect(SearchText.terms(of: text) == term) }

    /// Each token of a random text is inside of the text.
    @Test func everyTextIsDivided() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                if let scalar = Unicode.Scalar(UInt32.random(in: 0..<0x3_0000, using: &generator)) { text.unicodeScalars.append(scalar) }
            }
            let count = text.unicodeScalars.count
            let tokens = SearchText.tokens(of: text)
            #expect(tokens.allSatisfy { $0.range.lowerBound >= 0 && $0.range.upperBound <= count && !$0.term.isEmpty })
            #expect(!tokens.contains { $0.term.contains(" ") || $0.term.contains("\"") })
        }
    }
}

@Suite struct SearchWordsTests {
    @Test func wordsArePhrases() {
        let words = SearchWords(#"hel lo "exact words" 上海 ok!"#).phrases
        #expect(words.map(\.terms) == [["hel"], ["lo"], ["exact", "words"], ["上", "海"], ["ok"]])
        #expect(words.map(\.isOpen) == [true, false, false, false, false])
        #expect(SearchWords("\"half").phrases.map(\.isOpen) == [false])
        #expect(SearchWords("! ? \"\"").phrases.isEmpty)
        #expect(SearchWords(String(repeating: "ab ", count: 50)).phrases.count == 16)
    }

    @Test func aSnippetBeginsBeforeTheFirstWord() throws {
        let text = String(repeating: "lorem ", count: 50) + "the needle\nis here" + String(repeating: " ipsum", count: 50)
        let (snippet, ranges) = try #require(SearchWords("needle here").snippet(of: text))
        #expect(snippet.contains("the needle is here") && snippet.unicodeScalars.count == 120)
        let scalars = Array(snippet.unicodeScalars)
        let marked = ranges.map { range in
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[Int(range.offset)..<Int(range.offset + range.length)])
            return String(part)
        }
        #expect(marked == ["needle", "here"])
        #expect(SearchWords("needle missing").snippet(of: text) == nil)
    }

    @Test func overlappingWordsAreMarkedOnce() throws {
        let (_, ranges) = try #require(SearchWords("上海 海").snippet(of: "去上海"))
        #expect(ranges == [TextRange(offset: 1, length: 2)])
    }

    @Test func aShortTextIsItsOwnSnippet() throws {
        let (snippet, ranges) = try #require(SearchWords("wor").snippet(of: "hello world"))
        #expect(snippet == "hello world" && ranges == [TextRange(offset: 6, length: 5)])
    }
}
