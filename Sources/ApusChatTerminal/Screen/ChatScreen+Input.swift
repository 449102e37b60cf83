/// The handling of keys.
extension ChatScreen {
    package mutating func handle(_ key: Key) -> [ScreenAction] {
        switch key {
        case .control("q"): return [.quit]
        case .control("z"): return [.suspend]
        case .control("l"): return [.redraw]
        case .function(1): return self.showHelp()
        case .control("c"):
            if self.panel != nil || self.marked != nil || !self.editor.isEmpty {
                self.closePanel()
                self.marked = nil
                if self.focus == .messages { self.focus = .input }
                _ = self.editor.take(remembers: false)
                return []
            }
            return [.quit]
        case .pageUp where self.panel == nil: return self.scroll(by: -max(1, self.bodyHeight - 1))
        case .pageDown where self.panel == nil: return self.scroll(by: max(1, self.bodyHeight - 1))
        default: break
        }
        if self.panel != nil, let actions = self.handleInPanel(key) { return actions }
        switch self.focus {
        case .list: return self.handleInList(key)
        case .messages: return self.handleInMessages(key)
        case .input: return self.handleInInput(key)
        }
    }

    private mutating func closePanel() { self.panel = nil }

    private mutating func showHelp() -> [ScreenAction] {
        self.panel = Self.help
        return []
    }

    // MARK: The list

    private mutating func handleInList(_ key: Key) -> [ScreenAction] {
        let index = self.conversations.firstIndex { $0.id == self.selected } ?? -1
        switch key {
        case .up, .control("p"), .character("k"): self.select(max(0, index - 1))
        case .down, .control("n"), .character("j"): self.select(min(self.conversations.count - 1, index + 1))
        case .home, .character("g"): self.select(0)
        case .end, .character("G"): self.select(self.conversations.count - 1)
        case .character("q"): return [.quit]
        case .character("?"): return self.showHelp()
        case .character("n"):
            // Finds the next conversation with unread messages, beginning after the selected one.
            let order = self.conversations.indices.map { (index + 1 + $0) % self.conversations.count }
            if let next = order.first(where: { self.conversations[$0].unread > 0 || self.conversations[$0].isMarked }) { self.select(next) }
        case .character("/"):
            self.editor.begin("/")
            self.focus = .input
        case .tab, .backTab, .escape: if self.opened != nil { self.focus = .input }
        case .enter, .right, .newline:
            guard let selected = self.selected ?? self.conversations.first?.id else { return [] }
            return [.open(conversation: selected)]
        default: break
        }
        return []
    }

    private mutating func select(_ index: Int) {
        guard self.conversations.indices.contains(index) else { return }
        self.selected = self.conversations[index].id
    }

    // MARK: The messages

    private mutating func handleInMessages(_ key: Key) -> [ScreenAction] {
        switch key {
        case .up, .markUp, .character("k"): return self.moveMark(by: -1)
        case .down, .markDown, .character("j"): return self.moveMark(by: 1)
        case .home, .character("g"): return self.moveMark(by: -self.messages.count)
        case .end, .character("G"): return self.moveMark(by: self.messages.count)
        case .character("?"): return self.showHelp()
        case .character("r"), .enter: self.begin("/reply")
        case .character("e"): self.beginEdit()
        case .character("+"), .character("a"): self.begin("/react")
        case .character("f"): self.begin("/forward")
        case .character("v"): self.begin("/vote")
        case .character("d"): self.begin("/recall", isComplete: true)
        case .character("x"): self.begin("/hide", isComplete: true)
        case .character("s"): self.begin("/save", isComplete: true)
        case .character("o"): return self.submit("/view")
        case .character("t"): return self.submit("/thread")
        case .character("p"): return self.submit("/pin")
        case .character("i"): return self.submit("/readers")
        case .character("w"): return self.submit("/reactions")
        case .character("/"):
            self.editor.begin("/")
            self.focus = .input
        case .escape, .tab, .backTab, .character("q"): self.followEnd()
        default: break
        }
        return []
    }

    /// Replaces the input with a command for the selected message.
    private mutating func begin(_ command: String, isComplete: Bool = false) {
        guard let seq = self.markedSeq else { return }
        self.editor.begin("\(command) #\(seq)\(isComplete ? "" : " ")")
        self.focus = .input
    }

    private mutating func beginEdit() {
        guard let message = self.messages.first(where: { $0.id == self.marked }), message.isOwn, let seq = message.seq else { return }
        self.editor.begin("/edit #\(seq) " + message.source)
        self.focus = .input
    }

    private func submit(_ command: String) -> [ScreenAction] {
        self.markedSeq.map { [.submit("\(command) #\($0)")] } ?? []
    }

    private mutating func moveMark(by step: Int) -> [ScreenAction] {
        let places = self.messages.indices.filter { self.messages[$0].seq != nil && !self.messages[$0].isNotice }
        guard let last = places.last else { return [] }
        let now = self.messages.firstIndex { $0.id == self.marked }
        let place = now.flatMap { now in places.firstIndex { $0 >= now } }
        guard let place else {
            self.mark(self.messages[last].id)
            return []
        }
        if place + step >= places.count, step == 1, !self.hasLater {
            self.followEnd()
            return []
        }
        let next = min(max(0, place + step), places.count - 1)
        self.mark(self.messages[places[next]].id)
        if next == 0, step < 0, self.hasEarlier { return [.loadEarlier] }
        return next == places.count - 1 && step > 0 && self.hasLater ? [.loadLater] : []
    }

    // MARK: The input

    private mutating func handleInInput(_ key: Key) -> [ScreenAction] {
        switch key {
        case .enter:
            let text = self.editor.take()
            guard text.contains(where: { !$0.isWhitespace }) else { return [] }
            return [.submit(text)]
        case .tab where self.editor.complete(): return []
        case .tab: self.focus = .list
        case .backTab, .markUp: return self.moveMark(by: 0)
        case .up where self.editor.isEmpty && self.opened != nil: return self.moveMark(by: 0)
        case .escape:
            if self.editor.isCommand {
                _ = self.editor.take(remembers: false)
            } else if self.marked != nil {
                self.marked = nil
            } else if self.isThread {
                return [.leaveThread]
            } else if self.bottom != nil || self.hasLater {
                self.bottom = nil
                return [.toEnd]
            } else {
                self.focus = .list
            }
        case .control("d") where self.editor.isEmpty: return [.quit]
        case .character("?") where self.editor.isEmpty && self.opened == nil: return self.showHelp()
        default:
            let before = self.editor.characters
            guard self.editor.handle(key) else { return [] }
            return self.editor.characters != before && self.opened != nil && !self.editor.isCommand ? [.typing] : []
        }
        return []
    }

    // MARK: The panel

    /// Handles a key of the panel. Returns nil for a key that the panel does not handle.
    private mutating func handleInPanel(_ key: Key) -> [ScreenAction]? {
        guard var panel = self.panel else { return nil }
        let page = max(1, self.bodyHeight - 1)
        switch key {
        case .escape, .character("q"), .character("?"):
            self.closePanel()
            return []
        case .up, .control("p"), .character("k"): panel.move(by: -1)
        case .down, .control("n"), .character("j"): panel.move(by: 1)
        case .pageUp: panel.move(by: -page)
        case .pageDown, .character(" "): panel.move(by: page)
        case .home, .character("g"): panel.move(by: -panel.lines.count)
        case .end, .character("G"): panel.move(by: panel.lines.count)
        case .enter:
            let command = panel.selected.flatMap { panel.lines.indices.contains($0) ? panel.lines[$0].command : nil }
            self.closePanel()
            return command.map { [.submit($0)] } ?? []
        default:
            // Any other key closes the panel, and the focused part of the screen handles it.
            self.closePanel()
            return nil
        }
        self.panel = panel
        return []
    }
}

extension ScreenPanel {
    /// Moves the selection by a number of selectable lines. Scrolls if no line can be selected.
    mutating func move(by step: Int) {
        guard let selected = self.selected else {
            self.first = min(max(0, self.first + step), max(0, self.lines.count - 1))
            return
        }
        let places = self.lines.indices.filter { self.lines[$0].command != nil }
        guard let place = places.firstIndex(of: selected) else { return }
        self.selected = places[min(max(0, place + step), places.count - 1)]
    }
}
