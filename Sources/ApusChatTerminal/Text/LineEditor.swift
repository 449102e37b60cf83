/// An editor of input text, with a cursor, a history and completion. The text can have several
/// lines.
package struct LineEditor: Sendable, Hashable {
    package private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    package private(set) var cursor = 0
    private var bytes = 0
    private var history: [String] = []
    /// The index of the shown history entry. The number of entries represents the new text.
    private var place = 0
    /// The new text while a history entry is shown.
    private var unfinished = ""
    /// The words that ``complete()`` completes.
    package var completions: [String] = []

    /// The maximum size of the text, in bytes of UTF-8. Further characters are not inserted.
    package static let maximumBytes = 32 * 1_024
    /// The maximum number of entries of the history.
    package static let maximumHistory = 500

    package init() {}

    package var text: String { String(self.characters) }
    package var before: String { String(self.characters[..<self.cursor]) }
    package var after: String { String(self.characters[self.cursor...]) }
    package var isEmpty: Bool { self.characters.isEmpty }
    /// Whether the text is a command. Two slashes begin a message that starts with one slash.
    package var isCommand: Bool { self.characters.first == "/" && self.characters.dropFirst().first != "/" }

    /// Replaces the text.
    package mutating func set(_ text: String) {
        self.characters = []
        self.cursor = 0
        self.bytes = 0
        self.insert(text)
    }

    /// Replaces the text with the beginning of a command. Adds an unsent message to the history, so
    /// that it is not lost.
    package mutating func begin(_ command: String) {
        _ = self.take(remembers: !self.isCommand)
        self.set(command)
    }

    /// Returns the text and empties the editor.
    ///
    /// - Parameter remembers: Whether to add the text to the history. A blank text and a repetition
    ///   of the last entry are never added. Default: `true`.
    package mutating func take(remembers: Bool = true) -> String {
        let text = self.text
        if remembers, text.contains(where: { !$0.isWhitespace }), self.history.last != text {
            self.history.append(text)
            if self.history.count > Self.maximumHistory { self.history.removeFirst() }
        }
        self.place = self.history.count
        self.unfinished = ""
        self.set("")
        return text
    }

    /// Handles a key. Returns whether the editor handled the key.
    package mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .character(let character): self.insert(String(character))
        case .paste(let text): self.insert(text)
        case .newline: self.insert("\n")
        case .backspace, .control("h"): self.remove(self.cursor - 1..<self.cursor)
        case .delete, .control("d"): self.remove(self.cursor..<self.cursor + 1)
        case .left, .control("b"): self.cursor = max(0, self.cursor - 1)
        case .right, .control("f"): self.cursor = min(self.characters.count, self.cursor + 1)
        case .home, .control("a"): self.cursor = self.lineStart
        case .end, .control("e"): self.cursor = self.lineEnd
        case .wordLeft, .alt("b"): self.cursor = self.wordStart
        case .wordRight, .alt("f"): self.cursor = self.wordEnd
        case .control("w"): self.remove(self.wordStart..<self.cursor)
        case .alt("d"): self.remove(self.cursor..<self.wordEnd)
        case .control("u"): self.remove(self.lineStart..<self.cursor)
        case .control("k"): self.remove(self.cursor..<self.lineEnd)
        case .up: if !self.moveLine(by: -1) { self.recall(self.place - 1) }
        case .down: if !self.moveLine(by: 1) { self.recall(self.place + 1) }
        case .control("p"): self.recall(self.place - 1)
        case .control("n"): self.recall(self.place + 1)
        default: return false
        }
        return true
    }

    private mutating func insert(_ text: String) {
        // Removes control characters other than tabs and line ends, because the terminal would
        // execute them.
        var new = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar == "\t" || scalar == "\n" || scalar.properties.generalCategory != .control {
            guard self.bytes + UTF8.width(scalar) <= Self.maximumBytes else { break }
            self.bytes += UTF8.width(scalar)
            new.append(scalar)
        }
        guard !new.isEmpty else { return }
        // A combining mark joins the character before the cursor.
        let last = self.cursor > 0 ? String(self.characters[self.cursor - 1]) : ""
        let joined = Array(last + String(new))
        let start = max(0, self.cursor - 1)
        self.characters.replaceSubrange(start..<self.cursor, with: joined)
        self.cursor = start + joined.count
    }

    private mutating func remove(_ range: Range<Int>) {
        let range = range.clamped(to: 0..<self.characters.count)
        self.bytes -= self.characters[range].reduce(0) { $0 + $1.utf8.count }
        self.characters.removeSubrange(range)
        self.cursor = min(range.lowerBound, self.characters.count)
    }

    private var lineStart: Int { (self.characters[..<self.cursor].lastIndex(where: \.isNewline) ?? -1) + 1 }
    private var lineEnd: Int { self.characters[self.cursor...].firstIndex(where: \.isNewline) ?? self.characters.count }

    /// Moves the cursor to the previous or next line of the text. Returns false at the first or
    /// last line.
    private mutating func moveLine(by step: Int) -> Bool {
        let column = self.cursor - self.lineStart
        let edge = step < 0 ? self.lineStart - 1 : self.lineEnd + 1
        guard (0...self.characters.count).contains(edge) else { return false }
        self.cursor = edge
        self.cursor = min(self.lineStart + column, self.lineEnd)
        return true
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

    // MARK: Completion

    /// Completes the word before the cursor: adds the characters that all matching words share, and
    /// a space if only one word matches. Returns whether a word matches. Ignores letter case.
    /// Completes a title with spaces only in a command.
    package mutating func complete() -> Bool {
        guard let (start, matching) = self.completed, let first = matching.first else { return false }
        let shared = matching.dropFirst().reduce(Substring(first)) { shared, word in
            shared.prefix(zip(shared, word).prefix { $0 == $1 }.count)
        }
        self.insert(String(shared.dropFirst(start.count)) + (Set(matching).count == 1 ? " " : ""))
        return true
    }

    /// The longest text before the cursor that begins a completion, and the completions that begin
    /// with it; nil if no line matches.
    private var completed: (start: String, matching: [String])? {
        let last = self.previousSpace
        for index in 0...last where index == last || self.isCommand && index > 0 && self.characters[index - 1].isWhitespace {
            let start = String(self.characters[index..<self.cursor])
            let matching = self.completions.filter { word in
                (self.isCommand || !word.contains(where: \.isWhitespace)) && word.count >= start.count
                    && word.prefix(start.count).lowercased() == start.lowercased()
            }
            if !start.isEmpty, !matching.isEmpty { return (start, matching) }
        }
        return nil
    }

    /// The words that match the word before the cursor, if there are several. Empty after a single
    /// character other than `/` and `@`.
    package var candidates: [String] {
        let start = String(self.characters[self.previousSpace..<self.cursor]).lowercased()
        guard start.count > 1 || start == "/" || start == "@" else { return [] }
        let matching = Set(
            self.completions.filter { $0.lowercased().hasPrefix(start) && (self.isCommand || !$0.contains(where: \.isWhitespace)) })
        return matching.count > 1 ? matching.sorted() : []
    }

    private var previousSpace: Int {
        var index = self.cursor
        while index > 0, !self.characters[index - 1].isWhitespace { index -= 1 }
        return index
    }
}
