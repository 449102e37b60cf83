import ApusBytes
import ApusCommandSupport
import ApusJSON
import Foundation

/// Writes the output of `apus connect`: events and acks to standard output, all other text to
/// standard error, so that a pipe contains only the data of the server.
struct ConnectOutput: Sendable {
    /// Whether standard input and output are a terminal. If `false`, no prompt is shown.
    let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1

    /// Prints an event with its arguments as a JSON array.
    func event(_ name: String, _ arguments: [JSONValue]) {
        self.line("← \(JSONValue.string(name)) \(Self.text(.array(arguments)))")
    }

    /// Prints an ack and its round-trip time.
    func ack(_ name: String, _ arguments: [JSONValue], after duration: Duration) {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        self.line("✓ \(JSONValue.string(name)) \(Self.text(.array(arguments))) in \(String(format: "%.1f", milliseconds)) ms")
    }

    /// The maximum number of bytes of binary data to print.
    private static let shownBytes = 32

    /// Returns JSON text, with binary data in a form that cannot be confused with a quoted string.
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

    /// Writes a line to standard output.
    func line(_ text: String) {
        writeStandardOutput(Data(((self.isInteractive ? "\r\u{1b}[K" : "") + Self.harmless(text) + "\n").utf8))
    }

    /// Writes a state or an error to standard error.
    func note(_ text: String) {
        writeStandardError(Data(((self.isInteractive ? "\r\u{1b}[K" : "") + Self.harmless(text) + "\n").utf8))
    }

    func prompt() {
        if self.isInteractive { writeStandardOutput(Data("> ".utf8)) }
    }

    /// Returns a peer's text, with control characters (except line feeds) and bidirectional
    /// controls replaced by U+FFFD.
    static func harmless(_ text: String) -> String { PeerText.visible(text, lineFeed: "\n") }
}
