/// The content of a screen: a list of spans for each row, and the cursor.
package struct ScreenFrame: Hashable, Sendable {
    package var rows: [[ScreenSpan]]
    /// The position of the cursor, counted from 0; nil for a hidden cursor.
    package var cursor: (row: Int, column: Int)? {
        get { self.cursorRow.map { ($0, self.cursorColumn) } }
        set { (self.cursorRow, self.cursorColumn) = (newValue?.row, newValue?.column ?? 0) }
    }
    private var cursorRow: Int?
    private var cursorColumn = 0

    package init(rows: [[ScreenSpan]], cursor: (row: Int, column: Int)? = nil) {
        self.rows = rows
        self.cursor = cursor
    }

    /// The text of the rows, without styles.
    package var text: [String] { self.rows.map { $0.map(\.text).joined() } }

    /// Returns the output that changes the terminal from an earlier frame to this one. It is one
    /// synchronized update, so that the screen does not flicker.
    ///
    /// The output contains only the changed rows. If `old` is nil or has a different number of
    /// rows, the output contains all rows.
    package func output(after old: ScreenFrame?, hasColour: Bool = true) -> String {
        let isWhole = old?.rows.count != self.rows.count
        var output = "\u{1B}[?2026h\u{1B}[?25l"
        if isWhole { output += "\u{1B}[0m\u{1B}[2J" }
        for (index, row) in self.rows.enumerated() where isWhole || old?.rows[index] != row {
            output += "\u{1B}[\(index + 1);1H"
            // A terminal can show an emoji with a different width, so a row that contains one is
            // erased first.
            if !isWhole, !row.allSatisfy(\.isNarrow) || old?.rows[index].allSatisfy(\.isNarrow) == false { output += "\u{1B}[0m\u{1B}[2K" }
            var column = 1
            var isCertain = true
            for span in row {
                if !isCertain { output += "\u{1B}[\(column)G" }
                output += span.style.code(hasColour: hasColour) + span.text
                column += span.width
                isCertain = span.isNarrow
            }
            output += "\u{1B}[0m"
        }
        if let cursor = self.cursor { output += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h" }
        return output + "\u{1B}[?2026l"
    }
}

extension ScreenSpan {
    /// Whether all terminals show the text with the same width.
    fileprivate var isNarrow: Bool { self.text.unicodeScalars.allSatisfy { $0.value < 0x300 } }
}
