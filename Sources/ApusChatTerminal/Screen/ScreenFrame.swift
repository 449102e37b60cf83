/// A part of a row with one style.
package struct ScreenSpan: Hashable, Sendable {
    package enum Style: Hashable, Sendable { case normal, bold, dim, reverse, accent, warning }
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .normal) {
        self.text = text
        self.style = style
    }
}

/// The content of a screen: one list of spans a row, and the cursor.
package struct ScreenFrame: Hashable, Sendable {
    package var rows: [[ScreenSpan]]
    /// The place of the cursor, counted from 0; nil hides it.
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

    /// The bytes that turn an earlier frame of the same size into this one: the changed rows only,
    /// in one synchronized update, so that the screen does not flicker.
    package func output(after old: ScreenFrame?) -> String {
        let isWhole = old?.rows.count != self.rows.count
        var output = "\u{1B}[?2026h\u{1B}[?25l"
        if isWhole { output += "\u{1B}[2J" }
        for (index, row) in self.rows.enumerated() where isWhole || old?.rows[index] != row {
            output += "\u{1B}[\(index + 1);1H"
            for span in row { output += Self.code(span.style) + span.text }
            output += "\u{1B}[0m\u{1B}[K"
        }
        if let cursor = self.cursor { output += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h" }
        return output + "\u{1B}[?2026l"
    }

    private static func code(_ style: ScreenSpan.Style) -> String {
        switch style {
        case .normal: "\u{1B}[0m"
        case .bold: "\u{1B}[0;1m"
        case .dim: "\u{1B}[0;2m"
        case .reverse: "\u{1B}[0;7m"
        case .accent: "\u{1B}[0;36m"
        case .warning: "\u{1B}[0;31m"
        }
    }
}
