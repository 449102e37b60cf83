import Testing

@testable import ApusChatTerminal

/// The output of frames, which a virtual terminal performs.
@Suite("Frames of the screen")
struct ScreenFrameTests {
    private func frame(_ rows: [String], cursor: (row: Int, column: Int)? = nil) -> ScreenFrame {
        ScreenFrame(rows: rows.map { [ScreenSpan($0)] }, cursor: cursor)
    }

    @Test func aTerminalShowsTheFrame() {
        let rows = ["abc   ", "你好  ", "👍é   "]
        var terminal = VirtualTerminal(width: 6, height: 3)
        terminal.write(self.frame(rows, cursor: (1, 4)).output(after: nil))
        #expect(terminal.text == rows)
        #expect(terminal.cursor.map { $0 == (1, 4) } == true)
        #expect(terminal.unknown.isEmpty && !terminal.isUpdating)
    }

    @Test func theCursorIsHiddenWithoutAPlace() {
        var terminal = VirtualTerminal(width: 3, height: 1)
        terminal.write(self.frame(["abc"], cursor: (0, 2)).output(after: nil))
        #expect(terminal.cursor != nil)
        terminal.write(self.frame(["abc"]).output(after: self.frame(["abc"], cursor: (0, 2))))
        #expect(terminal.cursor == nil)
    }

    @Test(arguments: [
        (["abc", "def"], ["abc", "xyz"]), (["你好", "abcd"], ["abcd", "你好"]), (["👍👍", "   "], ["ab  ", "👍  "]), (["a   "], ["你a "]),
    ])
    func changedRowsReplaceTheOldOnes(before: [String], after: [String]) {
        let width = before.map { TerminalText.width($0) }.max() ?? 0
        let (old, new) = (
            self.frame(before.map { TerminalText.padded($0, to: width) }), self.frame(after.map { TerminalText.padded($0, to: width) })
        )
        var terminal = VirtualTerminal(width: width, height: before.count)
        terminal.write(old.output(after: nil))
        terminal.write(new.output(after: old))
        #expect(terminal.text == new.text && terminal.unknown.isEmpty)
    }

    @Test func anUnchangedFrameWritesNoRow() {
        let frame = self.frame(["abc", "你好 "], cursor: (0, 0))
        #expect(frame.output(after: frame) == "\u{1B}[?2026h\u{1B}[?25l\u{1B}[1;1H\u{1B}[?25h\u{1B}[?2026l")
    }

    @Test func anotherHeightDrawsEverything() {
        let (old, new) = (self.frame(["aa", "bb", "cc"]), self.frame(["aa", "bb"]))
        var terminal = VirtualTerminal(width: 2, height: 3)
        terminal.write(old.output(after: nil))
        terminal.write(new.output(after: old))
        #expect(terminal.text == ["aa", "bb", "  "])
    }

    @Test(arguments: [
        (ScreenStyle.normal, "0", "0"), (.bold, "0;1", "0;1"), (.dim, "0;2", "0;2"), (.reverse, "0;7", "0;7"), (.accent, "0;36", "0"),
        (.warning, "0;31", "0"), (.good, "0;32", "0"), (.notice, "0;33", "0"), (ScreenStyle(colour: .blue, isBold: true), "0;1;34", "0;1"),
        (ScreenStyle(colour: .magenta, isDim: true, isReverse: true), "0;2;7;35", "0;2;7"),
    ])
    func stylesAreSequences(style: ScreenStyle, code: String, plain: String) {
        let frame = ScreenFrame(rows: [[ScreenSpan("ab", style), ScreenSpan("c")]])
        for (hasColour, expected) in [(true, code), (false, plain)] {
            var terminal = VirtualTerminal(width: 3, height: 1)
            terminal.write(frame.output(after: nil, hasColour: hasColour))
            #expect(terminal.styles(row: 0) == [expected, expected, "0"])
        }
    }

    @Test func allAttributesAreWritten() {
        var style = ScreenStyle(colour: .green, isBold: true, isDim: true, isReverse: true)
        (style.isItalic, style.isUnderlined, style.isStruck) = (true, true, true)
        #expect(style.code(hasColour: true) == "\u{1B}[0;1;2;3;4;7;9;32m")
    }

    /// The column after an emoji is set, because a terminal may use another width than this
    /// program.
    @Test func textAfterAnEmojiIsPositioned() {
        let frame = ScreenFrame(rows: [[ScreenSpan("👨‍👩‍👧"), ScreenSpan("│"), ScreenSpan("x")]])
        let output = frame.output(after: nil)
        #expect(output.contains("👨‍👩‍👧\u{1B}[3G") && !output.contains("\u{1B}[2G"))
        // The width of "│" also depends on the terminal.
        #expect(output.contains("\u{1B}[4G"))
    }

    @Test(arguments: 0..<16)
    func anyKeysAndSizesAreDrawnByTheirChanges(seed: Int) {
        var generator = SeededGenerator(seed)
        let (width, height) = generator.pick([(80, 24), (120, 30), (70, 12), (40, 10), (24, 6)])
        var screen = ChatScreen(width: width, height: height)
        var terminal = VirtualTerminal(width: width, height: height)
        var old: ScreenFrame?
        screen.conversations = (0..<30).map {
            ScreenConversation(
                id: "\($0)", title: TerminalText.plain(generator.text(1...12)), preview: generator.text(0...9), unread: Int64($0 % 4),
                isMuted: $0 % 5 == 0
            )
        }
        var number: Int64 = 0
        for _ in 0..<60 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                number += 1
                screen.messages.append(
                    ScreenMessage(
                        id: "\(number)", seq: number, sender: generator.pick(["bob", "王小明", "👍"]), day: generator.pick(["Mon", "Tue"]),
                        time: "10:00",
                        paragraphs: [[ScreenSpan(generator.text(0...30))], [ScreenSpan(generator.text(0...6), .accent)]], source: "source",
                        isOwn: Bool.random(using: &generator), mark: generator.pick([.none, .sent, .read, .failed("full")]),
                        isNotice: Int.random(in: 0..<8, using: &generator) == 0,
                        isFirstUnread: Int.random(in: 0..<20, using: &generator) == 0))
            case 1: screen.show("\(Int.random(in: 0..<30, using: &generator))")
            default:
                _ = screen.handle(
                    generator.pick([
                        .up, .down, .pageUp, .pageDown, .enter, .escape, .tab, .markUp, .function(1), .character("a"), .character("你"),
                        .newline,
                        .backspace, .home, .end, .character("?"), .paste("👍 pasted\ntext"), .control("c"), .backTab, .character("n"),
                    ]))
            }
            let frame = screen.frame()
            terminal.write(frame.output(after: old))
            old = frame
            #expect(terminal.unknown.isEmpty && !terminal.isUpdating)
            for (shown, text) in zip(terminal.text, frame.text) {
                #expect(shown.unicodeScalars.elementsEqual(text.unicodeScalars), "\(shown) is not \(text)")
            }
            if let cursor = frame.cursor { #expect(terminal.cursor.map { $0 == cursor } == true) } else { #expect(terminal.cursor == nil) }
        }
    }
}
