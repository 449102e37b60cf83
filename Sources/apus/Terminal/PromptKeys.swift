import ApusChatTerminal

/// The keyboard of a prompt: edits a line, and reports the keys that end it or control the program.
struct PromptKeys: Sendable {
    enum Action: Equatable, Sendable {
        /// Enter: submits the line and clears the editor.
        case submit(String)
        /// Ctrl-C with text in the editor: discards the text and clears the editor.
        case discard(String)
        /// Ctrl-C with an empty editor.
        case interrupt
        /// Ctrl-D with an empty editor.
        case endOfInput
        /// Ctrl-Z.
        case suspend
        /// Ctrl-L.
        case clearScreen
    }

    private var reader = KeyReader()
    var editor = LineEditor()

    /// Processes bytes from the keyboard, which may be split anywhere.
    ///
    /// - Returns: The resulting actions, in order. The edited line may change without an action.
    mutating func receivedBytes(_ bytes: some Sequence<UInt8>) -> [Action] {
        self.reader.read(bytes).compactMap { self.pressed($0) }
    }

    private mutating func pressed(_ key: Key) -> Action? {
        switch key {
        case .enter, .newline: return .submit(self.editor.take())
        case .tab: if !self.editor.complete() { _ = self.editor.handle(.character("\t")) }
        case .control("c"): return self.editor.isEmpty ? .interrupt : .discard(self.editor.take(remembers: false))
        case .control("d") where self.editor.isEmpty: return .endOfInput
        case .control("l"): return .clearScreen
        case .control("z"): return .suspend
        default: _ = self.editor.handle(key)
        }
        return nil
    }
}
