/// The output of the screen.
extension ChatScreen {
    /// Returns the frame of the whole screen.
    package mutating func frame() -> ScreenFrame {
        let input = self.input
        let height = self.mainHeight
        let list = self.isListShown ? self.listRows(height) : []
        let isThreadShown = self.isSplit || !self.isListShown
        let thread = isThreadShown ? (self.panel == nil ? self.threadRows(height) : self.panelRows(height)) : []
        self.lastVisible = isThreadShown && self.panel == nil ? self.lastVisible : nil
        var rows: [[ScreenSpan]] = []
        for row in 0..<height {
            var spans: [ScreenSpan] = []
            if self.isListShown { spans += list[row] }
            if self.isSplit { spans.append(ScreenSpan("│", .dim)) }
            if isThreadShown { spans += thread[row] }
            rows.append(spans)
        }
        rows.append(self.statusRow)
        let hasInput = self.focus == .input && self.panel?.selected == nil
        for (index, row) in input.rows.enumerated() {
            let prompt = index > 0 ? "  " : self.focus == .input ? "❯ " : "  "
            rows.append(Self.fitted([ScreenSpan(prompt, .accent), ScreenSpan(row)], to: self.width))
        }
        let dropped = max(0, rows.count - self.height)
        rows.removeFirst(dropped)
        let line = rows.count - input.rows.count + input.row
        return ScreenFrame(
            rows: rows, cursor: hasInput && rows.indices.contains(line) ? (line, min(2 + input.column, self.width - 1)) : nil)
    }

    private var statusEnd: String { self.connection.isEmpty ? "F1 help" : TerminalText.plain(self.connection) }

    /// The maximum width of a notice in the status line, in cells.
    var noticeWidth: Int { max(0, self.width - TerminalText.width(self.statusEnd) - 3) }

    /// The syntax and the effect of the command in the input; nil for other input.
    private var commandHint: String? {
        guard let name = self.editor.text.split(whereSeparator: \.isWhitespace).first, name.first == "/",
            let command = ChatCommandName.byName[name.dropFirst().lowercased()]
        else { return nil }
        return "\(command.usage)  Enter: \(command.form.help)"
    }

    private var statusRow: [ScreenSpan] {
        var style = ScreenStyle.reverse
        let candidates = self.focus == .input ? self.editor.candidates : []
        var left = self.notice
        if self.isWarning { style.colour = .red }
        if left.isEmpty, !candidates.isEmpty { left = candidates.joined(separator: "  ") }
        if left.isEmpty { left = self.typing }
        if left.isEmpty, self.panel == nil {
            switch self.focus {
            case .list: left = "Enter open  n next unread  / command  ? help"
            case .messages: left = "#\(self.markedSeq.map(String.init) ?? "") r reply  e edit  + react  t thread  d recall  ? help"
            case .input:
                left =
                    self.commandHint
                    ?? (self.bottom != nil || self.hasLater
                        ? (self.unread > 0 ? "\(self.unread) new below  Esc end" : "Esc end of the messages")
                        : "F1 help  ↑ select a message  Esc list")
            }
        }
        if left.isEmpty, self.panel != nil {
            left = self.panel?.selected == nil ? "↑ ↓ scroll  Esc close" : "↑ ↓ choose  Enter perform  Esc close"
        }
        let right = self.statusEnd
        let room = self.noticeWidth
        let rightStyle: ScreenStyle = self.isOnline ? .reverse : ScreenStyle(colour: .yellow, isReverse: true)
        return Self.fitted(
            [ScreenSpan(" " + TerminalText.fitted(TerminalText.plain(left), to: room) + " ", style), ScreenSpan(right + " ", rightStyle)],
            to: self.width)
    }

    // MARK: The list

    private mutating func listRows(_ height: Int) -> [[ScreenSpan]] {
        let width = self.listWidth
        let unread = self.conversations.count { $0.unread > 0 && !$0.isMuted }
        let title = " Chats" + (unread > 0 ? " (\(unread))" : "")
        var rows: [[ScreenSpan]] = [[ScreenSpan(TerminalText.fitted(title, to: width), .bold)]]
        let selected = self.conversations.firstIndex { $0.id == self.selected } ?? 0
        let room = max(1, height - 1)
        self.firstConversation = min(max(self.firstConversation, selected - room + 1), selected)
        self.firstConversation = max(0, min(self.firstConversation, self.conversations.count - room))
        for conversation in self.conversations.dropFirst(self.firstConversation).prefix(room) {
            rows.append(self.row(of: conversation, width: width))
        }
        if self.conversations.isEmpty {
            for line in TerminalText.wrapped("No conversations yet. /users NAME finds users, /open NAME starts one.", to: width - 2) {
                rows.append([ScreenSpan(TerminalText.fitted(" " + line, to: width), .dim)])
            }
        }
        while rows.count < height { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        return Array(rows.prefix(height))
    }

    private func row(of conversation: ScreenConversation, width: Int) -> [ScreenSpan] {
        let isSelected = conversation.id == self.selected && self.focus == .list
        let isUnread = conversation.unread > 0 || conversation.isMarked
        var style = ScreenStyle()
        style.isReverse = isSelected
        style.isBold = isUnread || conversation.id == self.opened
        style.isDim = conversation.isMuted && !isSelected
        if isUnread, !conversation.isMuted { style.colour = .cyan }
        let lead = conversation.id == self.opened ? "▸" : conversation.isPinned ? "^" : " "
        let count =
            conversation.unread > 999 ? "999+" : conversation.unread > 0 ? String(conversation.unread) : conversation.isMarked ? "•" : ""
        let tail = (conversation.mentions > 0 ? "@" : "") + count
        let quiet = conversation.isMuted ? " z" : conversation.notifiesMentionsOnly ? " z@" : ""
        let extra = (conversation.hasDraft ? " ✎" : "") + quiet + (conversation.isOnline ? " ●" : "")
        var title = TerminalText.plain(conversation.title) + extra
        // A wide list also shows the newest message.
        if width >= 34, !conversation.preview.isEmpty { title += "  " }
        let room = max(0, width - 3 - TerminalText.width(tail) - 1)
        let shown = TerminalText.width(title)
        guard width >= 34, shown + 6 < room, !conversation.preview.isEmpty else {
            return Self.fitted([ScreenSpan(lead + " " + TerminalText.fitted(title, to: room) + " " + tail + " ", style)], to: width)
        }
        var faint = ScreenStyle.dim
        faint.isReverse = isSelected
        return Self.fitted(
            [
                ScreenSpan(lead + " " + title, style),
                ScreenSpan(TerminalText.fitted(TerminalText.plain(conversation.preview), to: room - shown), faint),
                ScreenSpan(" " + tail + " ", style),
            ], to: width)
    }

    // MARK: The messages

    private mutating func threadRows(_ height: Int) -> [[ScreenSpan]] {
        let width = self.threadWidth
        guard let opened = self.opened else { return self.welcomeRows(height) }
        let title = self.conversations.first { $0.id == opened }.map { TerminalText.plain($0.title) } ?? ""
        let head = (self.isThread ? " Thread in " : " ") + title
        var rows: [[ScreenSpan]] = [
            Self.fitted([ScreenSpan(head, .bold), ScreenSpan("  " + TerminalText.plain(self.subtitle), .dim)], to: width)
        ]
        let shown = self.visibleRows()
        // Aligns the messages to the bottom, next to the input.
        for _ in 0..<max(0, self.bodyHeight - shown.count) { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        rows += shown
        return Array(rows.prefix(height))
    }

    private func welcomeRows(_ height: Int) -> [[ScreenSpan]] {
        let width = self.threadWidth
        let lines = [
            "", " Select a conversation with ↑ ↓ and Enter,", " or type /open NAME. /users NAME finds people.", "",
            " F1 shows the keys and commands.",
        ]
        var rows = lines.map { [ScreenSpan(TerminalText.fitted($0, to: width), .dim)] }
        while rows.count < height { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        return Array(rows.prefix(height))
    }

    // MARK: The panel

    /// Wraps a text of two columns. The first column has `indent` characters. Further rows of the
    /// second column are indented to its start.
    private static func wrapped(_ text: String, to width: Int, indent: Int) -> [String] {
        let characters = Array(text)
        let head = String(characters.prefix(indent))
        let rows = TerminalText.wrapped(String(characters.dropFirst(indent)), to: max(2, width - indent))
        return rows.enumerated().map { ($0.offset == 0 ? head : String(repeating: " ", count: indent)) + $0.element }
    }

    private mutating func panelRows(_ height: Int) -> [[ScreenSpan]] {
        guard var panel = self.panel else { return [] }
        let width = self.threadWidth
        var rows: [[ScreenSpan]] = [[ScreenSpan(TerminalText.fitted(" " + TerminalText.plain(panel.title), to: width), .bold)]]
        var body: [[ScreenSpan]] = []
        var places: [Range<Int>] = []
        for (index, line) in panel.lines.enumerated() {
            let start = body.count
            var style = line.style
            style.isReverse = index == panel.selected
            let indent = min(line.indent, width / 2)
            let texts = TerminalText.wrapped(line.text, to: max(2, width - 2))
            for text in texts.count > 1 && indent > 0 ? Self.wrapped(line.text, to: width - 2, indent: indent) : texts {
                body.append([ScreenSpan(TerminalText.fitted(" " + text, to: width), style)])
            }
            places.append(start..<body.count)
        }
        let room = max(1, height - 1)
        if let selected = panel.selected, places.indices.contains(selected) {
            panel.first = min(max(panel.first, places[selected].upperBound - room), places[selected].lowerBound)
        }
        panel.first = max(0, min(panel.first, body.count - room))
        self.panel?.first = panel.first
        rows += body.dropFirst(panel.first).prefix(room)
        while rows.count < height { rows.append([ScreenSpan(String(repeating: " ", count: width))]) }
        return Array(rows.prefix(height))
    }
}
