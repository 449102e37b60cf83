import Testing

@testable import ApusChatTerminal

@Suite("Text of a terminal")
struct TextTests {
    @Test(arguments: [
        ("abc", 3), ("你好", 4), ("ｈｉ", 4), ("한국", 4), ("e\u{301}", 1), ("👍", 2), ("👨‍👩‍👧", 2), ("🇨🇳", 2), ("❤️", 2), ("\u{1B}[", 1),
        ("…", 1),
        ("❤\u{FE0E}", 1), ("1️⃣", 2), ("👍🏽", 2), ("नि", 2), ("가", 2),
    ])
    func widths(text: String, width: Int) { #expect(TerminalText.width(text) == width) }

    @Test func textsAreFitted() {
        #expect(TerminalText.fitted("abc", to: 5) == "abc  ")
        #expect(TerminalText.fitted("abcdef", to: 4) == "abc…")
        #expect(TerminalText.fitted("你好世界", to: 4) == "你… ")
        #expect(TerminalText.fitted("你好", to: 0) == "")
    }

    @Test func textsAreWrapped() {
        #expect(TerminalText.wrapped("one two three", to: 8) == ["one two", "three"])
        #expect(TerminalText.wrapped("今天天气很好", to: 5) == ["今天", "天气", "很好"])
        #expect(TerminalText.wrapped("abcdefghij", to: 4) == ["abcd", "efgh", "ij"])
        #expect(TerminalText.wrapped("a\n\nb", to: 4) == ["a", "", "b"])
        for width in 2...20 {
            let lines = TerminalText.wrapped("mixed 你好 text with a verylongwordinside 👍👍 end", to: width)
            #expect(lines.allSatisfy { TerminalText.width($0) <= width })
        }
    }

    @Test func controlsAreRemoved() {
        #expect(TerminalText.plain("a\u{1B}[31mb\u{7}\nc\u{202E}d") == "a[31mb cd")
    }

    // MARK: Keys

    @Test func keysArriveInPieces() {
        var reader = KeyReader()
        #expect(reader.read(Array("a你".utf8)) == [.character("a"), .character("你")])
        #expect(reader.read([0xE4]) == [])
        #expect(reader.read([0xBD, 0xA0]) == [.character("你")])
        #expect(reader.read([0x1B]) == [])
        #expect(reader.read(Array("[5~".utf8)) == [.pageUp])
        #expect(
            reader.read(Array("\u{1B}[1;5C\u{1B}OA\r\t\u{7F}\u{3}".utf8)) == [.wordRight, .up, .enter, .tab, .backspace, .control("c")])
        #expect(reader.read([0x1B]) == [])
        #expect(reader.flush() == [.escape])
        #expect(reader.read([0xFF, 0x41]) == [.character("\u{FFFD}"), .character("A")])
        #expect(reader.read([0xE4, 0x0D]) == [.character("\u{FFFD}"), .enter])
        #expect(
            reader.read(Array("\u{1B}\r\u{1B}OP\u{1B}[11~\u{1B}[[A\u{1B}[1;5A\u{A}".utf8)) == [
                .newline, .function(1), .function(1), .function(1), .markUp, .newline,
            ])
    }

    @Test func aPasteIsOneKey() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[200~two\rlines".utf8)) == [])
        #expect(reader.read(Array("\u{1B}[201~x".utf8)) == [.paste("two\nlines"), .character("x")])
    }

    // MARK: Editing

    @Test func aLineIsEdited() {
        var editor = LineEditor()
        for character in "hello wrold" { _ = editor.handle(.character(character)) }
        for key: Key in [.control("w"), .character("w"), .left, .right, .home, .delete, .character("H"), .end] { _ = editor.handle(key) }
        #expect(editor.text == "Hello w")
        _ = editor.handle(.control("u"))
        #expect(editor.text.isEmpty)
        _ = editor.handle(.character("e"))
        _ = editor.handle(.character("\u{301}"))
        #expect(editor.characters.count == 1 && editor.cursor == 1)
    }

    @Test func theHistoryKeepsTheUnfinishedLine() {
        var editor = LineEditor()
        editor.set("one")
        #expect(editor.take() == "one")
        editor.set("two")
        #expect(editor.take() == "two")
        editor.set("unfinished")
        _ = editor.handle(.up)
        #expect(editor.text == "two")
        _ = editor.handle(.up)
        _ = editor.handle(.up)
        #expect(editor.text == "one")
        _ = editor.handle(.down)
        _ = editor.handle(.down)
        #expect(editor.text == "unfinished")
    }

    @Test func theVisiblePartContainsTheCursor() {
        var editor = LineEditor()
        editor.set("今天天气很好")
        #expect(editor.visible(width: 20) == ("今天天气很好", 12))
        #expect(editor.visible(width: 6) == ("气很好", 6))
        _ = editor.handle(.home)
        #expect(editor.visible(width: 6) == ("今天天", 0))
    }

    @Test func severalLinesAreEdited() {
        var editor = LineEditor()
        _ = editor.handle(.paste("one\ntwo 你好\n"))
        _ = editor.handle(.character("3"))
        #expect(editor.layout(width: 20, maximumRows: 5) == (["one", "two 你好", "3"], 2, 1))
        #expect(editor.layout(width: 20, maximumRows: 2) == (["two 你好", "3"], 1, 1))
        _ = editor.handle(.up)
        #expect(editor.before == "one\nt")
        _ = editor.handle(.end)
        #expect(editor.before == "one\ntwo 你好")
        _ = editor.handle(.up)
        #expect(editor.before == "one")
        _ = editor.handle(.control("k"))
        #expect(editor.text == "one\ntwo 你好\n3")
        #expect(editor.layout(width: 4, maximumRows: 9).rows == ["one", "two", " 你", "好", "3"])
    }

    @Test func longPastesAreBounded() {
        var reader = KeyReader()
        #expect(reader.read(Array("\u{1B}[200~".utf8) + [UInt8](repeating: 0x61, count: 1_000_000)) == [])
        guard case .paste(let text)? = reader.read(Array("\u{1B}[201~".utf8)).first else { return #expect(Bool(false), "no paste") }
        #expect((1...65_536).contains(text.utf8.count))
    }

    @Test func wordsAreCompleted() {
        var editor = LineEditor()
        editor.completions = ["/recall", "/reply", "@bob", "@王伟"]
        editor.set("/re")
        #expect(editor.candidates == ["/recall", "/reply"])
        var isFound = editor.complete()
        #expect(isFound && editor.text == "/re")
        editor.set("hi @王")
        isFound = editor.complete()
        #expect(isFound && editor.text == "hi @王伟 ")
        isFound = editor.complete()
        #expect(!isFound)
    }
}
