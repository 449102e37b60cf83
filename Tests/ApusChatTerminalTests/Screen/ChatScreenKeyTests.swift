import Testing

@testable import ApusChatTerminal

/// The keys of the screen, by the part that has the focus.
@Suite("Keys of the screen")
struct ChatScreenKeyTests {
    private func screen(conversations: Int = 5, messages: Int = 20, opened: String? = nil, width: Int = 90, height: Int = 20) -> ChatScreen
    {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = (0..<conversations).map { ScreenConversation(id: "\($0)", title: "Room \($0)", preview: "newest \($0)") }
        screen.messages = (0..<messages).map { Self.message(Int64($0 + 1)) }
        if let opened { screen.show(opened) }
        return screen
    }

    private static func message(_ seq: Int64?, id: String? = nil, isOwn: Bool = false, isNotice: Bool = false) -> ScreenMessage {
        ScreenMessage(
            id: id ?? "\(seq ?? 0)", seq: seq, sender: "bob", day: "Mon", time: "10:00",
            paragraphs: [[ScreenSpan("text \(seq.map(String.init) ?? id ?? "")")]], source: "source \(seq ?? 0)", isOwn: isOwn,
            isNotice: isNotice)
    }

    private func press(_ keys: [Key], _ screen: inout ChatScreen) -> [ScreenAction] { keys.flatMap { screen.handle($0) } }

    // MARK: The list

    @Test(arguments: [
        ([Key.down], "0"), ([.down, .down, .down], "2"), ([.character("j"), .character("j"), .character("k")], "0"),
        ([.up], "0"), ([.end], "4"), ([.character("G"), .down], "4"), ([.end, .home], "0"), ([.end, .character("g")], "0"),
        ([.control("n"), .control("n"), .control("p")], "0"), ([.end, .up], "3"),
    ])
    func theListIsWalked(keys: [Key], selected: String) {
        var screen = self.screen()
        #expect(self.press(keys, &screen).isEmpty)
        #expect(screen.selected == selected && screen.focus == .list)
    }

    @Test(arguments: [Key.enter, .right, .newline])
    func theSelectedConversationIsOpened(key: Key) {
        var screen = self.screen()
        #expect(screen.handle(key) == [.open(conversation: "0")])  // opens the first one if none is selected
        _ = self.press([.down, .down], &screen)
        #expect(screen.handle(key) == [.open(conversation: "1")])
        screen.conversations = []
        #expect(self.press([.up, .down, .home, .end, .character("n")], &screen).isEmpty)
    }

    @Test func anEmptyListOpensNothing() {
        var screen = self.screen(conversations: 0)
        #expect(self.press([.enter, .up, .down, .end, .home, .character("n"), .tab, .escape], &screen).isEmpty)
        #expect(screen.focus == .list && screen.selected == nil)
        #expect(screen.frame().text.joined().contains("No conversations yet"))
    }

    @Test func theNextUnreadConversationIsFoundAround() {
        var screen = self.screen()
        screen.conversations[1].unread = 3
        screen.conversations[3].isMarked = true
        var found: [String?] = []
        for _ in 0..<4 {
            _ = screen.handle(.character("n"))
            found.append(screen.selected)
        }
        #expect(found == ["1", "3", "1", "3"])
        screen.conversations[1].unread = 0
        screen.conversations[3].isMarked = false
        _ = screen.handle(.character("n"))
        #expect(screen.selected == "3")
    }

    @Test func aSlashBeginsACommandFromAnywhere() {
        var screen = self.screen()
        _ = screen.handle(.character("/"))
        #expect(screen.focus == .input && screen.editor.text == "/")
        #expect(self.press([.character("q"), .enter], &screen) == [.submit("/q")])
        screen = self.screen(opened: "0")
        _ = self.press([.markUp, .character("/")], &screen)
        #expect(screen.focus == .input && screen.editor.text == "/" && screen.markedSeq == 20)
    }

    @Test func theListIsLeftOnlyForAnOpenConversation() {
        for key in [Key.tab, .backTab, .escape] {
            var screen = self.screen()
            _ = screen.handle(key)
            #expect(screen.focus == .list)
            screen.show("0")
            _ = screen.handle(.tab)
            #expect(screen.focus == .list)
            _ = screen.handle(key)
            #expect(screen.focus == .input)
        }
    }

    @Test(arguments: [Key.character("q"), .control("c"), .control("q")])
    func theListIsQuit(key: Key) {
        var screen = self.screen()
        #expect(screen.handle(key) == [.quit])
    }

    @Test(arguments: [(4, 8), (10, 6), (40, 5), (200, 12)])
    func theSelectedConversationIsOnTheScreen(count: Int, height: Int) {
        var screen = self.screen(conversations: count, height: height)
        for _ in 0..<count {
            _ = screen.handle(.down)
            let selected = screen.selected ?? ""
            #expect(screen.frame().text.contains { $0.contains(" Room \(selected) ") }, "\(selected)")
        }
        for _ in 0..<count {
            _ = screen.handle(.up)
            let selected = screen.selected ?? ""
            #expect(screen.frame().text.contains { $0.contains(" Room \(selected) ") }, "\(selected)")
        }
        // Removed conversations leave no empty rows.
        _ = screen.handle(.end)
        _ = screen.frame()
        screen.conversations = Array(screen.conversations.suffix(2))
        #expect(screen.frame().text.prefix(3).last?.contains("Room \(count - 1)") == true)
    }

    // MARK: The messages

    @Test(arguments: [
        (Key.character("r"), "/reply #20 "), (.enter, "/reply #20 "), (.character("+"), "/react #20 "), (.character("a"), "/react #20 "),
        (.character("f"), "/forward #20 "), (.character("v"), "/vote #20 "), (.character("d"), "/recall #20"),
        (.character("x"), "/hide #20"),
        (.character("s"), "/save #20"),
    ])
    func aKeyBeginsACommandForTheMessage(key: Key, text: String) {
        var screen = self.screen(opened: "0")
        #expect(self.press([.markUp, key], &screen).isEmpty)
        #expect(screen.focus == .input && screen.editor.text == text && screen.markedSeq == 20)
    }

    @Test(arguments: [
        (Key.character("o"), "/view #20"), (.character("t"), "/thread #20"), (.character("p"), "/pin #20"),
        (.character("i"), "/readers #20"),
        (.character("w"), "/reactions #20"),
    ])
    func aKeyPerformsACommandForTheMessage(key: Key, line: String) {
        var screen = self.screen(opened: "0")
        #expect(self.press([.markUp, key], &screen) == [.submit(line)])
        #expect(screen.focus == .messages && screen.editor.isEmpty)
        screen.unmark()
        #expect(screen.markedSeq == 20)  // the next key also applies to it
        _ = screen.handle(.escape)
        #expect(screen.focus == .input && screen.markedSeq == nil)
    }

    @Test func onlyOwnMessagesAreEdited() {
        var screen = self.screen(opened: "0")
        _ = self.press([.markUp, .character("e")], &screen)
        #expect(screen.focus == .messages && screen.editor.isEmpty)
        screen.messages[19].isOwn = true
        _ = screen.handle(.character("e"))
        #expect(screen.focus == .input && screen.editor.text == "/edit #20 source 20")
    }

    @Test func noticesAndUnsentMessagesAreNotSelected() {
        var screen = self.screen(messages: 0, opened: "0")
        screen.messages = [
            Self.message(1), Self.message(2, isNotice: true), Self.message(3), Self.message(nil, id: "own 1"),
            Self.message(4, isNotice: true),
        ]
        _ = screen.handle(.markUp)
        #expect(screen.markedSeq == 3)
        _ = screen.handle(.up)
        #expect(screen.markedSeq == 1)
        _ = screen.handle(.up)
        #expect(screen.markedSeq == 1)
        _ = screen.handle(.down)
        #expect(screen.markedSeq == 3)
        _ = screen.handle(.down)  // leaves the last one for the input
        #expect(screen.markedSeq == nil && screen.focus == .input)
        screen.messages = [Self.message(2, isNotice: true)]
        #expect(self.press([.markUp, .up], &screen).isEmpty)
        #expect(screen.markedSeq == nil && screen.focus == .input)
    }

    @Test func theSelectionLoadsMoreAtItsEnds() {
        var screen = self.screen(messages: 3, opened: "0")
        (screen.hasEarlier, screen.hasLater) = (true, true)
        #expect(screen.handle(.markUp).isEmpty)
        #expect(screen.handle(.up).isEmpty)
        #expect(screen.handle(.up) == [.loadEarlier])
        #expect(screen.handle(.up) == [.loadEarlier])
        #expect(screen.handle(.down).isEmpty)
        #expect(screen.handle(.down) == [.loadLater])
        #expect(screen.handle(.down) == [.loadLater] && screen.markedSeq == 3)
        screen.hasEarlier = false
        #expect(screen.handle(.home).isEmpty && screen.markedSeq == 1)
        #expect(screen.handle(.end) == [.loadLater] && screen.markedSeq == 3)
    }

    @Test(
        arguments: [
            ([.home], 1), ([.character("g")], 1), ([.home, .end], 20), ([.home, .character("G")], 20), ([.home, .character("j")], 2),
            ([.character("k"), .markDown], 20), ([.markUp, .markUp], 18),
        ] as [([Key], Int64)])
    func theSelectionMoves(keys: [Key], seq: Int64) {
        var screen = self.screen(opened: "0")
        #expect(self.press([.markUp] + keys, &screen).isEmpty)
        #expect(screen.markedSeq == seq)
        #expect(screen.frame().text.contains { $0.contains("▌") && $0.contains("text \(seq) ") })
    }

    @Test func aRemovedMessageIsNotSelected() {
        var screen = self.screen(opened: "0")
        _ = self.press([.markUp, .up], &screen)
        screen.messages.removeAll { $0.seq == 19 }
        #expect(screen.markedSeq == nil)
        #expect(self.press([.character("r"), .character("o"), .character("d")], &screen).isEmpty)
        #expect(screen.editor.isEmpty)
        _ = screen.handle(.up)
        #expect(screen.markedSeq == 20)
    }

    // MARK: The input

    @Test func escapeGoesBackStepByStep() {
        var screen = self.screen(messages: 80, opened: "0")
        screen.isThread = true
        _ = self.press([.pageUp, .markUp, .character("r")], &screen)
        #expect(screen.editor.text.hasPrefix("/reply #"))
        #expect(screen.handle(.escape).isEmpty && screen.editor.isEmpty)  // removes the command
        #expect(screen.markedSeq != nil)
        #expect(screen.handle(.escape).isEmpty && screen.markedSeq == nil)  // removes the selection
        #expect(screen.handle(.escape) == [.leaveThread])
        screen.isThread = false
        screen.hasLater = true
        #expect(screen.handle(.escape) == [.toEnd])
        screen.hasLater = false
        screen.followEnd()
        #expect(screen.handle(.escape).isEmpty && screen.focus == .list)
    }

    @Test func escapeKeepsAMessageThatIsWritten() {
        var screen = self.screen(opened: "0")
        _ = self.press([.character("h"), .character("i"), .escape], &screen)
        #expect(screen.focus == .list && screen.editor.text == "hi")
    }

    /// A command that a key begins replaces what is written, which the history keeps.
    @Test(arguments: [
        ([Key.escape, .character("/")], "/"), ([.backTab, .character("r")], "/reply #20 "), ([.backTab, .character("/")], "/"),
        ([.backTab, .character("d")], "/recall #20"),
    ])
    func aBegunCommandLosesNoMessage(keys: [Key], command: String) {
        for written in ["half a message", "//shrug"] {
            var screen = self.screen(opened: "0")
            _ = self.press([.paste(written)] + keys, &screen)
            #expect(screen.editor.text == command && screen.focus == .input)
            _ = screen.handle(.control("p"))
            #expect(screen.editor.text == written)
            _ = screen.handle(.control("n"))
            #expect(screen.editor.text == command)
        }
        // A begun command is not a message.
        var screen = self.screen(opened: "0")
        _ = self.press([.backTab, .character("r"), .backTab, .character("f"), .control("p")], &screen)
        #expect(screen.editor.text == "/forward #20 ")
    }

    @Test(arguments: [
        (Key.character("a"), [ScreenAction.typing]), (.paste("x"), [.typing]), (.newline, [.typing]), (.backspace, []), (.left, []),
        (.control("k"), []), (.function(2), []), (.control("x"), []),
    ])
    func typingIsReportedWhenTheTextChanges(key: Key, actions: [ScreenAction]) {
        var screen = self.screen(opened: "0")
        #expect(screen.handle(key) == actions)
        screen = self.screen()
        _ = screen.handle(.character("/"))
        #expect(screen.handle(key).isEmpty)  // an unfinished command opens no conversation
    }

    @Test func controlCDiscardsBeforeItQuits() {
        var screen = self.screen(opened: "0")
        _ = self.press([.character("x")], &screen)
        #expect(screen.handle(.control("c")).isEmpty && screen.editor.isEmpty)
        _ = screen.handle(.control("p"))
        #expect(screen.editor.isEmpty)  // it is not in the history
        #expect(screen.handle(.up).isEmpty && screen.focus == .messages)
        #expect(screen.handle(.control("c")).isEmpty && screen.focus == .input)
        _ = screen.handle(.function(1))
        #expect(screen.handle(.control("c")).isEmpty && screen.panel == nil)
        #expect(screen.handle(.control("c")) == [.quit])
    }

    @Test func controlDDeletesBeforeItQuits() {
        var screen = self.screen(opened: "0")
        _ = self.press([.character("a"), .home], &screen)
        #expect(screen.handle(.control("d")) == [.typing] && screen.editor.isEmpty)
        #expect(screen.handle(.control("d")) == [.quit])
    }

    @Test(arguments: [(Key.control("z"), ScreenAction.suspend), (.control("l"), .redraw), (.control("q"), .quit)])
    func programKeysWorkEverywhere(key: Key, action: ScreenAction) {
        var screen = self.screen()
        #expect(screen.handle(key) == [action])
        screen.show("0")
        #expect(screen.handle(key) == [action])
        _ = screen.handle(.markUp)
        #expect(screen.handle(key) == [action])
        _ = screen.handle(.function(1))
        #expect(screen.handle(key) == [action])
    }

    @Test func tabCompletesBeforeItLeaves() {
        var screen = self.screen(opened: "0")
        screen.editor.completions = ["/help", "@bob"]
        _ = self.press([.character("@"), .character("b"), .tab], &screen)
        #expect(screen.editor.text == "@bob " && screen.focus == .input)
        _ = screen.handle(.tab)
        #expect(screen.focus == .list && screen.editor.text == "@bob ")
    }

    @Test func aQuestionMarkIsHelpOnlyWhereNothingIsWritten() {
        var screen = self.screen()
        _ = screen.handle(.character("?"))
        #expect(screen.panel?.title == "Help")
        screen = self.screen(opened: "0")
        _ = screen.handle(.character("?"))
        #expect(screen.panel == nil && screen.editor.text == "?")
        screen.editor.set("")
        _ = self.press([.markUp, .character("?")], &screen)
        #expect(screen.panel?.title == "Help" && screen.focus == .messages)
    }

    @Test func anArrowSelectsOnlyFromAnEmptyInput() {
        var screen = self.screen(opened: "0")
        _ = self.press([.character("a"), .up], &screen)
        #expect(screen.focus == .input && screen.editor.text == "a")
        _ = self.press([.control("c"), .up], &screen)
        #expect(screen.focus == .messages && screen.markedSeq == 20)
    }

    // MARK: The panel

    private func panel(_ lines: Int, commands: Bool) -> ScreenPanel {
        ScreenPanel(title: "Panel", lines: (1...lines).map { .init("line \($0)", command: commands ? "/open \($0)" : nil) })
    }

    @Test(arguments: [
        ([Key.down], 2), ([.down, .down, .up], 2), ([.end], 60), ([.end, .home], 1), ([.character("G"), .character("g")], 1), ([.up], 1),
        ([.end, .down], 60), ([.pageDown], 17), ([.pageDown, .pageUp], 1), ([.character(" ")], 17),
        ([.character("j"), .character("k")], 1),
        ([.control("n"), .control("n"), .control("p")], 2),
    ])
    func aLineIsChosen(keys: [Key], line: Int) {
        var screen = self.screen(opened: "0")
        screen.panel = self.panel(60, commands: true)
        #expect(self.press(keys, &screen).isEmpty)
        #expect(screen.frame().text.contains { $0.contains(" line \(line) ") })
        #expect(screen.handle(.enter) == [.submit("/open \(line)")] && screen.panel == nil)
    }

    @Test func linesWithoutACommandAreSkipped() {
        var screen = self.screen(opened: "0")
        screen.panel = ScreenPanel(
            title: "T", lines: [.init("title", .bold), .init("a", command: "/a"), .init(""), .init("note"), .init("b", command: "/b")])
        #expect(screen.panel?.selected == 1)
        _ = screen.handle(.down)
        #expect(screen.panel?.selected == 4)
        #expect(self.press([.down, .up, .up, .enter], &screen) == [.submit("/a")])
    }

    @Test(arguments: [Key.escape, .character("q"), .character("?")])
    func aPanelIsClosed(key: Key) {
        var screen = self.screen(opened: "0")
        screen.panel = self.panel(3, commands: true)
        #expect(screen.handle(key).isEmpty && screen.panel == nil && screen.editor.isEmpty)
    }

    @Test func aTextPanelIsScrolled() {
        var screen = self.screen(opened: "0")
        screen.panel = self.panel(60, commands: false)
        func first() -> String? { screen.frame().text.dropFirst().first.flatMap { $0.split(separator: "│").last.map(String.init) } }
        #expect(first()?.contains(" line 1 ") == true)
        _ = self.press([.down, .down], &screen)
        #expect(first()?.contains(" line 3 ") == true)
        _ = screen.handle(.end)
        #expect(screen.frame().text.contains { $0.contains(" line 60 ") })
        #expect(first()?.contains(" line 44 ") == true)  // the last page is full
        _ = screen.handle(.up)
        #expect(first()?.contains(" line 43 ") == true)
        _ = screen.handle(.home)
        #expect(first()?.contains(" line 1 ") == true)
    }

    @Test func aPanelHidesTheCursorOnlyWhereLinesAreChosen() {
        var screen = self.screen(opened: "0")
        screen.panel = self.panel(3, commands: true)
        #expect(screen.frame().cursor == nil)
        screen.panel = self.panel(3, commands: false)
        #expect(screen.frame().cursor != nil)
        #expect(screen.lastVisible == nil)  // hidden messages are not read
    }

    @Test(arguments: 0..<16)
    func anyKeysAtAnySizeLeaveAWholeScreen(seed: Int) {
        var generator = SeededGenerator(seed)
        var screen = self.screen(conversations: 7, messages: 15)
        let keys: [Key] = [
            .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .enter, .newline, .tab, .backTab, .escape, .backspace, .delete,
            .markUp,
            .markDown, .wordLeft, .wordRight, .function(1), .function(9), .control("c"), .control("d"), .control("w"), .character("?"),
            .character("/"), .character("e"), .character("n"), .character("你"), .character("\u{301}"), .paste("a\n你\u{1B}[2J\tb"),
        ]
        for step in 0..<150 {
            for action in screen.handle(generator.pick(keys)) {
                switch action {
                case .open(let id): screen.show(id)
                case .loadEarlier: screen.messages.insert(Self.message(Int64(-step), id: "early \(step)"), at: 0)
                case .loadLater: screen.hasLater = false
                default: break
                }
            }
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: screen.resize(width: Int.random(in: 0...130, using: &generator), height: Int.random(in: 0...40, using: &generator))
            case 1: screen.messages.append(Self.message(nil, id: "own \(step)"))
            case 2 where !screen.messages.isEmpty: screen.messages.remove(at: Int.random(in: screen.messages.indices, using: &generator))
            case 3: screen.conversations.shuffle(using: &generator)
            case 4: screen.hasEarlier.toggle()
            case 5: screen.panel = self.panel(Int.random(in: 1...50, using: &generator), commands: Bool.random(using: &generator))
            case 6: screen.closeConversation()
            case 7: screen.messages = []
            default: break
            }
            let frame = screen.frame()
            #expect(frame.rows.count == screen.height)
            for row in frame.text where screen.width >= 20 { #expect(TerminalText.width(row) == screen.width, "\(row)") }
            if let cursor = frame.cursor { #expect(cursor.row < screen.height && cursor.column < screen.width) }
            if let last = screen.lastVisible { #expect(screen.messages.indices.contains(last)) }
        }
    }
}
