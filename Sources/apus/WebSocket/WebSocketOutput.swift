import ApusCommandSupport
import ApusWebSocket
import Foundation
import NIOCore

/// What `apus ws` writes: messages to standard output, everything else to standard error.
///
/// At a terminal, or with `--verbose`, each message is described. In a pipe it is passed on: a text and a line end, the bytes of a
/// binary message as they are.
struct WebSocketOutput: Sendable {
    /// Whether somebody types; then there is a prompt.
    let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    private let describes: Bool

    init(isVerbose: Bool) {
        self.describes = isVerbose || isatty(STDOUT_FILENO) == 1
    }

    /// A message that came, and how long after the last one was sent if it is the first since.
    func message(_ message: WebSocketMessage, after delay: Duration?) {
        guard self.describes else { return self.pass(message) }
        let size = message.payload.readableBytes
        let time = delay.map { ", \(Self.milliseconds($0)) after the last one sent" } ?? ""
        switch message.kind {
        case .text: self.line("← text \(size) B\(time): \(message.text ?? "")")
        case .binary: self.line("← binary \(size) B\(time): \(Self.hex(message.payload))")
        }
    }

    /// The answer to a ping.
    func pong(after duration: Duration) {
        self.line("✓ pong in \(Self.milliseconds(duration))")
    }

    /// What is no message: states and mistakes.
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

    /// Takes the prompt off the line.
    private var clearing: String { self.isInteractive ? "\r\u{1b}[K" : "" }

    static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        return String(format: "%.1f ms", milliseconds)
    }

    /// The first bytes.
    private static func hex(_ payload: ByteBuffer) -> String {
        let shown = payload.readableBytesView.prefix(64).map { String(format: "%02x", $0) }.joined(separator: " ")
        return payload.readableBytes > 64 ? shown + " …" : shown
    }
}
