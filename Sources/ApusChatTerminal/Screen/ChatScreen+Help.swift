/// The text of the help.
extension ChatScreen {
    static var help: ScreenPanel {
        let keys: [(String, String)] = [
            ("Enter", "send; open the selected conversation"), ("Alt+Enter, Ctrl+J", "a new line"),
            ("Tab", "complete a command, @name or title; else to the list"), ("Esc", "back: close, end, to the list"),
            ("↑ ↓", "in the input: the history; ↑ in an empty input selects messages"), ("Page ↑ ↓", "scroll the messages"),
            ("Ctrl+↑, Shift+Tab", "select messages"), ("Ctrl+L", "draw the screen again"),
            ("Ctrl+C", "discard the input; quit if it is empty"),
            ("Ctrl+Z", "suspend"), ("F1, ?", "this help"),
        ]
        let selection: [(String, String)] = [
            ("r, Enter", "reply"), ("e", "edit"), ("+", "react"), ("f", "forward"), ("t", "thread"), ("v", "vote"), ("p", "pin"),
            ("d", "recall for all"), ("x", "hide from yourself"), ("s", "save the file"), ("o", "open the file"),
            ("i", "list its readers"), ("w", "list its reactions"),
        ]
        func lines(_ title: String, _ keys: [(String, String)]) -> [ScreenPanel.Line] {
            [.init(title, .bold)] + keys.map { .init(TerminalText.padded("  " + $0.0, to: 22) + $0.1, indent: 22) } + [.init("")]
        }
        let list: [(String, String)] = [("↑ ↓, j k", "select"), ("n", "the next one with unread messages"), ("q", "quit")]
        var all = lines("Keys", keys) + lines("A selected message", selection) + lines("The list", list)
        for (title, commands) in ChatCommandName.groups {
            all.append(.init(title, .bold))
            for command in commands {
                let usage = "  " + command.usage
                if usage.count > 20 { all.append(.init(usage)) }
                all.append(
                    .init(TerminalText.padded(usage.count > 20 ? "" : usage, to: 22) + command.form.help, indent: 22))
            }
            all.append(.init(""))
        }
        all += ChatCommandName.helpNotes.map { ScreenPanel.Line($0) }
        return ScreenPanel(title: "Help", lines: all)
    }
}
