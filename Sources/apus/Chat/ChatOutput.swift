import Foundation

/// The terminal. Colours and the prompt only when it is one.
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

    static let standard = ChatOutput(
        isTerminal: isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb",
        hasColour: isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
            && ProcessInfo.processInfo.environment["TERM"] != "dumb")

    let isTerminal: Bool
    let hasColour: Bool

    func styled(_ text: String, _ style: Style) -> String {
        self.hasColour && style != .plain ? style.rawValue + text + "\u{1b}[0m" : text
    }

    /// A line of its own: over the prompt, when there is one.
    func line(_ text: String = "") { self.raw((self.isTerminal ? "\r\u{1b}[K" : "") + text + "\n") }

    func prompt(_ text: String) { if self.isTerminal { self.raw("\r\u{1b}[K" + self.styled(text, .bold)) } }

    func error(_ text: String) { writeStandardError(Data("apus chat: \(text)\n".utf8)) }

    func raw(_ text: String) { writeStandardOutput(Data(text.utf8)) }

    /// What others wrote, without anything that moves the cursor, rings, recolours or turns the writing direction.
    static func harmless(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a: result.append(contentsOf: "\n    ".unicodeScalars)
            case 0x00..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: result.append("\u{fffd}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
