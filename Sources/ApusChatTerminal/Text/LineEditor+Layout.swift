/// The layout of the text in rows of a screen.
extension LineEditor {
    private static func width(_ character: Character) -> Int {
        character.isNewline || character == "\t" ? 1 : TerminalText.width(character)
    }

    private static func shown(_ characters: ArraySlice<Character>) -> String {
        characters.map { $0.isNewline ? "⏎" : TerminalText.plain(String($0)) }.joined()
    }

    /// Returns the part of the text around the cursor that fits in one row, and the cell of the
    /// cursor in it. A quarter of the row is reserved for text after the cursor.
    package func visible(width: Int) -> (text: String, cursor: Int) {
        let width = max(0, width)
        let right = self.characters[self.cursor...].reduce(0) { $0 + Self.width($1) }
        let limit = width - min(right, width / 4)
        var start = self.cursor
        var used = 0
        while start > 0 {
            let next = Self.width(self.characters[start - 1])
            if used + next > limit { break }
            used += next
            start -= 1
        }
        let cell = used
        var end = self.cursor
        while end < self.characters.count {
            let next = Self.width(self.characters[end])
            if used + next > width { break }
            used += next
            end += 1
        }
        return (Self.shown(self.characters[start..<end]), cell)
    }

    /// Wraps the text into rows. Returns at most `maximumRows` rows around the cursor, and the
    /// position of the cursor in these rows. The last cell of each row is reserved for the cursor.
    package func layout(width: Int, maximumRows: Int) -> (rows: [String], row: Int, column: Int) {
        let width = max(3, width)
        var rows: [ArraySlice<Character>] = []
        var place = (row: 0, column: 0)
        var start = 0
        var used = 0
        for index in 0...self.characters.count {
            if index == self.cursor { place = (rows.count, used) }
            guard index < self.characters.count else { break }
            let character = self.characters[index]
            if character.isNewline {
                rows.append(self.characters[start..<index])
                (start, used) = (index + 1, 0)
                continue
            }
            let next = Self.width(character)
            if used + next > width - 1 {
                rows.append(self.characters[start..<index])
                (start, used) = (index, 0)
                if index == self.cursor { place = (rows.count, 0) }
            }
            used += next
        }
        rows.append(self.characters[start...])
        let count = max(1, maximumRows)
        let first = min(max(0, place.row - count + 1), max(0, rows.count - count))
        return (rows[first...].prefix(count).map(Self.shown), place.row - first, place.column)
    }
}
