import ApusChatProtocol
import Testing

/// The part of a text that a search shows: where it begins and ends, and which words it marks.
@Suite("Snippets of found texts")
struct SnippetTests {
    private func snippet(_ words: String, of text: String) throws -> (text: String, ranges: [TextRange]) {
        try #require(SearchWords(words).snippet(of: text))
    }

    private func scalars(_ text: String, _ range: TextRange) -> String {
        var part = String.UnicodeScalarView()
        part.append(contentsOf: text.unicodeScalars.dropFirst(Int(range.offset)).prefix(Int(range.length)))
        return String(part)
    }

    /// The text begins with the snippet unless the word is at least 60 scalars away. Then 30
    /// scalars precede the word.
    @Test(arguments: [(0, 0), (1, 1), (59, 59), (60, 30), (61, 30), (500, 30)] as [(Int, Int64)])
    func aWordFarAwayMovesTheBeginning(before: Int, offset: Int64) throws {
        for filler in ["-", "鸟 ", "\u{301}"] {
            let width = filler.unicodeScalars.count
            let text = String(repeating: filler, count: before / width) + String(repeating: "-", count: before % width) + "needle"
            let (snippet, ranges) = try self.snippet("needle", of: text)
            #expect(ranges == [TextRange(offset: offset, length: 6)] && self.scalars(snippet, ranges[0]) == "needle")
            #expect(Int64(snippet.unicodeScalars.count) == offset + 6)
        }
    }

    @Test(arguments: [(113, 120, 2), (114, 120, 2), (115, 120, 1), (200, 120, 1)])
    func aWordAcrossTheEndIsNotMarked(gap: Int, length: Int, marked: Int) throws {
        let text = "a1" + String(repeating: "-", count: gap - 2) + "needle" + String(repeating: "-", count: 50)
        let (snippet, ranges) = try self.snippet("a1 needle", of: text)
        #expect(snippet.unicodeScalars.count == length && ranges.count == marked)
        for (range, word) in zip(ranges, ["a1", "needle"]) { #expect(self.scalars(snippet, range) == word) }
    }

    @Test(arguments: [(1, 1), (20, 20), (21, 20), (40, 20)]) func twentyWordsAreMarked(count: Int, marked: Int) throws {
        let (_, ranges) = try self.snippet("ab", of: String(repeating: "ab ", count: count))
        #expect(ranges.map(\.offset) == (0..<Int64(marked)).map { $0 * 3 })
    }

    /// A phrase that is longer than the snippet is not marked, and its text is shown.
    @Test func aLongPhraseIsShownWithoutAMark() throws {
        let phrase = String(repeating: "word ", count: 30)
        let (snippet, ranges) = try self.snippet("\"\(phrase)\"", of: "- " + phrase)
        #expect(ranges.isEmpty && snippet.hasPrefix("- word word") && snippet.unicodeScalars.count == 120)
    }

    @Test(arguments: ["\n", "\t", "\r\n", "\u{2028}", "\u{3000}", "\u{A0}"]) func whiteSpaceIsASpace(space: String) throws {
        let (snippet, ranges) = try self.snippet("two", of: "one" + space + "two")
        #expect(snippet == "one" + String(repeating: " ", count: space.unicodeScalars.count) + "two")
        #expect(self.scalars(snippet, ranges[0]) == "two")
    }

    /// Each phrase must occur; the order of the marks is that of the text.
    @Test(arguments: [
        ("beta alpha", ["alpha", "beta"]), ("\"beta gamma\" alpha", ["alpha", "beta gamma"]), ("alp", ["alpha"]), ("gamma gam", ["gamma"]),
    ])
    func marksAreInTheOrderOfTheText(words: String, marked: [String]) throws {
        let (snippet, ranges) = try self.snippet(words, of: "alpha beta gamma")
        #expect(ranges.map { self.scalars(snippet, $0) } == marked)
    }

    @Test(arguments: ["", "...", "alpha delta", "\"gamma beta\"", "\"alph\"", "al", "\"alpha gamma\""])
    func aPhraseThatDoesNotOccurFindsNothing(words: String) {
        #expect(SearchWords(words).snippet(of: "alpha beta gamma") == nil)
        #expect(SearchWords(words).matches(in: "alpha beta gamma") == nil)
    }

    /// Sixteen phrases count, and the seventeenth does not.
    @Test func laterPhrasesAreIgnored() {
        let words = (10..<26).map { "w\($0)" }
        let text = words.joined(separator: " ")
        #expect(SearchWords(text + " missing").matches(in: text)?.count == 16)
        #expect(SearchWords("missing " + text).matches(in: text) == nil)
    }

    /// A word of three characters matches longer words, if nothing follows it in the query.
    @Test(arguments: [
        ("wor", true), ("wo", false), ("wor.", false), ("\"wor\"", false), ("WOR", true), ("мир", true), ("ми", false), ("上", false),
        ("e\u{301}te\u{301}", true), ("123", true), ("12", false),
    ])
    func aBeginningIsOpenFromThreeCharacters(words: String, isOpen: Bool) {
        #expect(SearchWords(words).phrases.map(\.isOpen) == [isOpen])
    }
}
