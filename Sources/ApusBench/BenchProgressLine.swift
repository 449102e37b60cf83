import ApusCommandSupport
import Foundation

/// Shows the progress of a load: one updated line on a terminal, one line each second elsewhere. It
/// uses standard error, so that results can be piped.
struct BenchProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ progress: BenchRun.Progress) {
        let text = Self.text(progress)
        writeStandardError(Data((self.isTerminal ? "\r\u{1b}[K\(text)" : "\(text)\n").utf8))
    }

    func end() {
        if self.isTerminal { writeStandardError(Data("\r\u{1b}[K".utf8)) }
    }

    static func text(_ progress: BenchRun.Progress) -> String {
        var text = "\(progress.stage.rawValue): \(BenchText.number(progress.connections)) connections"
        if progress.messages > 0 { text += ", \(BenchText.number(progress.messages)) messages per second" }
        if let p99 = progress.p99 { text += ", p99 \(BenchText.time(microseconds: p99))" }
        return text
    }
}
