/// A line of input with a cursor and a history.
package struct LineEditor: Sendable, Hashable {
    package private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    package private(set) var cursor = 0
    private var history: [String] = []
    /// The place in the history; the number of entries stands for the new line.
    private var place = 0
    /// The new line, while an entry of the history is shown.
    private var unfinished = ""
    private static let maximumHistory = 100

    package init() {}

    package var text: String { String(self.characters) }

    /// Replaces the line.
    package mutating func set(_ text: String) {
        self.characters = Array(text)
        self.cursor = self.characters.count
    }

    /// Empties the line and adds it to the history.
    package mutating func take() -> String {
        let text = self.text
        if !text.isEmpty, self.history.last != text {
            self.history.append(text)
            if self.history.count > Self.maximumHistory { self.history.removeFirst() }
        }
        self.place = self.history.count
        self.unfinished = ""
        self.set("")
        return text
    }

    /// Handles a key. Returns whether it is a key of the editor.
    package mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .character(let character): self.insert([character])
        case .paste(let text): self.insert(Array(text))
        case .backspace, .control("h"): self.remove(self.cursor - 1..<self.cursor)
        case .delete, .control("d"): self.remove(self.cursor..<self.cursor + 1)
        case .left, .control("b"): self.cursor = max(0, self.cursor - 1)
        case .right, .control("f"): self.cursor = min(self.characters.count, self.cursor + 1)
        case .home, .control("a"): self.cursor = 0
        case .end, .control("e"): self.cursor = self.characters.count
        case .wordLeft, .alt("b"): self.cursor = self.wordStart
        case .wordRight, .alt("f"): self.cursor = self.wordEnd
        case .control("w"): self.remove(self.wordStart..<self.cursor)
        case .alt("d"): self.remove(self.cursor..<self.wordEnd)
        case .control("u"): self.remove(0..<self.cursor)
        case .control("k"): self.remove(self.cursor..<self.characters.count)
        case .up, .control("p"): self.recall(self.place - 1)
        case .down, .control("n"): self.recall(self.place + 1)
        default: return false
        }
        return true
    }

    private mutating func insert(_ new: [Character]) {
        // A combining mark joins the character before the cursor.
        let before = String(self.characters[..<self.cursor] + new)
        let after = self.characters[self.cursor...]
        let joined = Array(before)
        self.characters = joined + after
        self.cursor = joined.count
    }

    private mutating func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<self.characters.count)
        self.characters.removeSubrange(range)
        self.cursor = min(range.lowerBound, self.characters.count)
    }

    private var wordStart: Int {
        var index = self.cursor
        while index > 0, self.characters[index - 1].isWhitespace { index -= 1 }
        while index > 0, !self.characters[index - 1].isWhitespace { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = self.cursor
        while index < self.characters.count, self.characters[index].isWhitespace { index += 1 }
        while index < self.characters.count, !self.characters[index].isWhitespace { index += 1 }
        return index
    }

    private mutating func recall(_ place: Int) {
        guard (0...self.history.count).contains(place) else { return }
        if self.place == self.history.count { self.unfinished = self.text }
        self.place = place
        self.set(place == self.history.count ? self.unfinished : self.history[place])
    }

    /// The part of the line around the cursor that has room, and the cell of the cursor in it.
    package func visible(width: Int) -> (text: String, cursor: Int) {
        let width = max(2, width)
        var start = self.cursor
        var used = 0
        // One cell remains for the cursor.
        while start > 0 {
            let next = Self.width(self.characters[start - 1])
            if used + next > width - 1 { break }
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
        return (String(self.characters[start..<end].map { $0.isNewline ? "⏎" : $0 }), cell)
    }

    private static func width(_ character: Character) -> Int { character.isNewline ? 1 : TerminalText.width(character) }
}
