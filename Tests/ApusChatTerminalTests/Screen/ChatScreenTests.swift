import Testing

@testable import ApusChatTerminal

@Suite("Screen")
struct ChatScreenTests {
    private static let sizes = [(80, 24), (160, 50), (70, 10), (69, 10), (40, 12), (20, 5), (5, 3), (2, 2), (1, 1)]

    private func message(_ number: Int, _ text: String = "消息", sender: String = "bob", isOwn: Bool = false) -> ScreenMessage {
        ScreenMessage(
            id: String(number), seq: Int64(number), sender: sender, day: "Tue 2026-11-24", time: "10:30",
            paragraphs: [[ScreenSpan("\(text) number \(number) 👍")]], source: text, isOwn: isOwn)
    }

    private func screen(_ width: Int = 80, _ height: Int = 24) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = [
            ScreenConversation(id: "a", title: "北京的朋友们 👨‍👩‍👧🇨🇳❤️", preview: "在吗", unread: 12, mentions: 1, isPinned: true),
            ScreenConversation(id: "b", title: "Bob", isMuted: true, isOnline: true, hasDraft: true),
        ]
        screen.messages = (1...40).map { self.message($0) }
        screen.connection = "online"
        return screen
    }

    private func type(_ text: String, into screen: inout ChatScreen) {
        for character in text { _ = screen.handle(.character(character)) }
    }

    @Test(arguments: Self.sizes)
    func everyRowFillsTheWidth(width: Int, height: Int) {
        var screen = self.screen(width, height)
        let keys: [Key] = [
            .enter, .character("你"), .newline, .pageUp, .markUp, .up, .escape, .function(1), .down, .pageDown, .escape, .escape,
        ]
        for key in keys {
            for action in screen.handle(key) { if case .open(let id) = action { screen.show(id) } }
            let frame = screen.frame()
            #expect(frame.rows.count == height)
            for row in frame.text where width >= 20 { #expect(TerminalText.width(row) == width, "\(key): \(row)") }
            if let cursor = frame.cursor { #expect(cursor.row < height && cursor.column < width) }
        }
    }

    @Test(arguments: [(false, false, ""), (true, false, " z"), (false, true, " z@"), (true, true, " z")])
    func theListMarksConversationsWithFewerNotifications(isMuted: Bool, notifiesMentionsOnly: Bool, mark: String) {
        var screen = self.screen()
        screen.conversations = [ScreenConversation(id: "b", title: "Bob", isMuted: isMuted, notifiesMentionsOnly: notifiesMentionsOnly)]
        #expect(screen.frame().text.contains { $0.hasPrefix("  Bob\(mark)  ") })
    }

    @Test func aConversationIsChosenAndWrittenTo() {
        var screen = self.screen()
        #expect(screen.handle(.down).isEmpty)
        #expect(screen.handle(.down).isEmpty)
        #expect(screen.handle(.enter) == [.open(conversation: "b")])
        screen.show("b")
        #expect(screen.focus == .input)
        #expect(screen.handle(.character("h")) == [.typing])
        #expect(screen.handle(.enter) == [.submit("h")])
        #expect(screen.handle(.enter).isEmpty)
        #expect(screen.handle(.character("/")).isEmpty)  // a command is not typing
        #expect(screen.handle(.control("c")).isEmpty && screen.editor.isEmpty)
        #expect(screen.handle(.escape).isEmpty && screen.focus == .list)
        #expect(screen.handle(.tab).isEmpty && screen.focus == .input)
        #expect(screen.handle(.control("c")) == [.quit])
    }

    @Test func theListSkipsToUnreadConversations() {
        var screen = self.screen()
        _ = screen.handle(.end)
        #expect(screen.selected == "b")
        _ = screen.handle(.character("n"))
        #expect(screen.selected == "a")
    }

    @Test func theEndOfTheThreadIsShownUntilTheUserScrolls() {
        var screen = self.screen()
        screen.messages = (1...80).map { self.message($0) }
        screen.hasEarlier = true
        screen.show("a")
        #expect(screen.frame().text.contains { $0.contains("number 80") })
        #expect(screen.handle(.pageUp).isEmpty)
        #expect(!screen.frame().text.contains { $0.contains("number 80") })
        var actions: [ScreenAction] = []
        for _ in 0..<10 { actions += screen.handle(.pageUp) }
        #expect(actions.contains(.loadEarlier))
        #expect(screen.frame().text.contains { $0.contains("number 1 ") })
        for _ in 0..<10 { _ = screen.handle(.pageDown) }
        #expect(screen.frame().text.contains { $0.contains("number 80") })
    }

    @Test func aScrolledScreenStaysWhereItIs() {
        var screen = self.screen()
        screen.show("a")
        _ = screen.handle(.pageUp)
        let before = screen.frame().text[5]
        screen.messages.append(self.message(41))
        screen.messages.insert(self.message(0), at: 0)
        #expect(screen.frame().text[5] == before)
        #expect(screen.handle(.escape) == [.toEnd])
        #expect(screen.frame().text.contains { $0.contains("number 41") })
    }

    @Test func theFirstUnreadMessageIsAtTheTop() {
        var screen = self.screen()
        screen.messages[9].isFirstUnread = true
        screen.show("a")
        screen.showFirstUnread()
        let text = screen.frame().text
        #expect(text[2].contains("unread messages") && text[3].contains("number 10 "))
        #expect(screen.lastVisible.map { $0 < 39 } == true)
        // With few unread messages the end is shown.
        screen = self.screen()
        screen.messages[38].isFirstUnread = true
        screen.show("a")
        screen.showFirstUnread()
        #expect(screen.frame().text.contains { $0.contains("number 40") })
        #expect(screen.lastVisible == 39)
    }

    @Test func aMessageIsSelectedForACommand() {
        var screen = self.screen()
        screen.messages[39].isOwn = true
        screen.show("a")
        _ = screen.handle(.up)
        #expect(screen.markedSeq == 40)
        _ = screen.handle(.character("e"))
        #expect(screen.editor.text == "/edit #40 消息" && screen.focus == .input)
        _ = screen.handle(.control("c"))
        #expect(screen.editor.isEmpty && screen.markedSeq == nil)
        _ = screen.handle(.markUp)
        for _ in 0..<30 { _ = screen.handle(.up) }
        #expect(screen.markedSeq == 10)
        #expect(screen.frame().text.contains { $0.contains("▌") && $0.contains("number 10 ") })
        #expect(screen.handle(.character("o")) == [.submit("/view #10")])
        _ = screen.handle(.character("r"))
        #expect(screen.editor.text == "/reply #10 ")
    }

    @Test func anArrivingMessageDoesNotTouchTheInput() {
        var screen = self.screen()
        screen.show("a")
        self.type("typing…", into: &screen)
        let before = screen.frame()
        screen.messages.append(self.message(41, "new"))
        let after = screen.frame()
        #expect(after.text.last == before.text.last)
        #expect(after.cursor?.column == before.cursor?.column)
    }

    @Test func theInputGrows() {
        var screen = self.screen()
        screen.show("a")
        for _ in 0..<9 {
            self.type("line", into: &screen)
            _ = screen.handle(.newline)
        }
        let frame = screen.frame()
        #expect(frame.text.suffix(6).dropFirst().allSatisfy { $0.hasPrefix("  ") || $0.hasPrefix("❯ ") })
        #expect(frame.cursor?.row == 23 && frame.cursor?.column == 2)
    }

    @Test func aPanelIsScrolledAndChosenFrom() {
        var screen = self.screen()
        screen.show("a")
        screen.panel = ScreenPanel(title: "/search x", lines: (1...60).map { .init("hit \($0)", command: "/open a/\($0)") })
        _ = screen.handle(.end)
        #expect(screen.frame().text.contains { $0.contains("hit 60") })
        _ = screen.handle(.up)
        #expect(screen.handle(.enter) == [.submit("/open a/59")])
        #expect(screen.panel == nil)
        screen.panel = ScreenPanel(title: "lines", lines: (1...60).map { .init("line \($0)") })
        #expect(screen.handle(.enter).isEmpty && screen.panel == nil)
        _ = screen.handle(.function(1))
        #expect(screen.frame().text.contains { $0.contains("Help") })
        #expect(screen.handle(.character("x")) == [.typing])  // another key closes it and is typed
        #expect(screen.panel == nil && screen.editor.text == "x")
    }

    @Test func changedRowsOnlyAreWritten() {
        var screen = self.screen()
        let first = screen.frame()
        #expect(first.output(after: nil).contains("\u{1B}[2J"))
        #expect(!first.output(after: first).contains("Chats"))
        screen.connection = "offline"
        let output = screen.frame().output(after: first)
        #expect(output.contains("offline") && !output.contains("\u{1B}[2J") && !output.contains("Bob"))
        #expect(!output.contains("\u{1B}[K"))  // would erase the last cell of a full row
        screen.resize(width: 100, height: 30)
        #expect(screen.frame().output(after: first).contains("\u{1B}[2J"))
        #expect(!screen.frame().output(after: nil, hasColour: false).contains(";36m"))
    }

    @Test func textCannotControlTheTerminal() {
        var screen = self.screen()
        screen.conversations[0].title = "a\u{1B}[2Jb"
        screen.conversations[0].preview = "\u{9B}2J"
        screen.messages = [
            ScreenMessage(
                id: "1", seq: 1, sender: "\u{1B}]0;x\u{7}", time: "", paragraphs: [[ScreenSpan("\u{1B}[31mred\u{202E}")]],
                mark: .failed("x"))
        ]
        screen.notice = "\u{1B}c"
        screen.typing = "\u{1B}c"
        screen.subtitle = "\u{1B}c"
        screen.editor.set("\u{1B}c")
        screen.show("a")
        for width in [80, 160] {
            screen.resize(width: width, height: 24)
            let text = screen.frame().text.joined()
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0.value == 0x202E })
        }
        screen.panel = ScreenPanel(title: "\u{1B}c", lines: [.init("\u{1B}c")])
        #expect(!screen.frame().text.joined().contains("\u{1B}"))
    }

    @Test func aNarrowScreenShowsListOrThread() {
        var screen = self.screen(40, 12)
        #expect(screen.frame().text[0].hasPrefix(" Chats"))
        screen.show("b")
        #expect(screen.frame().text[0].hasPrefix(" Bob"))
    }

    @Test func namesAndDaysAreReported() {
        var screen = self.screen()
        screen.messages = [self.message(1), self.message(2), self.message(3, sender: "carol"), self.message(4, sender: "carol")]
        screen.messages[3].day = "Wed 2026-11-25"
        screen.show("a")
        let text = screen.frame().text.map { $0.drop { $0 != "│" } }
        #expect(text.count { $0.contains(" bob ") } == 1)
        #expect(text.count { $0.contains(" carol ") } == 2)
        #expect(text.contains { $0.contains("── Wed 2026-11-25 ──") })
    }
}
