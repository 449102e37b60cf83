import Testing

@testable import ApusChatTerminal

@Suite("Screen")
struct ChatScreenTests {
    private func screen(_ width: Int = 80, _ height: Int = 24) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = [
            ScreenConversation(id: "a", title: "北京的朋友们 👍", unread: 12, isPinned: true), ScreenConversation(id: "b", title: "Bob"),
        ]
        screen.messages = (1...40).map { ScreenMessage(sender: "bob", time: "10:\($0)", text: "消息 number \($0) 👍") }
        screen.status = "online"
        return screen
    }

    @Test(arguments: [(80, 24), (160, 50), (40, 12), (20, 5), (5, 3), (1, 1)])
    func everyRowFillsTheWidth(width: Int, height: Int) {
        var screen = self.screen(width, height)
        for isInput in [false, true] {
            if isInput { screen.show("a") }
            let frame = screen.frame()
            #expect(frame.rows.count == height)
            for row in frame.text where width >= 20 { #expect(TerminalText.width(row) == width) }
            if let cursor = frame.cursor { #expect(cursor.row < height && cursor.column < width) }
        }
    }

    @Test func aConversationIsChosenAndWrittenTo() {
        var screen = self.screen()
        #expect(screen.handle(.down).isEmpty)
        #expect(screen.handle(.down).isEmpty)
        #expect(screen.handle(.enter) == [.open(conversation: "b")])
        #expect(screen.focus == .input)
        #expect(screen.handle(.character("h")) == [.typing])
        #expect(screen.handle(.character("i")) == [.typing])
        #expect(screen.handle(.enter) == [.send("hi")])
        #expect(screen.handle(.enter).isEmpty)
        screen.editor.set("/search 你好")
        #expect(screen.handle(.enter) == [.search("你好")])
        screen.editor.set("/help")
        #expect(screen.handle(.enter) == [.command("help")])
        screen.editor.set("//path")
        #expect(screen.handle(.enter) == [.send("/path")])
        #expect(screen.handle(.escape).isEmpty && screen.focus == .list)
        #expect(screen.handle(.tab).isEmpty && screen.focus == .input)
        #expect(screen.handle(.control("c")) == [.quit])
    }

    @Test func theEndOfTheThreadIsShownUntilTheUserScrolls() {
        var screen = self.screen()
        screen.show("a")
        #expect(screen.frame().text.contains { $0.contains("number 40") })
        #expect(screen.handle(.pageUp).isEmpty)
        #expect(!screen.frame().text.contains { $0.contains("number 40") })
        for _ in 0..<10 { _ = screen.handle(.pageUp) }
        #expect(screen.handle(.pageUp) == [.loadEarlier])
        #expect(screen.frame().text.contains { $0.contains("number 1 ") })
        for _ in 0..<10 { _ = screen.handle(.pageDown) }
        #expect(screen.frame().text.contains { $0.contains("number 40") })
    }

    @Test func anArrivingMessageDoesNotTouchTheInput() {
        var screen = self.screen()
        screen.show("a")
        for character in "typing…" { _ = screen.handle(.character(character)) }
        let before = screen.frame()
        screen.messages.append(ScreenMessage(sender: "bob", time: "11:00", text: "new"))
        let after = screen.frame()
        #expect(after.text.last == before.text.last)
        #expect(after.cursor?.column == before.cursor?.column)
    }

    @Test func changedRowsOnlyAreWritten() {
        var screen = self.screen()
        let first = screen.frame()
        #expect(first.output(after: nil).contains("\u{1B}[2J"))
        #expect(!first.output(after: first).contains("Chats"))
        screen.status = "offline"
        let output = screen.frame().output(after: first)
        #expect(output.contains("offline") && !output.contains("\u{1B}[2J") && !output.contains("Bob"))
        screen.resize(width: 100, height: 30)
        #expect(screen.frame().output(after: first).contains("\u{1B}[2J"))
    }

    @Test func textCannotControlTheTerminal() {
        var screen = self.screen()
        screen.conversations[0].title = "a\u{1B}[2Jb"
        screen.messages = [ScreenMessage(sender: "\u{1B}]0;x\u{7}", time: "", text: "\u{1B}[31mred")]
        screen.show("a")
        #expect(!screen.frame().text.joined().contains("\u{1B}"))
    }

    @Test func aNarrowScreenShowsListOrThread() {
        var screen = self.screen(40, 12)
        #expect(screen.frame().text[0].hasPrefix(" Chats"))
        screen.show("b")
        #expect(screen.frame().text[0].hasPrefix(" Bob"))
    }
}
