import ApusCommandSupport
import ApusWebSocket
import ApusWebSocketProtocol
import Foundation
import NIOCore

/// Writes the output of `apus ws`: messages, pongs and the prompt to standard output, states and
/// errors to standard error.
///
/// On a terminal, or with `--verbose`, each message is described. To a pipe, messages are written
/// unchanged, with a line feed after a text.
struct WebSocketOutput: Sendable {
    /// Whether standard input and output are a terminal. If `false`, no prompt is shown.
    let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    private let describes: Bool

    init(isVerbose: Bool) {
        self.describes = isVerbose || isatty(STDOUT_FILENO) == 1
    }

    /// Writes a received message.
    ///
    /// - Parameter delay: The time since the last message was sent; `nil` unless this is the first
    ///   message received since then.
    func message(_ message: WebSocketMessage, after delay: Duration?) {
        guard self.describes else { return self.pass(message) }
        let size = message.payload.readableBytes
        let time = delay.map { ", \(Self.milliseconds($0)) after the last message sent" } ?? ""
        switch message.kind {
        case .text: self.line("← text \(size) B\(time): \(message.text ?? "")")
        case .binary: self.line("← binary \(size) B\(time): \(Self.hex(message.payload))")
        }
    }

    /// Writes the round-trip time of a ping.
    func pong(after duration: Duration) {
        self.line("✓ pong in \(Self.milliseconds(duration))")
    }

    /// Writes a state or an error to standard error.
    func note(_ text: String) {
        writeStandardError(Data((self.clearing + ConnectOutput.harmless(text) + "\n").utf8))
    }

    func prompt() {
        if self.isInteractive { writeStandardOutput(Data("> ".utf8)) }
    }

    private func line(_ text: String) {
        writeStandardOutput(Data((self.clearing + ConnectOutput.harmless(text) + "\n").utf8))
    }

    private func pass(_ message: WebSocketMessage) {
        var data = Data(message.payload.readableBytesView)
        if message.kind == .text { data.append(0x0a) }
        writeStandardOutput(data)
    }

    /// The control sequence that erases the prompt.
    private var clearing: String { self.isInteractive ? "\r\u{1b}[K" : "" }

    static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        return String(format: "%.1f ms", milliseconds)
    }

    /// Returns the first bytes in hexadecimal.
    private static func hex(_ payload: ByteBuffer) -> String {
        let shown = payload.readableBytesView.prefix(64).map { String(format: "%02x", $0) }.joined(separator: " ")
        return payload.readableBytes > 64 ? shown + " …" : shown
    }
}
