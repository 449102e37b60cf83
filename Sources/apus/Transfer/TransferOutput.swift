import ApusBytes
import ApusCommandSupport
import ApusJSON
import Foundation
import NIOConcurrencyHelpers

/// Writes the output of `apus send` and `apus receive`: results to standard output, errors and the
/// progress line to standard error.
///
/// On a terminal, one line at the bottom shows the progress. Otherwise, progress is printed as
/// separate lines. With `--json`, every event is a JSON object on a line of standard output.
final class TransferOutput: Sendable {
    enum Style: Sendable {
        case text, quiet, json
    }

    private struct State {
        var board = TransferSummary()
        /// The current text of the progress line.
        var drawn = ""
    }

    /// The minimum interval between two progress lines of a file.
    private static let plainInterval = Duration.seconds(5)
    /// The minimum interval between two progress events of a file.
    private static let jsonInterval = Duration.milliseconds(250)

    let style: Style
    /// Whether progress is shown in one line at the bottom of a terminal.
    let hasLine: Bool
    private let state = NIOLockedValueBox(State())
    private let start = ContinuousClock.now

    init(style: Style) {
        self.style = style
        self.hasLine = style == .text && isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    var elapsed: Duration { ContinuousClock.now - self.start }
    var board: TransferSummary { self.state.withLockedValue { $0.board } }

    func update(_ body: (inout TransferSummary, Duration) -> Void) {
        let now = self.elapsed
        self.state.withLockedValue { body(&$0.board, now) }
    }

    // MARK: Lines

    /// Writes a line of text to standard output. Has no effect in a style other than `text`.
    func line(_ text: String) {
        guard self.style == .text else { return }
        self.write(text, to: writeStandardOutput)
    }

    /// Writes an error or a notice to standard error, in every style.
    func note(_ text: String) {
        self.write(text, to: writeStandardError)
    }

    /// Writes an event as a JSON object. Has no effect in a style other than `json`.
    func event(_ name: String, _ members: JSONObject = [:]) {
        guard self.style == .json else { return }
        var object: JSONObject = ["event": .string(name)]
        for (key, value) in members { object[key] = value }
        self.write(Self.escaped(JSONValue.object(object).description), to: writeStandardOutput, isHarmless: true)
    }

    /// Returns JSON text in which the control and bidirectional characters that JSON permits
    /// unescaped are escaped.
    static func escaped(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            switch scalar.value {
            case 0x7f..<0xa0, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069:
                result.append(contentsOf: String(format: "\\u%04x", scalar.value).unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private func write(_ text: String, to stream: (Data) -> Void, isHarmless: Bool = false) {
        let text = isHarmless ? text : ConnectOutput.harmless(text)
        self.state.withLockedValue { state in
            if !state.drawn.isEmpty { writeStandardError(Data("\r\u{1b}[K".utf8)) }
            stream(Data((text + "\n").utf8))
            if !state.drawn.isEmpty { writeStandardError(Data(state.drawn.utf8)) }
        }
    }

    // MARK: Files

    func began(_ key: String, name: String, size: Int, offset: Int) {
        self.update { $0.began(key, name: name, size: size, offset: offset, at: $1) }
        self.event("began", ["name": .string(name), "size": JSONValue(size), "offset": JSONValue(offset)])
        guard !self.hasLine else { return }
        if offset > 0, offset < size {
            self.line("\(PeerText.visible(name)): resumes at \(ByteCount(offset).text) of \(ByteCount(size).text)")
        }
    }

    func progressed(_ key: String, to done: Int) {
        let now = self.elapsed
        let due = self.state.withLockedValue { state -> (file: TransferSummary.File, rate: Double?)? in
            state.board.progressed(key, to: done, at: now)
            let interval = self.style == .json ? Self.jsonInterval : Self.plainInterval
            guard !self.hasLine, state.board.tells(key, every: interval, at: now) else { return nil }
            return state.board.files.first { $0.key == key }.map { ($0.file, state.board.rate(at: now)) }
        }
        guard let due else { return }
        self.line(TransferLine.plain(due.file, rate: due.rate))
        self.event("progress", ["name": .string(due.file.name), "size": JSONValue(due.file.size), "bytes": JSONValue(due.file.done)])
    }

    /// Removes a file from the files in progress.
    ///
    /// - Returns: The last state of the file; `nil` if its transfer never began.
    func ended(_ key: String, isCompleted: Bool, size: Int) -> TransferSummary.File? {
        let now = self.elapsed
        return self.state.withLockedValue { $0.board.ended(key, isCompleted: isCompleted, size: size, at: now) }
    }

    // MARK: Progress line

    /// Updates the progress line until the task is cancelled.
    func run() async {
        while self.hasLine, (try? await Task.sleep(for: .milliseconds(100))) != nil { self.draw() }
    }

    private func draw() {
        let now = self.elapsed
        let width = Self.terminalWidth
        self.state.withLockedValue { state in
            guard !state.board.files.isEmpty || !state.drawn.isEmpty else { return }
            let text = state.board.files.isEmpty ? "" : TransferLine.text(state.board, width: width, at: now)
            guard text != state.drawn else { return }
            writeStandardError(Data(("\r\u{1b}[K" + text).utf8))
            state.drawn = text
        }
    }

    /// Erases the progress line.
    func clear() {
        self.state.withLockedValue { state in
            guard !state.drawn.isEmpty else { return }
            writeStandardError(Data("\r\u{1b}[K".utf8))
            state.drawn = ""
        }
    }

    private static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
