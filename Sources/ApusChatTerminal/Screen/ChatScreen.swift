/// A row of the list of conversations.
package struct ScreenConversation: Hashable, Sendable {
    package var id: String
    package var title: String
    package var preview: String
    package var time: String
    package var unread: Int64
    package var isPinned: Bool

    package init(id: String, title: String, preview: String = "", time: String = "", unread: Int64 = 0, isPinned: Bool = false) {
        self.id = id
        self.title = title
        self.preview = preview
        self.time = time
        self.unread = unread
        self.isPinned = isPinned
    }
}

/// A message on the screen.
package struct ScreenMessage: Hashable, Sendable {
    package enum Mark: Hashable, Sendable { case none, waiting, sent, delivered, read, failed }
    package var sender: String
    package var time: String
    package var text: String
    package var isOwn: Bool
    package var mark: Mark
    /// A line without a sender, such as "bob joined".
    package var isNotice: Bool

    package init(sender: String, time: String, text: String, isOwn: Bool = false, mark: Mark = .none, isNotice: Bool = false) {
        self.sender = sender
        self.time = time
        self.text = text
        self.isOwn = isOwn
        self.mark = mark
        self.isNotice = isNotice
    }
}

/// What the shell of the screen does after a key.
package enum ScreenAction: Hashable, Sendable {
    case open(conversation: String)
    case send(String)
    /// A line that begins with `/`.
    case command(String)
    case loadEarlier
    case search(String)
    case typing
    case quit
}

/// The chat on a full screen: the list of conversations at the left, the messages and the input at
/// the right. A narrow screen shows one of both. Pure: keys and values go in, frames come out.
package struct ChatScreen: Sendable {
    package enum Focus: Hashable, Sendable { case list, input }

    package var width: Int
    package var height: Int
    package var conversations: [ScreenConversation] = []
    package var messages: [ScreenMessage] = []
    /// The state of the connection, or the last error.
    package var status = ""
    package var isWarning = false
    /// What is written at present: "bob is typing".
    package var typing = ""
    package private(set) var focus: Focus = .list
    package private(set) var selected: String?
    package private(set) var opened: String?
    package var editor = LineEditor()
    /// The number of lines between the end of the messages and the bottom of their area.
    package private(set) var scroll = 0
    private var firstRow = 0

    private static let listWidth = 28
    /// The width below which list and messages are not shown at once.
    private static let splitWidth = 70

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    private var isSplit: Bool { self.width >= Self.splitWidth }
    private var threadWidth: Int { self.isSplit ? self.width - Self.listWidth - 1 : self.width }
    /// The rows between the title and the status with the input.
    private var bodyHeight: Int { max(1, self.height - 3) }

    // MARK: Input

    package mutating func resize(width: Int, height: Int) {
        (self.width, self.height) = (max(1, width), max(1, height))
        self.scroll = min(self.scroll, self.maximumScroll)
    }

    /// Shows a conversation that the shell has opened.
    package mutating func show(_ conversation: String) {
        self.opened = conversation
        self.selected = conversation
        self.focus = .input
        self.scroll = 0
    }

    package mutating func handle(_ key: Key) -> [ScreenAction] {
        switch key {
        case .control("c"), .control("q"): return [.quit]
        case .tab, .escape:
            self.focus = self.focus == .list || self.opened == nil ? (self.opened == nil ? .list : .input) : .list
            return []
        case .pageUp:
            let isAtStart = self.scroll >= self.maximumScroll
            self.scroll = min(self.scroll + self.bodyHeight - 1, self.maximumScroll)
            return isAtStart && self.opened != nil ? [.loadEarlier] : []
        case .pageDown:
            self.scroll = max(0, self.scroll - self.bodyHeight + 1)
            return []
        default: return self.focus == .list ? self.handleInList(key) : self.handleInInput(key)
        }
    }

    private mutating func handleInList(_ key: Key) -> [ScreenAction] {
        let index = self.conversations.firstIndex { $0.id == self.selected } ?? -1
        switch key {
        case .up, .control("p"), .character("k"): self.select(max(0, index - 1))
        case .down, .control("n"), .character("j"): self.select(min(self.conversations.count - 1, index + 1))
        case .home: self.select(0)
        case .end: self.select(self.conversations.count - 1)
        case .character("q"): return [.quit]
        case .character("/"):
            self.editor.set("/")
            self.focus = .input
        case .enter, .right:
            guard let selected = self.selected ?? self.conversations.first?.id else { return [] }
            self.show(selected)
            return [.open(conversation: selected)]
        default: break
        }
        return []
    }

    private mutating func select(_ index: Int) {
        guard self.conversations.indices.contains(index) else { return }
        self.selected = self.conversations[index].id
    }

    private mutating func handleInInput(_ key: Key) -> [ScreenAction] {
        if key == .enter {
            let text = self.editor.take()
            guard text.contains(where: { !$0.isWhitespace }) else { return [] }
            self.scroll = 0
            if text.hasPrefix("/search ") { return [.search(String(text.dropFirst(8)))] }
            if text == "/quit" { return [.quit] }
            if text.hasPrefix("//") { return [.send(String(text.dropFirst()))] }
            return text.hasPrefix("/") ? [.command(String(text.dropFirst()))] : self.opened == nil ? [] : [.send(text)]
        }
        let before = self.editor.characters
        guard self.editor.handle(key) else { return [] }
        return self.editor.characters != before && self.opened != nil && !self.editor.text.hasPrefix("/") ? [.typing] : []
    }

    // MARK: Output

    private var maximumScroll: Int { max(0, self.messageRows.count - self.bodyHeight) }

    /// The whole screen.
    package mutating func frame() -> ScreenFrame {
        let showsList = self.isSplit || self.focus == .list
        let showsThread = self.isSplit || self.focus == .input
        let list = showsList ? self.listRows(width: self.isSplit ? Self.listWidth : self.width) : []
        let thread = showsThread ? self.threadRows() : []
        var rows: [[ScreenSpan]] = []
        for row in 0..<max(1, self.height - 2) {
            var spans: [ScreenSpan] = []
            if showsList { spans += list[row] }
            if self.isSplit { spans.append(ScreenSpan("│", .dim)) }
            if showsThread { spans += thread[row] }
            rows.append(spans)
        }
        rows.append([ScreenSpan(TerminalText.fitted(self.statusLine, to: self.width), self.isWarning ? .warning : .dim)])
        let prompt = self.focus == .input ? "> " : "  "
        let (text, column) = self.editor.visible(width: max(2, self.width - 3))
        rows.append([ScreenSpan(TerminalText.fitted(prompt + text, to: self.width))])
        rows = Array(rows.suffix(max(1, self.height)))
        return ScreenFrame(rows: rows, cursor: self.focus == .input ? (rows.count - 1, min(2 + column, self.width - 1)) : nil)
    }

    private var statusLine: String { self.typing.isEmpty ? self.status : self.typing + "  " + self.status }

    private mutating func listRows(width: Int) -> [[ScreenSpan]] {
        let height = max(1, self.height - 2)
        var rows: [[ScreenSpan]] = [[ScreenSpan(TerminalText.fitted(" Chats", to: width), .bold)]]
        let selected = self.conversations.firstIndex { $0.id == self.selected } ?? 0
        let room = max(1, height - 1)
        self.firstRow = min(max(self.firstRow, selected - room + 1), selected)
        self.firstRow = max(0, min(self.firstRow, self.conversations.count - room))
        for conversation in self.conversations.dropFirst(self.firstRow).prefix(room) {
            let style: ScreenSpan.Style =
                conversation.id == self.selected ? (self.focus == .list ? .reverse : .bold) : conversation.unread > 0 ? .accent : .normal
            let count = conversation.unread > 0 ? " (\(conversation.unread)) " : " "
            let title = (conversation.isPinned ? "* " : "  ") + TerminalText.plain(conversation.title)
            rows.append([ScreenSpan(TerminalText.fitted(title, to: max(0, width - count.count)) + count, style)])
        }
        while rows.count < height { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        return rows
    }

    private func threadRows() -> [[ScreenSpan]] {
        let width = self.threadWidth
        let title = self.conversations.first { $0.id == self.opened }.map { TerminalText.plain($0.title) } ?? "No conversation is open"
        var rows: [[ScreenSpan]] = [[ScreenSpan(TerminalText.fitted(" " + title, to: width), .bold)]]
        let all = self.messageRows
        let end = max(0, all.count - min(self.scroll, self.maximumScroll))
        let shown = all[max(0, end - self.bodyHeight)..<end]
        // Messages stand at the bottom, beside the input.
        for _ in 0..<(self.bodyHeight - shown.count) { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        rows += shown
        return rows
    }

    private var messageRows: [[ScreenSpan]] { self.messages.flatMap { self.rows(of: $0) } }

    private func rows(of message: ScreenMessage) -> [[ScreenSpan]] {
        let width = self.threadWidth
        if message.isNotice {
            return TerminalText.wrapped(message.text, to: width - 2).map { [ScreenSpan(TerminalText.fitted("  " + $0, to: width), .dim)] }
        }
        let mark: String =
            switch message.mark {
            case .none: ""
            case .waiting: " …"
            case .sent: " ✓"
            case .delivered: " ✓✓"
            case .read: " ✓✓ read"
            case .failed: " ! not sent"
            }
        let name = TerminalText.plain(message.sender)
        let head = TerminalText.fitted(" " + name + "  " + message.time + mark, to: width)
        let style: ScreenSpan.Style = message.mark == .failed ? .warning : message.isOwn ? .dim : .accent
        return [[ScreenSpan(head, style)]]
            + TerminalText.wrapped(message.text, to: width - 4).map { [ScreenSpan(TerminalText.fitted("   " + $0, to: width))] }
    }
}
