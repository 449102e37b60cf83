import ApusChatTerminal
import ApusCommandSupport
import Foundation

/// Writes the output of `apus chat`. Uses colours and a prompt only on a terminal.
struct ChatOutput: Sendable {
    enum Style: String, Sendable {
        case plain = ""
        case bold = "\u{1b}[1m"
        case dim = "\u{1b}[2m"
        case red = "\u{1b}[31m"
        case green = "\u{1b}[32m"
        case yellow = "\u{1b}[33m"
        case cyan = "\u{1b}[36m"
    }

    static let standard = ChatOutput()

    private init() {
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
        let hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
        self.isTerminal = isTerminal
        self.hasColour = hasColour
        self.typing =
            TerminalPrompt.isPossible ? TerminalPrompt { hasColour ? Style.bold.rawValue + $0 + "\u{1b}[0m" : $0 } : nil
    }

    let isTerminal: Bool
    let hasColour: Bool
    /// The prompt in which lines are edited; `nil` if standard input or output is not a terminal.
    let typing: TerminalPrompt?

    func styled(_ text: String, _ style: Style) -> String {
        self.hasColour && style != .plain ? style.rawValue + text + "\u{1b}[0m" : text
    }

    /// Prints a line above the prompt that is being edited, or in place of a static prompt.
    func line(_ text: String = "") {
        if self.typing?.above({ self.raw(text + "\n") }) == true { return }
        self.raw((self.isTerminal ? "\r\u{1b}[K" : "") + text + "\n")
    }

    /// Prints new recovery codes, one per line.
    func show(recovery: [String]) {
        self.line("Recovery codes, each for one use. Write them down:")
        for code in recovery { self.line("  \(code)") }
    }

    /// Prints a line in one style.
    func note(_ text: String, _ style: Style) { self.line(self.styled(text, style)) }

    func prompt(_ text: String) {
        if self.typing?.show(prompt: text) == true { return }
        if self.isTerminal { self.raw("\r\u{1b}[K" + self.styled(text, .bold)) }
    }

    /// Prints an error. The text is sanitized, because it may originate from a server.
    func error(_ text: String) {
        let data = Data("apus chat: \(ChatText.harmless(text))\n".utf8)
        if self.typing?.above({ writeStandardError(data) }) != true { writeStandardError(data) }
    }

    func raw(_ text: String) { writeStandardOutput(Data(text.utf8)) }
}
