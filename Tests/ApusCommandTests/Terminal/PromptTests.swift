import ApusChatTerminal
import Testing

@testable import apus

@Suite struct PromptTests {
    /// The bytes of a text in which `^A` stands for Ctrl-A, `^[` for ESC and `^?` for DEL.
    private func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if bytes.last == UInt8(ascii: "^") {
                bytes[bytes.count - 1] = byte == UInt8(ascii: "?") ? 0x7f : byte & 0x1f
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Types into an editor, one byte at a time.
    private func typed(_ text: String, into editor: PromptKeys = PromptKeys()) -> (editor: PromptKeys, actions: [PromptKeys.Action]) {
        var editor = editor
        let actions = self.bytes(text).flatMap { editor.receivedBytes([$0]) }
        return (editor, actions)
    }

    @Test(arguments: [
        ("hello", "hello|"),
        ("在吗？", "在吗？|"),
        ("e\u{301}a", "e\u{301}a|"),
        ("ab^?", "a|"), ("ab^H", "a|"), ("^?^?", "|"),
        ("你好^?", "你|"), ("e\u{301}^?", "|"), ("👩‍👩‍👧^?x", "x|"), ("a🇨🇳^?", "a|"),
        ("ac^[[Db", "ab|c"), ("ac^[ODb", "ab|c"), ("ac^Bb", "ab|c"),
        ("你们^[[D^?", "|们"),
        ("ab^[[D^[[D^[[D^[[Cx", "ax|b"), ("ab^[[D^[[C^[[C^Fx", "abx|"),
        ("bc^[[Ha", "a|bc"), ("bc^[[1~a", "a|bc"), ("bc^[OHa", "a|bc"), ("bc^Aa", "a|bc"),
        ("ab^A^[[Fc", "abc|"), ("ab^A^[[4~c", "abc|"), ("ab^A^Ec", "abc|"),
        ("abc^A^[[3~", "|bc"), ("abc^A^D", "|bc"), ("abc^[[3~", "abc|"),
        ("one two^U", "|"), ("one two^[[D^[[D^U", "|wo"), ("one two^A^K", "|"),
        ("one two^W", "one |"), ("one two  ^W", "one |"), ("one^W^W", "|"), ("一 二三^W", "一 |"),
        ("one two^[[1;5D!", "one !|two"), ("one two^[b^[b!", "!|one two"), ("one two^A^[f!", "one!| two"),
        ("one two^A^[[1;3C^[[1;5C!", "one two!|"),
        ("a^Ib", "a\tb|"), ("a^@^G^L^\\b", "ab|"),  // control characters are not inserted
        ("a^[[200~b^[[201~^[[38;5;1mc^[[15~d", "abcd|"),  // sequences of other keys are ignored
        ("a^[[1^?b", "b|"), ("a^[xb", "axb|"), ("a^[^[[Db", "b|a"),
    ])
    func keys(bytes: String, text: String) {
        let (editor, actions) = self.typed(bytes)
        #expect(editor.editor.before + "|" + editor.editor.after == text)
        #expect(actions.filter { $0 != .clearScreen } == [])
    }

    @Test(
        arguments: [
            ([0xff, 0x61], "\u{fffd}a"), ([0xe4, 0x61], "\u{fffd}a"), ([0xe4, 0xbd, 0x0d], "\u{fffd}"), ([0xc0, 0x80], "\u{fffd}\u{fffd}"),
            ([0xed, 0xa0, 0x80], "\u{fffd}"), ([0xf4, 0x90, 0x80, 0x80], "\u{fffd}"), ([0x80], "\u{fffd}"), ([0xc2, 0x9b], ""),
            ([0xf0, 0x9f, 0x90, 0xa6], "🐦"),
        ] as [([UInt8], String)])
    func invalidUTF8(bytes: [UInt8], text: String) {
        var editor = PromptKeys()
        let actions = editor.receivedBytes(bytes)
        #expect(actions == (bytes.last == 0x0d ? [.submit(text)] : []) && editor.editor.text == (bytes.last == 0x0d ? "" : text))
    }

    @Test func anyBytesInAnyPieces() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let bytes = (0..<200).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator) : [0x1b, 0x5b, 0x41, 0x44, 0xe4, 0xbd].randomElement() ?? 0
            }
            var whole = PromptKeys()
            var single = PromptKeys()
            let actions = whole.receivedBytes(bytes)
            #expect(actions == bytes.flatMap { single.receivedBytes([$0]) })
            #expect(
                whole.editor.text == single.editor.text
                    && whole.editor.text.unicodeScalars.allSatisfy { $0 == "\t" || $0 == "\n" || $0.value >= 0x20 })
            for columns in [0, 1, 5, 40] { _ = PromptRow(whole.editor, prompt: "鸟> ", columns: columns) }
        }
    }

    @Test func linesAreSubmitted() {
        let (editor, actions) = self.typed("one^M二^J^M^[[D^M")
        #expect(actions == [.submit("one"), .submit("二"), .submit(""), .submit("")])
        #expect(editor.editor.text == "")
    }

    @Test func theWholeLineIsSubmittedWithTheCursorInIt() {
        #expect(self.typed("abc^A^M").actions == [.submit("abc")])
    }

    @Test func controlKeysAreActions() {
        #expect(self.typed("^C").actions == [.interrupt])
        #expect(self.typed("ab^C^C").actions == [.discard("ab"), .interrupt])
        #expect(self.typed("^D").actions == [.endOfInput])
        #expect(self.typed("a^D").actions == [])
        #expect(self.typed("ab^Zc^M").actions == [.suspend, .submit("abc")])
        #expect(self.typed("ab^L").actions == [.clearScreen])
    }

    @Test func historyIsRecalled() {
        var editor = self.typed("one^Mtwo^Mtwo^M  ^Mdraft").editor
        func press(_ bytes: String) -> String {
            editor = self.typed(bytes, into: editor).editor
            return editor.editor.before + "|" + editor.editor.after
        }
        let (up, down) = ("^[[A", "^[[B")
        #expect(press(up) == "two|")
        #expect(press(up) == "one|")
        #expect(press(up) == "one|")
        #expect(press("!") == "one!|")  // a copy is edited, not the history
        #expect(press(down) == "two|")
        #expect(press(down) == "draft|")
        #expect(press(down) == "draft|")
        #expect(press(up + up) == "one|")
        #expect(self.typed("^M", into: editor).actions == [.submit("one")])
        #expect(press("^M" + up) == "one|")
        #expect(press("^C" + up) == "one|")
        #expect(press("^N^P") == "one|")
    }

    @Test func discardedLinesAreNotInTheHistory() {
        #expect(self.typed("kept^Msecret^C^[[A").editor.editor.text == "kept")
        #expect(self.typed("^[[A^[[B").editor.editor.text == "")
    }

    @Test func memoryIsBounded() {
        var editor = PromptKeys()
        #expect(editor.receivedBytes(Array(repeating: UInt8(ascii: "a"), count: 100_000)) == [])
        #expect(editor.editor.text.utf8.count == LineEditor.maximumBytes)
        #expect(editor.receivedBytes(Array("é".utf8) + [0x0d]) == [.submit(String(repeating: "a", count: LineEditor.maximumBytes))])
        for number in 0..<600 { _ = editor.receivedBytes(self.bytes("line \(number)^M")) }
        for _ in 0..<600 { _ = editor.receivedBytes(self.bytes("^[[A")) }
        #expect(editor.editor.text == "line 100")
    }

    // MARK: The row

    @Test(arguments: [
        ("hello", 20, "hello", 7),
        ("你好", 20, "你好", 6), ("你好^[[D", 20, "你好", 4), ("e\u{301}x", 20, "e\u{301}x", 4),
        ("👩‍👩‍👧a", 20, "👩‍👩‍👧a", 5), ("🇨🇳", 20, "🇨🇳", 4), ("❤️", 20, "❤️", 4), ("한글", 20, "한글", 6),
        ("a^Ib", 20, "a b", 5),
        // Twelve columns: two for the prompt, nine for the text, and an empty one.
        ("123456789", 12, "123456789", 11), ("1234567890", 12, "234567890", 11),
        ("1234567890^A", 12, "123456789", 2), ("一二三四五", 12, "二三四五", 10), ("a一二三四", 12, "a一二三四", 11),
        ("1234567890abcdef^[[D^[[D^[[D^[[D^[[D^[[D", 12, "4567890ab", 9),
    ])
    func row(bytes: String, columns: Int, text: String, cursor: Int) {
        let row = PromptRow(self.typed(bytes).editor.editor, prompt: "> ", columns: columns)
        #expect(row == PromptRow(prompt: "> ", text: text, cursor: cursor))
    }

    @Test func theRowFitsWithAnyText() {
        for columns in 4...30 {
            for prompt in ["> ", "Gruppe mit langem Namen> ", "一个名字很长的群聊> "] {
                var editor = PromptKeys()
                for character in "ab一二🐦 c三é四五六七八d" {
                    _ = editor.receivedBytes(Array(String(character).utf8))
                    for back in 0..<3 {
                        if back > 0 { _ = editor.receivedBytes([0x02]) }
                        let row = PromptRow(editor.editor, prompt: prompt, columns: columns)
                        #expect(TerminalText.width(row.prompt + row.text) < max(columns, 3))
                        #expect(row.cursor <= TerminalText.width(row.prompt + row.text))
                    }
                    _ = editor.receivedBytes([0x05])
                }
            }
        }
    }

    @Test func aLongPromptIsCut() {
        #expect(PromptRow(LineEditor(), prompt: "Swift watchers> ", columns: 21) == .init(prompt: "Swift w…> ", text: "", cursor: 10))
    }

    @Test func theScreenText() {
        let row = PromptRow(self.typed("你好^[[D").editor.editor, prompt: "> ", columns: 20) { "\u{1b}[1m\($0)\u{1b}[0m" }
        #expect(row.screenText == "\r\u{1b}[J\u{1b}[1m> \u{1b}[0m你好\r\u{1b}[4C")
        #expect(PromptRow(LineEditor(), prompt: "", columns: 20).screenText == "\r\u{1b}[J\r")
    }

    @Test(arguments: [
        ("/re", "/re"), ("/rec", "/recall "), ("/REC", "/RECall "), ("hi @bo", "hi @bob "), ("hi @王", "hi @王伟 "), ("@c", "@car"),
        ("nothing", "nothing\t"), ("", "\t"), ("/quit ", "/quit \t"),
    ])
    func tabCompletesAWord(typed: String, text: String) {
        var editor = PromptKeys()
        editor.editor.completions = ["/recall", "/reply", "@bob", "@王伟", "@carol", "@carla", "/quit"]
        _ = editor.receivedBytes((typed + "\t").utf8)
        #expect(editor.editor.text == text)
    }
}
