import Testing

@testable import ApusChatTerminal

/// The rows of messages: what is drawn again after a change, and which rows are on the screen.
@Suite("Rows of the screen")
struct ScreenRowTests {
    private static func message(_ number: Int64, _ text: String? = nil, sender: String = "bob", day: String = "Mon") -> ScreenMessage {
        ScreenMessage(
            id: "\(number)", seq: number, sender: sender, day: day, time: "10:00", paragraphs: [[ScreenSpan(text ?? "text \(number).")]])
    }

    private func screen(_ count: Int64 = 30, width: Int = 60, height: Int = 12) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.messages = (0..<count).map { Self.message($0 + 1) }
        screen.show("a")
        return screen
    }

    /// The numbers of the messages on the screen, from the top.
    private func shown(_ screen: inout ChatScreen) -> [Int64] {
        screen.frame().text.compactMap { row in
            row.split(separator: "text ").dropFirst().first.flatMap { Int64($0.prefix { $0 != "." }) }
        }
    }

    // MARK: The cache of rows

    @Test func cachedRowsAreThoseOfTheSameMessageAndPlace() {
        var cache = RowCache()
        let (message, rows) = (Self.message(1), [[ScreenSpan("row")]])
        cache.set(rows, of: message, width: 40, isHeaded: true)
        #expect(cache.rows(of: message, width: 40, isHeaded: true) == rows)
        #expect(cache.rows(of: message, width: 41, isHeaded: true) == nil)
        #expect(cache.rows(of: message, width: 40, isHeaded: false) == nil)
        #expect(cache.rows(of: Self.message(2), width: 40, isHeaded: true) == nil)
        #expect(cache.rows(of: Self.message(1, "changed"), width: 40, isHeaded: true) == nil)
        var marked = message
        marked.mark = .read
        #expect(cache.rows(of: marked, width: 40, isHeaded: true) == nil)
    }

    @Test func theCacheIsBounded() {
        var cache = RowCache()
        for number in 1...2_001 as ClosedRange<Int64> { cache.set([], of: Self.message(number), width: 9, isHeaded: true) }
        #expect(cache.rows(of: Self.message(1), width: 9, isHeaded: true) != nil)
        for number in 2_002...2_003 as ClosedRange<Int64> { cache.set([], of: Self.message(number), width: 9, isHeaded: true) }
        #expect(cache.rows(of: Self.message(1), width: 9, isHeaded: true) == nil)
        #expect(cache.rows(of: Self.message(2_003), width: 9, isHeaded: true) != nil)
    }

    private static let changes: [(name: String, change: @Sendable (inout ScreenMessage) -> Void, shown: String)] = [
        ("text", { $0.paragraphs = [[ScreenSpan("other words")]] }, "other words"), ("mark", { $0.mark = .delivered }, "✓✓"),
        ("failure", { $0.mark = .failed("no disk") }, "not sent: no disk"), ("time", { $0.time = "11:11" }, "11:11"),
        ("sender", { $0.sender = "carol" }, "carol"), ("day", { $0.day = "Tue" }, " Tue "),
        ("unread", { $0.isFirstUnread = true }, "unread messages"),
    ]

    /// A message that changes on the screen is drawn as if it had been so from the beginning.
    @Test(arguments: Self.changes.indices) func aChangedMessageIsDrawnAgain(index: Int) {
        let change = Self.changes[index]
        var screen = self.screen(4)
        let before = screen.frame().text
        #expect(!before.joined().contains(change.shown))
        change.change(&screen.messages[2])
        var fresh = self.screen(4)
        change.change(&fresh.messages[2])
        #expect(screen.frame() == fresh.frame(), "\(change.name)")
        #expect(screen.frame().text.joined().contains(change.shown), "\(change.name)")
        screen.messages[2] = Self.message(3)
        #expect(screen.frame().text == before, "\(change.name)")
    }

    /// The name stands once for messages in a row, and again when the message before is removed.
    @Test func theNameStandsOnce() {
        var screen = self.screen(0)
        screen.messages = [Self.message(1), Self.message(2), Self.message(3, sender: "carol"), Self.message(4)]
        func names() -> [Bool] {
            screen.frame().text.filter { $0.contains("text ") }.map { $0.contains("bob") || $0.contains("carol") }
        }
        #expect(names() == [true, false, true, true])
        screen.messages.remove(at: 2)
        #expect(names() == [true, false, false])
        screen.messages[1].isNotice = true
        #expect(names() == [true, false, true], "a notice has no column for the name")
    }

    /// The mark of the selection is not part of the cached rows.
    @Test func theMarkOfTheSelectionMoves() {
        var screen = self.screen(4)
        func marks() -> [Int64] {
            screen.frame().text.compactMap { row in
                row.contains("▌") ? row.split(separator: "text ").last.flatMap { Int64($0.prefix { $0 != "." }) } : nil
            }
        }
        #expect(marks() == [])
        screen.mark("2")
        #expect(marks() == [2])
        screen.mark("4")
        #expect(marks() == [4])
        screen.followEnd()
        #expect(marks() == [])
    }

    // MARK: The rows on the screen

    @Test func aPageUpAndAPageDownReturn() {
        var screen = self.screen(60)
        let end = self.shown(&screen)
        #expect(end.last == 60 && end == Array((end.first ?? 0)...60))
        for _ in 0..<2 { _ = screen.handle(.pageUp) }
        let middle = self.shown(&screen)
        #expect(middle.count == end.count && middle.last.map { $0 < 60 } == true)
        // A page keeps one row of the one before.
        _ = screen.handle(.pageUp)
        #expect(self.shown(&screen).last == middle.first)
        for _ in 0..<3 { _ = screen.handle(.pageDown) }
        #expect(self.shown(&screen) == end)
    }

    /// New messages do not move the rows of a user that reads earlier ones, and are shown to one
    /// that reads the end.
    @Test(arguments: [true, false]) func newMessagesAppearAtTheEnd(isScrolled: Bool) {
        var screen = self.screen()
        if isScrolled { _ = screen.handle(.pageUp) }
        let before = self.shown(&screen)
        screen.messages.append(Self.message(31))
        #expect(self.shown(&screen) == (isScrolled ? before : Array(before.dropFirst()) + [31]))
        screen.messages.insert(Self.message(0), at: 0)
        #expect(self.shown(&screen).last == (isScrolled ? before.last : 31))
    }

    /// If the message at the bottom is removed, the screen shows the end.
    @Test func aRemovedPlaceIsTheEnd() {
        var screen = self.screen()
        _ = screen.handle(.pageUp)
        let last = self.shown(&screen).last ?? 0
        screen.messages.removeAll { $0.seq == last }
        #expect(self.shown(&screen).last == 30)
    }

    /// With later messages that are not loaded, the last row is a place like any other.
    @Test func theEndOfALoadedPartIsAPlace() {
        var screen = self.screen()
        screen.hasLater = true
        _ = screen.handle(.pageUp)
        #expect(screen.handle(.pageDown) == [.loadLater])
        let before = self.shown(&screen)
        #expect(before.last == 30 && screen.bottom != nil)
        screen.messages += (31...40).map { Self.message($0) }
        #expect(self.shown(&screen) == before, "the loaded messages are below")
        screen.hasLater = false
        _ = screen.handle(.pageDown)
        _ = screen.handle(.pageDown)
        #expect(self.shown(&screen).last == 40 && screen.bottom == nil)
    }

    @Test(arguments: [(0, nil), (1, 0), (3, 2), (30, 29)] as [(Int64, Int?)])
    func theLastVisibleMessageIsKnown(count: Int64, last: Int?) {
        var screen = self.screen(count)
        _ = screen.frame()
        #expect(screen.lastVisible == last)
        // Behind a panel no message is read.
        _ = screen.handle(.function(1))
        _ = screen.frame()
        #expect(screen.lastVisible == nil)
    }

    /// A message whose end is below the screen was not read.
    @Test func aMessageIsVisibleWithItsLastRow() {
        var screen = self.screen(1, height: 8)
        screen.messages.append(Self.message(2, String(repeating: "word ", count: 100)))
        _ = screen.frame()
        #expect(screen.lastVisible == 1)
        _ = screen.handle(.pageUp)
        _ = screen.frame()
        #expect(screen.lastVisible == nil)
        for _ in 0..<20 { _ = screen.handle(.pageUp) }
        _ = screen.frame()
        #expect(screen.lastVisible == 0)
    }

    // MARK: The status line

    /// A notice that is as wide as its place is shown completely, and a wider one is cut.
    @Test(arguments: [20, 40, 69, 70, 132], ["", "online", "离线"]) func aNoticeHasItsPlace(width: Int, connection: String) {
        var screen = self.screen(3, width: width)
        screen.connection = connection
        let room = screen.noticeWidth
        #expect(room > 0)
        func status() -> String { screen.frame().text.first { $0.hasSuffix((connection.isEmpty ? "F1 help" : connection) + " ") } ?? "" }
        screen.notice = String(repeating: "x", count: room)
        #expect(status().contains(screen.notice) && !status().contains("…") && TerminalText.width(status()) == width)
        screen.notice += "x"
        #expect(status().contains("x…") && TerminalText.width(status()) == width)
    }

    // MARK: Panels

    private func panel(_ commands: [String?]) -> ScreenPanel {
        ScreenPanel(title: "P", lines: commands.map { ScreenPanel.Line($0 ?? "text", command: $0) })
    }

    @Test(
        arguments: [
            ([nil, "a", nil, "b", "c"], 1, [1, -1, -1, 1, 1, 1, 9, -9], [3, 1, 1, 3, 4, 4, 4, 1]), (["a"], 0, [1, -1, 5], [0, 0, 0]),
        ] as [([String?], Int, [Int], [Int])])
    func theSelectionOfAPanelMovesAmongItsCommands(commands: [String?], first: Int, steps: [Int], places: [Int]) {
        var panel = self.panel(commands)
        #expect(panel.selected == first)
        var found: [Int] = []
        for step in steps {
            panel.move(by: step)
            found.append(panel.selected ?? -1)
        }
        #expect(found == places)
    }

    @Test func aPanelWithoutCommandsIsScrolledWithinItsLines() {
        var panel = self.panel([nil, nil, nil])
        #expect(panel.selected == nil)
        var found: [Int] = []
        for step in [-1, 1, 1, 1, 9, -1, -9] {
            panel.move(by: step)
            found.append(panel.first)
        }
        #expect(found == [0, 1, 2, 2, 2, 1, 0])
        var empty = self.panel([])
        empty.move(by: 5)
        empty.move(by: -5)
        #expect(empty.first == 0 && empty.selected == nil)
    }

    // MARK: Styles

    @Test func anAttributeIsItsCode() {
        var style = ScreenStyle()
        #expect(style.code(hasColour: true) == "\u{1B}[0m")
        let attributes: [(WritableKeyPath<ScreenStyle, Bool>, String)] = [
            (\.isBold, "1"), (\.isDim, "2"), (\.isItalic, "3"), (\.isUnderlined, "4"), (\.isReverse, "7"), (\.isStruck, "9"),
        ]
        for (attribute, code) in attributes {
            style[keyPath: attribute] = true
            #expect(style.code(hasColour: true) == "\u{1B}[0;\(code)m")
            style[keyPath: attribute] = false
        }
        for (colour, code) in [(ScreenStyle.Colour.red, 31), (.green, 32), (.yellow, 33), (.blue, 34), (.magenta, 35), (.cyan, 36)] {
            style.colour = colour
            #expect(style.code(hasColour: true) == "\u{1B}[0;\(code)m" && style.code(hasColour: false) == "\u{1B}[0m")
        }
    }

    /// Spans are wrapped as the text that they make, and keep their styles.
    @Test(arguments: [2, 3, 5, 9, 40]) func spansAreWrappedLikeTheirText(width: Int) {
        let spans = [ScreenSpan("bold wo", .bold), ScreenSpan("rds and 你好", .dim), ScreenSpan(""), ScreenSpan(" e\u{301}nd", .good)]
        let lines = ScreenSpan.wrapped(spans, to: width)
        let text = spans.map(\.text).joined()
        #expect(lines.map { $0.map(\.text).joined() } == TerminalText.wrapped(text, to: width))
        let styled = lines.joined().flatMap { span in span.text.filter { $0 != " " }.map { (String($0), span.style) } }
        let expected = spans.flatMap { span in span.text.filter { $0 != " " }.map { (String($0), span.style) } }
        #expect(styled.map { $0.0 } == expected.map { $0.0 } && styled.map { $0.1 } == expected.map { $0.1 })
        #expect(lines.allSatisfy { line in zip(line, line.dropFirst()).allSatisfy { $0.style != $1.style } }, "no span is split")
    }
}
