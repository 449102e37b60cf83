import Testing

@testable import ApusChatTerminal

/// Whole screens as text, at the sizes of usual and of very small terminals.
@Suite("Screens as text")
struct ScreenTextTests {
    private static func screen(_ width: Int, _ height: Int) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = [
            ScreenConversation(id: "a", title: "Rowing club", preview: "bob: see you at six", unread: 3, mentions: 1, isPinned: true),
            ScreenConversation(id: "b", title: "鲍勃", preview: "你好", isOnline: true, hasDraft: true),
            ScreenConversation(id: "c", title: "Announcements of the whole company", preview: "New rooms", unread: 1_200, isMuted: true),
            ScreenConversation(id: "d", title: "Notes", isMarked: true),
        ]
        screen.messages = [
            Self.message(1, "bob", "Shall we meet at the harbour at six? The weather should be fine until nine."),
            Self.message(2, "bob", "And bring a jacket."),
            ScreenMessage(
                id: "3", seq: 3, sender: "", day: "Tue 2026-11-24", time: "10:31", paragraphs: [[ScreenSpan("carol (joined)")]],
                isNotice: true),
            ScreenMessage(
                id: "4", seq: 4, sender: "王小明王小明王小明", day: "Wed 2026-11-25", time: "08:00",
                paragraphs: [[ScreenSpan("┃ bob: Shall we meet", .dim)], [ScreenSpan("好的，我们六点在码头见面。请带上雨伞和一点吃的东西👍")]],
                isFirstUnread: true),
            ScreenMessage(
                id: "5", seq: 5, sender: "you", day: "Wed 2026-11-25", time: "08:01", paragraphs: [[ScreenSpan("ok")]], isOwn: true,
                mark: .read),
            ScreenMessage(
                id: "own 1", sender: "you", day: "Wed 2026-11-25", time: "08:02", paragraphs: [[ScreenSpan("on my way")]], isOwn: true,
                mark: .failed("The group is full.")),
        ]
        screen.subtitle = "group, 3 members"
        screen.connection = "alice online"
        return screen
    }

    private static func message(_ seq: Int64, _ sender: String, _ text: String) -> ScreenMessage {
        ScreenMessage(
            id: String(seq), seq: seq, sender: sender, day: "Tue 2026-11-24", time: "10:30", paragraphs: [[ScreenSpan(text)]], source: text)
    }

    /// Returns the rows without the spaces at their ends, between which blank rows are omitted.
    private func text(_ screen: inout ChatScreen) -> String {
        let rows = screen.frame().text.map { row in
            String(row.reversed().drop { $0 == " " }.reversed())
        }
        return rows.filter { !$0.allSatisfy { $0 == " " || $0 == "│" } }.joined(separator: "\n")
    }

    private func type(_ text: String, into screen: inout ChatScreen) {
        for character in text { _ = screen.handle(.character(character)) }
    }

    @Test func theListAndTheWelcome() {
        var screen = Self.screen(80, 24)
        #expect(
            self.text(&screen) == """
                 Chats (1)                  │
                ^ Rowing club            @3 │ Select a conversation with ↑ ↓ and Enter,
                  鲍勃 ✎ ●                  │ or type /open NAME. /users NAME finds people.
                  Announcements of th… 999+ │
                  Notes                   • │ F1 shows the keys and commands.
                 Enter open  n next unread  / command  ? help                      alice online
                """)
        #expect(screen.frame().cursor == nil)
    }

    @Test func aConversation() {
        var screen = Self.screen(80, 24)
        screen.show("a")
        #expect(
            self.text(&screen) == """
                 Chats (1)                  │ Rowing club  group, 3 members
                ▸ Rowing club            @3 │
                  鲍勃 ✎ ●                  │
                  Announcements of th… 999+ │
                  Notes                   • │
                                            │─── Tue 2026-11-24 ────────────────────────────────
                                            │ 10:30 bob        Shall we meet at the harbour at
                                            │                  six? The weather should be fine
                                            │                  until nine.
                                            │ 10:30            And bring a jacket.
                                            │ 10:31  carol (joined)
                                            │─── Wed 2026-11-25 ────────────────────────────────
                                            │─── unread messages ───────────────────────────────
                                            │ 08:00 王小明王…  ┃ bob: Shall we meet
                                            │                  好的，我们六点在码头见面。请带上
                                            │                  雨伞和一点吃的东西👍
                                            │ 08:01 you        ok  ✓✓ read
                                            │ 08:02            on my way
                                            │                  ✗ not sent: The group is full.
                                            │                  /retry /discard
                 F1 help  ↑ select a message  Esc list                             alice online
                ❯
                """)
        #expect(screen.frame().cursor.map { $0 == (23, 2) } == true)
        // All messages are on the screen, and the last one is read.
        #expect(screen.lastVisible == 5)
    }

    @Test func aWideTerminalShowsPreviewsAndWholeLines() {
        var screen = Self.screen(160, 50)
        screen.show("a")
        let rows = screen.frame().text.map { row in String(row.reversed().drop { $0 == " " }.reversed()) }
        #expect(
            Array(rows.prefix(5)) == [
                " Chats (1)                              │ Rowing club  group, 3 members", "▸ Rowing club  bob: see you at six   @3 │",
                "  鲍勃 ✎ ●  你好                        │", "  Announcements of the whole comp… 999+ │",
                "  Notes                               • │",
            ])
        let thread = rows.suffix(11).dropLast(2).map { row in String(row.drop { $0 != "│" }.dropFirst()) }
        #expect(
            Array(thread.suffix(8)).filter { !$0.contains("──") } == [
                " 10:30                And bring a jacket.", " 10:31  carol (joined)", " 08:00 王小明王小明…  ┃ bob: Shall we meet",
                "                      好的，我们六点在码头见面。请带上雨伞和一点吃的东西👍", " 08:01 you            ok  ✓✓ read",
                " 08:02                on my way  ✗ not sent: The group is full. /retry /discard",
            ])
    }

    @Test func aNarrowTerminalShowsOneOfThem() {
        var screen = Self.screen(44, 12)
        #expect(
            self.text(&screen) == """
                 Chats (1)
                ^ Rowing club  bob: see you at six       @3
                  鲍勃 ✎ ●  你好
                  Announcements of the whole company … 999+
                  Notes                                   •
                 Enter open  n next unread  /… alice online
                """)
        screen.show("a")
        #expect(
            self.text(&screen) == """
                 Rowing club  group, 3 members
                ─── Wed 2026-11-25 ─────────────────────────
                ─── unread messages ────────────────────────
                 08:00 王小明…  ┃ bob: Shall we meet
                                好的，我们六点在码头见面。
                                请带上雨伞和一点吃的东西👍
                 08:01 you      ok  ✓✓ read
                 08:02          on my way
                                ✗ not sent: The group is
                                full. /retry /discard
                 F1 help  ↑ select a message … alice online
                ❯
                """)
    }

    /// The newest rows and the input are kept as long as there is room for them.
    @Test(
        arguments: [
            (20, 5, [" Rowing club  group…", "      full. /retry", "      /discard", " F1 h… alice online", "❯"]),
            (20, 3, [" Rowing club  group…", " F1 h… alice online", "❯"]), (20, 2, [" F1 h… alice online", "❯"]), (20, 1, ["❯"]),
            (10, 3, [" Rowing c…", "  alice o…", "❯"]), (2, 1, ["❯"]),
        ] as [(Int, Int, [String])])
    func aTinyTerminalShowsTheInput(width: Int, height: Int, rows: [String]) {
        var screen = Self.screen(width, height)
        screen.show("a")
        #expect(self.text(&screen) == rows.joined(separator: "\n"))
        #expect(screen.frame().cursor?.row == height - 1)
    }

    @Test func aPanelCoversTheMessages() {
        var screen = Self.screen(80, 10)
        screen.show("a")
        screen.panel = ScreenPanel(
            title: "/members",
            lines: [
                .init("bob  (owner)", command: "/open bob"), .init("王伟  (member)", command: "/open 王伟"), .init("2 in all", .dim),
            ])
        #expect(
            self.text(&screen) == """
                 Chats (1)                  │ /members
                ▸ Rowing club            @3 │ bob  (owner)
                  鲍勃 ✎ ●                  │ 王伟  (member)
                  Announcements of th… 999+ │ 2 in all
                  Notes                   • │
                 ↑ ↓ choose  Enter perform  Esc close                              alice online
                ❯
                """)
        #expect(screen.frame().rows[1].contains { $0.style.isReverse && $0.text.hasPrefix(" bob") })
    }

    // MARK: Changes of the size

    /// The typed text and its cursor survive every change of the size.
    @Test func aChangeOfTheSizeKeepsTheInput() {
        var screen = Self.screen(80, 24)
        screen.show("a")
        self.type("half 你好", into: &screen)
        _ = screen.handle(.left)
        for (width, height) in [(44, 12), (20, 5), (1, 1), (2, 2), (0, 0), (-5, -5), (160, 50), (69, 8), (70, 8)] {
            screen.resize(width: width, height: height)
            let frame = screen.frame()
            #expect(frame.rows.count == max(1, height))
            #expect(screen.editor.text == "half 你好" && screen.editor.after == "好" && screen.focus == .input)
            guard width >= 20 else { continue }
            #expect(frame.text.last?.hasPrefix("❯ half 你好") == true)
            #expect(frame.cursor.map { $0 == (height - 1, 9) } == true, "\(width)×\(height)")
        }
        self.type("们", into: &screen)
        #expect(screen.handle(.enter) == [.submit("half 你们好")])
    }

    /// A scrolled conversation shows the same message after a change of the size and back.
    @Test func aChangeOfTheSizeKeepsThePlace() {
        var screen = Self.screen(80, 12)
        screen.messages = (1...60).map { Self.message($0, "bob", "number \($0) with some words that need two rows on a narrow screen") }
        screen.show("a")
        for _ in 0..<3 { _ = screen.handle(.pageUp) }
        _ = screen.frame()
        let last = screen.lastVisible
        for (width, height) in [(40, 12), (30, 6), (160, 12), (80, 12)] {
            screen.resize(width: width, height: height)
            _ = screen.frame()
            #expect(screen.lastVisible == last, "\(width)×\(height)")
        }
    }

    @Test func aChangeOfTheSizeKeepsTheSelection() {
        var screen = Self.screen(80, 24)
        screen.messages = (1...60).map { Self.message($0, "bob", "number \($0)") }
        screen.show("a")
        _ = screen.handle(.markUp)
        for _ in 0..<20 { _ = screen.handle(.up) }
        for (width, height) in [(40, 8), (20, 5), (120, 40)] {
            screen.resize(width: width, height: height)
            #expect(screen.markedSeq == 40)
            _ = screen.handle(.down)
            _ = screen.handle(.up)
            #expect(screen.frame().text.contains { $0.contains("▌") }, "\(width)×\(height)")
        }
    }

    // MARK: The status line

    /// The status line shows the most urgent state.
    @Test func theStatusLineHasAnOrder() {
        var screen = Self.screen(100, 10)
        screen.show("a")
        func status() -> String { String(screen.frame().text[8].prefix(40)).trimmingSpaces }
        #expect(status().hasPrefix("F1 help"))
        screen.hasLater = true
        #expect(status() == "Esc end of the messages")
        screen.unread = 4
        #expect(status() == "4 new below  Esc end")
        screen.typing = "bob is typing…"
        #expect(status() == "bob is typing…")
        screen.editor.completions = ["/reply", "/recall"]
        self.type("/re", into: &screen)
        #expect(status() == "/recall  /reply")
        screen.typing = ""
        self.type("call #3", into: &screen)
        #expect(status() == "/recall [#N]  Enter: remove one of your")
        screen.notice = "The group is full."
        #expect(status() == "The group is full.")
        #expect(screen.frame().rows[8][0].style.colour == .normal)
        screen.isWarning = true
        #expect(screen.frame().rows[8][0].style.colour == .red)
    }

    @Test(arguments: [
        (ScreenMessage.Mark.none, ""), (.waiting, "… waiting"), (.sent, "✓"), (.delivered, "✓✓"), (.read, "✓✓ read"),
        (.failed("Too long."), "✗ not sent: Too long. /retry /discard"),
    ])
    func aDeliveryIsAMarkAfterTheText(mark: ScreenMessage.Mark, words: String) {
        var screen = Self.screen(120, 10)
        screen.messages = [Self.message(1, "you", "text")]
        screen.messages[0].mark = mark
        screen.show("a")
        let row = screen.frame().text[7].drop { $0 != "│" }.dropFirst()
        #expect(row.trimmingSpaces == "10:30 you            text" + (words.isEmpty ? "" : "  " + words))
    }
}
