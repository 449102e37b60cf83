/// Edits one line of text: processes the bytes of the keyboard, and provides the row to show.
///
/// It uses neither a terminal nor a clock; `TerminalPrompt` reads the bytes and writes the row. The
/// row never wraps: it shows the part around the cursor of a text wider than the terminal.
struct LineEditor: Sendable {
    enum Action: Equatable, Sendable {
        /// Enter: submits the line and clears the editor.
        case submit(String)
        /// Ctrl-C with a text: discards the text and clears the editor.
        case discard(String)
        /// Ctrl-C without a text.
        case interrupt
        /// Ctrl-D without a text.
        case endOfInput
        /// Ctrl-Z.
        case suspend
        /// Ctrl-L.
        case clearScreen
    }

    /// The maximum length of the text in bytes of UTF-8. Further characters are not inserted.
    static let maximumBytes = 32 * 1_024
    /// The maximum number of lines in the history.
    static let maximumHistory = 500

    private var keys = TerminalKeyDecoder()
    /// The text before the cursor.
    private(set) var before = ""
    /// The text after the cursor.
    private(set) var after = ""
    private var history: [String] = []
    /// The index of the history line being edited; `nil` for a new line.
    private var recalled: Int?
    /// The new line while a history line is being edited.
    private var stashed = ""

    /// The words that Tab completes. Without a matching word, Tab is a character.
    var completions: [String] = []

    var text: String { self.before + self.after }

    /// Processes bytes of the keyboard, in pieces of any size.
    /// - Returns: The resulting actions, in order. The row may change without an action.
    mutating func received(_ bytes: some Sequence<UInt8>) -> [Action] {
        bytes.flatMap { self.keys.received($0) }.compactMap { self.pressed($0) }
    }

    private mutating func pressed(_ key: TerminalKey) -> Action? {
        switch key {
        case .character("\t"):
            if let rest = Self.completion(of: self.before, from: self.completions) {
                for scalar in rest.unicodeScalars { self.insert(scalar) }
            } else {
                self.insert("\t")
            }
        case .character(let scalar): self.insert(scalar)
        case .enter: return .submit(self.taken(intoHistory: true))
        case .backspace, .control("h"): _ = self.before.popLast()
        case .delete: self.deleteForward()
        case .left, .control("b"): if let last = self.before.popLast() { self.after.insert(last, at: self.after.startIndex) }
        case .right, .control("f"): if !self.after.isEmpty { self.before.append(self.after.removeFirst()) }
        case .wordLeft: self.moveBack(while: \.isWhitespace, then: { !$0.isWhitespace })
        case .wordRight: self.moveForward(while: \.isWhitespace, then: { !$0.isWhitespace })
        case .home, .control("a"): self.place(before: "", after: self.text)
        case .end, .control("e"): self.place(before: self.text, after: "")
        case .up, .control("p"): self.recall(by: -1)
        case .down, .control("n"): self.recall(by: 1)
        case .control("u"): self.before = ""
        case .control("k"): self.after = ""
        case .control("w"):
            while self.before.last?.isWhitespace == true { self.before.removeLast() }
            while self.before.last?.isWhitespace == false { self.before.removeLast() }
        case .control("c"): return self.text.isEmpty ? .interrupt : .discard(self.taken(intoHistory: false))
        case .control("d"):
            if self.text.isEmpty { return .endOfInput }
            self.deleteForward()
        case .control("l"): return .clearScreen
        case .control("z"): return .suspend
        case .control: break
        }
        return nil
    }

    private mutating func insert(_ scalar: Unicode.Scalar) {
        // A tab may be part of a text; the terminal would execute other control characters.
        guard scalar == "\t" || scalar.properties.generalCategory != .control else { return }
        guard self.before.utf8.count + self.after.utf8.count + UTF8.width(scalar) <= Self.maximumBytes else { return }
        self.before.unicodeScalars.append(scalar)
    }

    private mutating func deleteForward() { if !self.after.isEmpty { self.after.removeFirst() } }

    private mutating func place(before: String, after: String) {
        self.before = before
        self.after = after
    }

    private mutating func moveBack(while first: (Character) -> Bool, then second: (Character) -> Bool) {
        var start = self.before[...]
        while let last = start.last, first(last) { start.removeLast() }
        while let last = start.last, second(last) { start.removeLast() }
        self.place(before: String(start), after: self.before[start.endIndex...] + self.after)
    }

    private mutating func moveForward(while first: (Character) -> Bool, then second: (Character) -> Bool) {
        let rest = self.after.drop(while: first).drop(while: second)
        self.place(before: self.before + self.after[..<rest.startIndex], after: String(rest))
    }

    private mutating func taken(intoHistory isRemembered: Bool) -> String {
        let line = self.text
        self.place(before: "", after: "")
        self.recalled = nil
        self.stashed = ""
        if isRemembered, line.contains(where: { !$0.isWhitespace }), line != self.history.last {
            self.history.append(line)
            if self.history.count > Self.maximumHistory { self.history.removeFirst() }
        }
        return line
    }

    private mutating func recall(by step: Int) {
        let current = self.recalled ?? self.history.count
        let wanted = current + step
        guard (0...self.history.count).contains(wanted) else { return }
        if self.recalled == nil { self.stashed = self.text }
        let isNew = wanted == self.history.count
        self.recalled = isNew ? nil : wanted
        self.place(before: isNew ? self.stashed : self.history[wanted], after: "")
    }
}
