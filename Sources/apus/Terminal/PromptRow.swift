import ApusChatTerminal

/// The row of a terminal in which a line is edited: a prompt and the part of the text around the
/// cursor. It never wraps.
struct PromptRow: Equatable, Sendable {
    var prompt: String
    var text: String
    /// The column of the cursor, from 0.
    var cursor: Int

    /// Lays out the row for a terminal of `columns` columns. The last column stays empty, because
    /// some terminals wrap when it is written.
    ///
    /// - Parameter style: A closure that adds control sequences to the prompt. It must not add
    ///   visible characters.
    init(_ editor: LineEditor, prompt: String, columns: Int, style: (String) -> String = { $0 }) {
        let available = max(columns - 1, 2)
        let shown = Self.cut(prompt, to: available / 2)
        let width = TerminalText.width(shown)
        let (text, cursor) = editor.visible(width: available - width)
        self.init(prompt: style(shown), text: text, cursor: width + cursor)
    }

    init(prompt: String, text: String, cursor: Int) {
        self.prompt = prompt
        self.text = text
        self.cursor = cursor
    }

    /// The control sequence that erases the row and everything below it, including parts that a
    /// narrowed terminal has wrapped.
    static let erasure = "\r\u{1b}[J"

    /// The text that draws the row, regardless of the cursor's current column.
    var screenText: String {
        let move = self.cursor > 0 ? "\u{1b}[\(self.cursor)C" : ""
        return Self.erasure + self.prompt + self.text + "\r" + move
    }

    private static func cut(_ prompt: String, to width: Int) -> String {
        guard TerminalText.width(prompt) > width else { return prompt }
        var result = ""
        var taken = 3  // "…> "
        for character in prompt {
            taken += TerminalText.width(character)
            guard taken <= width else { break }
            result.append(character)
        }
        return result + "…> "
    }
}
