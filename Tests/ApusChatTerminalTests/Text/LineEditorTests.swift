import Testing

@testable import ApusChatTerminal

@Suite("Editing a line")
struct LineEditorTests {
    /// Returns an editor with a text and the cursor at `|`.
    private func editor(_ text: String) -> LineEditor {
        var editor = LineEditor()
        let parts = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        editor.set(parts.joined())
        for _ in 0..<(parts.count > 1 ? parts[1].count : 0) { _ = editor.handle(.left) }
        return editor
    }

    private func shown(_ editor: LineEditor) -> String { editor.before + "|" + editor.after }

    @Test(
        arguments: [
            (Key.character("x"), "ab|c", "abx|c"), (.character("x"), "|", "x|"), (.newline, "a|b", "a\n|b"),
            (.paste("1\n2"), "a|b", "a1\n2|b"),
            (.backspace, "ab|c", "a|c"), (.backspace, "|abc", "|abc"), (.backspace, "|", "|"), (.control("h"), "ab|", "a|"),
            (.backspace, "a👨‍👩‍👧|b", "a|b"), (.backspace, "e\u{301}|", "|"), (.backspace, "a\n|b", "a|b"),
            (.delete, "a|bc", "a|c"), (.delete, "abc|", "abc|"), (.delete, "|", "|"), (.control("d"), "|你好", "|好"),
            (.delete, "a|\nb", "a|b"),
            (.left, "ab|", "a|b"), (.left, "|ab", "|ab"), (.control("b"), "a你|", "a|你"), (.left, "🇨🇳|", "|🇨🇳"),
            (.right, "a|b", "ab|"), (.right, "ab|", "ab|"), (.control("f"), "|你a", "你|a"),
            (.home, "ab|c", "|abc"), (.home, "a\nb|c", "a\n|bc"), (.control("a"), "a\nbc|\nd", "a\n|bc\nd"), (.home, "a\n|b", "a\n|b"),
            (.end, "a|bc", "abc|"), (.end, "a|b\nc", "ab|\nc"), (.control("e"), "ab|\nc", "ab|\nc"),
            (.wordLeft, "one two|", "one |two"), (.wordLeft, "one  |two", "|one  two"), (.wordLeft, "|one", "|one"),
            (.alt("b"), "a b|c", "a |bc"),
            (.wordLeft, "one\ntwo |", "one\n|two "), (.wordLeft, "你好 世界|", "你好 |世界"),
            (.wordRight, "|one two", "one| two"), (.wordRight, "one| two", "one two|"), (.wordRight, "one|", "one|"),
            (.alt("f"), "a| b", "a b|"),
            (.control("w"), "one two|", "one |"), (.control("w"), "one two |x", "one |x"), (.control("w"), "|one", "|one"),
            (.alt("d"), "|one two", "| two"), (.alt("d"), "one| two", "one|"), (.alt("d"), "one|", "one|"),
            (.control("u"), "one two|three", "|three"), (.control("u"), "a\nb c|d", "a\n|d"), (.control("u"), "|a", "|a"),
            (.control("k"), "one| two", "one|"), (.control("k"), "a|b\nc", "a|\nc"), (.control("k"), "a|\nc", "a|\nc"),
            (.control("k"), "a|", "a|"),
            (.up, "one\ntw|o", "on|e\ntwo"), (.up, "a\nlonger|", "a|\nlonger"), (.up, "a\n\nb|", "a\n|\nb"),
            (.down, "on|e\ntwo", "one\ntw|o"),
            (.down, "longer|\na", "longer\na|"), (.down, "|a\n\nb", "a\n|\nb"), (.down, "one|\n你好世界", "one\n你好世|界"),
        ] as [(Key, String, String)])
    func aKeyEdits(key: Key, before: String, after: String) {
        var editor = self.editor(before)
        let isHandled = editor.handle(key)
        #expect(isHandled)
        #expect(self.shown(editor) == after)
    }

    @Test(arguments: [
        Key.enter, .tab, .backTab, .escape, .pageUp, .pageDown, .markUp, .markDown, .function(1), .control("c"), .control("l"), .alt("x"),
    ])
    func otherKeysAreNotTheEditors(key: Key) {
        var editor = self.editor("a|b")
        let isHandled = editor.handle(key)
        #expect(!isHandled && self.shown(editor) == "a|b")
    }

    @Test(arguments: [
        ("a\u{1B}[2Jb", "a[2Jb"), ("\u{7}\u{0}", ""), ("a\u{9B}b", "ab"), ("a\u{7F}", "a"), ("a\tb\nc", "a\tb\nc"), ("a\rb", "ab"),
    ])
    func controlsAreNotInserted(pasted: String, text: String) {
        var editor = LineEditor()
        _ = editor.handle(.paste(pasted))
        #expect(editor.text == text && editor.cursor == editor.characters.count)
    }

    @Test func typedScalarsJoinLikeOnThePage() {
        var editor = LineEditor()
        for scalar in "👨‍👩‍👧".unicodeScalars { _ = editor.handle(.character(Character(scalar))) }
        #expect(editor.characters == ["👨‍👩‍👧"] && editor.cursor == 1)
        _ = editor.handle(.backspace)
        for scalar in "🇨🇳".unicodeScalars { _ = editor.handle(.character(Character(scalar))) }
        #expect(editor.characters == ["🇨🇳"])
        _ = editor.handle(.home)
        _ = editor.handle(.character("\u{301}"))
        #expect(editor.text.unicodeScalars.elementsEqual("\u{301}🇨🇳".unicodeScalars))
    }

    // MARK: The limit

    @Test(arguments: ["a", "é", "你", "👍"])
    func theLengthIsBoundedInBytes(unit: String) {
        var editor = LineEditor()
        _ = editor.handle(.paste(String(repeating: unit, count: LineEditor.maximumBytes)))
        let bytes = editor.text.utf8.count
        #expect(bytes <= LineEditor.maximumBytes && bytes > LineEditor.maximumBytes - unit.utf8.count)
        _ = editor.handle(.character("你"))
        #expect(editor.text.utf8.count <= LineEditor.maximumBytes)
        // The space of removed characters can be used again.
        for _ in 0..<4 { _ = editor.handle(.backspace) }
        _ = editor.handle(.character("y"))
        #expect(editor.characters.last == "y")
        _ = editor.handle(.control("u"))
        #expect(editor.isEmpty)
        _ = editor.handle(.paste(String(repeating: unit, count: LineEditor.maximumBytes)))
        #expect(editor.text.utf8.count == bytes)
    }

    @Test func removedAccentsGiveTheirBytesBack() {
        var editor = LineEditor()
        for _ in 0..<2_000 {
            _ = editor.handle(.paste("e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}"))
            _ = editor.handle(.backspace)
        }
        #expect(editor.isEmpty)
        _ = editor.handle(.paste(String(repeating: "a", count: LineEditor.maximumBytes)))
        #expect(editor.characters.count == LineEditor.maximumBytes)
    }

    // MARK: The history

    @Test func theHistoryHasNoRepetitionsAndNoBlanks() {
        var editor = LineEditor()
        for text in ["a", "a", "", "  ", "\n", "b", "a"] {
            editor.set(text)
            #expect(editor.take() == text && editor.isEmpty)
        }
        editor.set("secret")
        #expect(editor.take(remembers: false) == "secret")
        var shown: [String] = []
        for _ in 0..<5 {
            _ = editor.handle(.control("p"))
            shown.append(editor.text)
        }
        #expect(shown == ["a", "b", "a", "a", "a"])
        for _ in 0..<5 { _ = editor.handle(.control("n")) }
        #expect(editor.isEmpty)
    }

    @Test func theHistoryIsBounded() {
        var editor = LineEditor()
        for number in 0..<(LineEditor.maximumHistory + 20) {
            editor.set("line \(number)")
            _ = editor.take()
        }
        for _ in 0..<(LineEditor.maximumHistory + 50) { _ = editor.handle(.up) }
        #expect(editor.text == "line 20")
    }

    @Test func arrowsMoveInSeveralLinesBeforeTheyRecall() {
        var editor = LineEditor()
        editor.set("first")
        _ = editor.take()
        editor.set("one\ntwo")
        _ = editor.handle(.up)
        #expect(self.shown(editor) == "one|\ntwo")
        _ = editor.handle(.up)
        #expect(editor.text == "first")
        _ = editor.handle(.down)
        #expect(editor.text == "one\ntwo")
    }

    @Test func aChangedEntryIsANewOne() {
        var editor = LineEditor()
        for text in ["one", "two"] {
            editor.set(text)
            _ = editor.take()
        }
        _ = editor.handle(.up)
        _ = editor.handle(.character("!"))
        #expect(editor.take() == "two!")
        var shown: [String] = []
        for _ in 0..<3 {
            _ = editor.handle(.up)
            shown.append(editor.text)
        }
        #expect(shown == ["two!", "two", "one"])
    }

    // MARK: Completion

    @Test(arguments: [
        ("/he|", "/help |", true), ("/HE|", "/HElp |", true), ("/|", "/|", true), ("say @b|", "say @bob|", true),
        ("@ali|", "@alice |", true), ("ali|ce", "ali|ce", false), ("|", "|", false), ("   |", "   |", false),
        ("/nothing|", "/nothing|", false), ("@王|", "@王|", true), ("@王小|", "@王小明 |", true), ("a\n@王大|", "a\n@王大力 |", true),
    ])
    func aWordIsCompleted(before: String, after: String, matches: Bool) {
        var editor = self.editor(before)
        editor.completions = ["/help", "/history", "/open", "@bob", "@bobby", "@alice", "@王小明", "@王大力"]
        let isFound = editor.complete()
        #expect(self.shown(editor) == after && isFound == matches)
    }

    @Test(arguments: [
        ("/open pro|", "/open project Swift 项目组 |", true), ("/open Project s|", "/open Project swift 项目组 |", true),
        ("/forward #3 the |", "/forward #3 the T|", true), ("/open the times|", "/open the times |", true),
        ("/open swift|", "/open swift|", false), ("/file Project a|", "/file Project alice |", true), ("pro|", "pro|", false),
        ("all of the |", "all of the |", false), ("/add @a|", "/add @alice |", true),
    ])
    func aTitleWithSpacesIsCompletedInACommand(before: String, after: String, matches: Bool) {
        var editor = self.editor(before)
        editor.completions = ["/open", "/forward", "Project Swift 项目组", "The Team", "The Times", "@alice", "alice"]
        let isFound = editor.complete()
        #expect(self.shown(editor) == after && isFound == matches)
    }

    @Test(arguments: [
        ("/h|", ["/help", "/history"]), ("/|", ["/help", "/history"]), ("/he|", []), ("h|", []), ("@|", ["@bob", "@bobby"]),
        ("@BOB|", ["@bob", "@bobby"]), ("x @b|", ["@bob", "@bobby"]), ("|/h", []),
    ])
    func severalWordsAreListed(text: String, candidates: [String]) {
        var editor = self.editor(text)
        editor.completions = ["/history", "/help", "@bobby", "@bob", "@bob"]
        #expect(editor.candidates == candidates)
    }

    @Test func aWordThatDiffersInCaseAddsNothingWrong() {
        var editor = self.editor("bo|")
        editor.completions = ["Bob", "bobby"]
        let isFound = editor.complete()
        #expect(isFound && editor.text == "bo")
    }

    // MARK: Rows

    @Test(
        arguments: [
            ("|", 10, 5, [""], 0, 0), ("abc|", 10, 5, ["abc"], 0, 3), ("abcdefghij|", 6, 5, ["abcde", "fghij"], 1, 5),
            ("abcde|fghij", 6, 5, ["abcde", "fghij"], 1, 0), ("|abcdefghij", 6, 5, ["abcde", "fghij"], 0, 0),
            ("a\n|", 6, 5, ["a", ""], 1, 0), ("\n\n|\n", 6, 5, ["", "", "", ""], 2, 0), ("你好世|界", 6, 5, ["你好", "世界"], 1, 2),
            ("a\tb|", 10, 5, ["a b"], 0, 3), ("1\n2\n3|\n4\n5", 6, 2, ["2", "3"], 1, 1), ("|1\n2\n3", 6, 2, ["1", "2"], 0, 0),
            ("1\n2\n3|", 6, 1, ["3"], 0, 1), ("1\n2\n3|", 6, 0, ["3"], 0, 1), ("ab|", 0, 5, ["ab"], 0, 2),
            ("abcd|", 1, 5, ["ab", "cd"], 1, 2),
            ("👨‍👩‍👧👨‍👩‍👧|", 4, 5, ["👨‍👩‍👧", "👨‍👩‍👧"], 1, 2),
        ] as [(String, Int, Int, [String], Int, Int)])
    func rowsHaveTheCursor(text: String, width: Int, maximum: Int, rows: [String], row: Int, column: Int) {
        let layout = self.editor(text).layout(width: width, maximumRows: maximum)
        #expect(layout.rows == rows)
        #expect(layout.row == row && layout.column == column)
    }

    @Test(arguments: [
        ("abc|", 0, "", 0), ("abc|", -5, "", 0), ("abc|", 2, "bc", 2), ("|abc", 2, "ab", 0), ("ab|cd", 3, "abc", 2), ("a\nb|", 5, "a⏎b", 3),
        ("你好|世界", 4, "好世", 2), ("你|好", 3, "你", 2), ("a\tb|", 5, "a b", 3),
    ])
    func oneRowShowsTheTextAroundTheCursor(text: String, width: Int, shown: String, cursor: Int) {
        let visible = self.editor(text).visible(width: width)
        #expect(visible.text == shown && visible.cursor == cursor)
    }

    @Test(arguments: 0..<60)
    func anyKeysKeepTheEditorSound(seed: Int) {
        var generator = SeededGenerator(seed)
        var editor = LineEditor()
        editor.completions = ["/help", "@bob", "你好"]
        let keys: [Key] = [
            .backspace, .delete, .left, .right, .home, .end, .wordLeft, .wordRight, .up, .down, .newline, .control("w"), .control("u"),
            .control("k"), .alt("d"), .control("p"), .control("n"),
        ]
        for _ in 0..<120 {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: _ = editor.handle(.paste(generator.text(0...8)))
            case 1: _ = editor.handle(.character(generator.pick(["a", "你", "\u{301}", "👍", " "])))
            case 2 where Int.random(in: 0..<6, using: &generator) == 0: _ = editor.take()
            case 3: _ = editor.complete()
            default: _ = editor.handle(generator.pick(keys))
            }
            #expect((0...editor.characters.count).contains(editor.cursor))
            #expect(editor.text.utf8.count <= LineEditor.maximumBytes)
            let width = Int.random(in: 0...30, using: &generator)
            let maximum = Int.random(in: 0...6, using: &generator)
            let layout = editor.layout(width: width, maximumRows: maximum)
            #expect((1...max(1, maximum)).contains(layout.rows.count) && layout.rows.indices.contains(layout.row))
            #expect((0...max(3, width)).contains(layout.column))
            let visible = editor.visible(width: width)
            #expect((0...width).contains(visible.cursor) && TerminalText.width(visible.text) <= width)
        }
    }
}
