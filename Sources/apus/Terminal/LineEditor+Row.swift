extension LineEditor {
    /// The visible row of the terminal.
    struct Row: Equatable, Sendable {
        var prompt: String
        /// The text, or the part of it around the cursor.
        var text: String
        /// The column of the cursor, from 0.
        var cursor: Int

        /// The control sequence that erases the row and everything below it, including parts that a
        /// narrowed terminal has wrapped.
        static let erasure = "\r\u{1b}[J"

        /// The text that draws the row, independent of the cursor's current column.
        var screenText: String {
            let move = self.cursor > 0 ? "\u{1b}[\(self.cursor)C" : ""
            return Self.erasure + self.prompt + self.text + "\r" + move
        }
    }

    /// Returns the row for a terminal of `columns` columns. The last column stays empty, because
    /// some terminals wrap when it is written.
    ///
    /// - Parameter style: Adds control sequences to the prompt, which must not occupy columns.
    func row(prompt: String, columns: Int, style: (String) -> String = { $0 }) -> Row {
        let available = max(columns - 1, 2)
        let shown = Self.cut(prompt, to: available / 2)
        let promptWidth = TerminalText.columns(shown)
        let room = available - promptWidth
        let left = Array(self.before.replacing("\t", with: " "))
        let right = Array(self.after.replacing("\t", with: " "))
        let rightWidth = TerminalText.columns(self.after)

        // Up to a quarter of the width shows the text after the cursor.
        var start = left.count
        var width = 0
        let limit = room - min(rightWidth, room / 4)
        while start > 0, width + TerminalText.columns(left[start - 1]) <= limit {
            start -= 1
            width += TerminalText.columns(left[start])
        }
        let cursor = promptWidth + width
        var end = 0
        while end < right.count, width + TerminalText.columns(right[end]) <= room {
            width += TerminalText.columns(right[end])
            end += 1
        }
        return Row(prompt: style(shown), text: String(left[start...]) + String(right[..<end]), cursor: cursor)
    }

    private static func cut(_ prompt: String, to width: Int) -> String {
        guard TerminalText.columns(prompt) > width else { return prompt }
        var result = ""
        var taken = 3  // "…> "
        for character in prompt {
            taken += TerminalText.columns(character)
            guard taken <= width else { break }
            result.append(character)
        }
        return result + "…> "
    }
}
