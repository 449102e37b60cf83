import Testing

@testable import ApusChatTerminal

@Suite("Cells of a text")
struct TerminalTextTests {
    @Test(arguments: [
        ("", 0), (" ", 1), ("\u{0}", 0), ("\u{7F}", 0), ("\u{AD}", 0), ("\u{200B}", 0), ("\u{FEFF}", 0), ("ß", 1), ("я", 1), ("ع", 1),
        ("ｶ", 1), ("カ", 2), ("あ", 2), ("。", 2), ("「", 2), ("￥", 2), ("¥", 1), ("ㄅ", 2), ("〇", 2), ("㊗", 2), ("𠮷", 2), ("豈", 2),
        ("각", 2), ("\u{1100}\u{1161}\u{11A8}", 2), ("─", 1), ("▇", 1), ("●", 1), ("✓", 1), ("⚡", 2), ("⌚", 2), ("☎", 1), ("☎️", 2),
        ("©", 1),
        ("👩🏽‍🚀", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("🇩", 2), ("#️⃣", 2), ("e\u{301}\u{302}\u{303}", 1),
        // Letters with joiners are not emoji.
        ("1\u{200D}", 1), ("#\u{200D}", 1), ("1\u{FE0F}", 2), ("❤\u{200D}🔥", 2),
        ("ه\u{200D}", 1), ("a\u{200D}", 1), ("a\u{FE0F}", 1), ("क्\u{200D}", 1),
    ])
    func charactersHaveTheirCells(text: String, width: Int) { #expect(TerminalText.width(text) == width) }

    @Test(arguments: [
        ("plain", "plain"), ("a\tb\nc\r\nd", "a b c  d"), ("\u{1B}[31mred", "[31mred"), ("\u{9B}2J", "2J"), ("a\u{0}b\u{7F}c", "abc"),
        ("\u{202E}abc\u{202C}", "abc"), ("\u{2066}a\u{2069}\u{200F}b\u{200E}", "ab"), ("a\u{2028}b\u{2029}c", "a b c"), ("你好👍", "你好👍"),
        ("e\u{301}", "e\u{301}"),
    ])
    func plainTextMovesNothing(text: String, plain: String) {
        #expect(TerminalText.plain(text).unicodeScalars.elementsEqual(plain.unicodeScalars))
    }

    @Test(arguments: [
        ("report.pdf", 10, "report.pdf"), ("quarterly-report.pdf", 10, "quart….pdf"), ("abc", 2, "a…"), ("abc", 1, "…"), ("abc", 0, ""),
        ("季度报告文件.pdf", 9, "季度….pdf"), ("", 0, ""),
    ])
    func longNamesLoseTheirMiddle(text: String, width: Int, shortened: String) {
        #expect(TerminalText.shortened(text, to: width) == shortened)
    }

    @Test func paddingNeverCuts() {
        #expect(TerminalText.padded("你", to: 4) == "你  ")
        #expect(TerminalText.padded("long text", to: 4) == "long text")
        #expect(TerminalText.padded("a", to: -1) == "a")
    }

    @Test(arguments: [
        ("", 5, [""]), ("\n", 5, ["", ""]), (" a", 5, [" a"]), ("one two", 7, ["one two"]), ("one two", 6, ["one", "two"]),
        ("one  two", 4, ["one", "two"]), ("one two three", 3, ["one", "two", "thr", "ee"]),
        ("a verylongword", 6, ["a", "verylo", "ngword"]),
        ("你好 world", 5, ["你好", "world"]), ("word你好", 5, ["word", "你好"]), ("ab你", 3, ["ab", "你"]), ("👍👍👍", 4, ["👍👍", "👍"]),
        ("a b", 1, ["a", "b"]), ("abc", 0, ["ab", "c"]), ("tab\there", 4, ["tab", "here"]), ("e\u{301}e\u{301}e\u{301}", 2, ["éé", "é"]),
    ])
    func linesBreakAtTheirPlaces(text: String, width: Int, lines: [String]) {
        #expect(TerminalText.wrapped(text, to: width) == lines)
    }

    @Test(arguments: 0..<80)
    func anyTextIsFittedAndWrapped(seed: Int) {
        var generator = SeededGenerator(seed)
        let text = generator.text(0...60)
        let characters = Array(TerminalText.plain(text))
        for width in [0, 1, 2, 3, 5, 8, 13, 40, 200] {
            #expect(TerminalText.width(TerminalText.fitted(TerminalText.plain(text), to: width)) == width)
            #expect(TerminalText.width(TerminalText.shortened(TerminalText.plain(text), to: width)) <= width)
            let lines = TerminalText.lines(of: characters, width: width)
            #expect(lines.last?.upperBound == characters.count)
            var end = 0
            for line in lines {
                #expect(line.lowerBound >= end && characters[line].reduce(0) { $0 + TerminalText.width($1) } <= max(2, width))
                // Only spaces are omitted between two lines.
                #expect(characters[end..<line.lowerBound].allSatisfy { $0 == " " })
                end = line.upperBound
            }
        }
    }
}
