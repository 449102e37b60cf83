import ApusCommandSupport
import ApusJSON
import Foundation

/// What `apus connect` writes: events to standard output, everything else to standard error, so that a pipe gets events only.
struct ConnectOutput: Sendable {
    /// Whether somebody types; then there is a prompt.
    let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1

    /// An event, its arguments as a JSON array.
    func event(_ name: String, _ arguments: [JSONValue]) {
        self.line("← \(JSONValue.string(name)) \(Self.text(.array(arguments)))")
    }

    /// The answer to an `ack`, and how long it took.
    func ack(_ name: String, _ arguments: [JSONValue], after duration: Duration) {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        self.line("✓ \(JSONValue.string(name)) \(Self.text(.array(arguments))) in \(String(format: "%.1f", milliseconds)) ms")
    }

    /// So many bytes of binary data are shown.
    private static let shownBytes = 32

    /// JSON, with binary data in a form that no text has: texts stand in quotes.
    static func text(_ value: JSONValue) -> String {
        switch value {
        case .null, .bool, .integer, .double, .string, .date: return value.description
        case .array(let values): return "[" + values.map(self.text).joined(separator: ",") + "]"
        case .object(let object):
            return "{" + object.map { "\(JSONValue.string($0.key)):\(self.text($0.value))" }.joined(separator: ",") + "}"
        case .binary(let bytes):
            let count = "\(bytes.count) byte\(bytes.count == 1 ? "" : "s")"
            guard !bytes.isEmpty else { return "<binary \(count)>" }
            let shown = bytes.prefix(self.shownBytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return "<binary \(count): \(shown.joined(separator: " "))\(bytes.count > self.shownBytes ? " …" : "")>"
        }
    }

    /// A line of standard output.
    func line(_ text: String) {
        writeStandardOutput(Data(((self.isInteractive ? "\r\u{1b}[K" : "") + Self.harmless(text) + "\n").utf8))
    }

    /// What is no event: states and mistakes.
    func note(_ text: String) {
        writeStandardError(Data(((self.isInteractive ? "\r\u{1b}[K" : "") + Self.harmless(text) + "\n").utf8))
    }

    func prompt() {
        if self.isInteractive { writeStandardOutput(Data("> ".utf8)) }
    }

    /// The server's text, without anything that moves the cursor, recolours or turns the writing direction.
    static func harmless(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a: result.append(scalar)
            case 0x00..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: result.append("\u{fffd}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
