import ApusChatTerminal
import ApusCommandSupport
import Foundation
import NIOConcurrencyHelpers

/// The last row of a terminal, in which a line is edited while other lines are printed above it.
final class TerminalPrompt: Sendable {
    enum Input: Sendable {
        case line(String)
        case end
    }

    private struct State {
        var keys = PromptKeys()
        var prompt = ""
        /// Whether the row is shown. `true` between `start` and `stop`.
        var isShown = false
        /// Whether the end of the input has been reported, which must happen once.
        var hasEnded = false
    }

    private let style: @Sendable (String) -> String
    private let state = NIOLockedValueBox(State())

    /// Creates a prompt, without showing it.
    ///
    /// - Parameter style: A closure that adds control sequences for colours to the prompt.
    init(style: @escaping @Sendable (String) -> String) { self.style = style }

    /// Whether standard input and standard output are a terminal that supports control sequences.
    static var isPossible: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Shows the row and reads the keyboard on a thread that ends with the process. Call this
    /// method once.
    ///
    /// - Returns: Whether the terminal supports this mode.
    func start(prompt: String, _ received: @escaping @Sendable (Input) -> Void) -> Bool {
        guard let signals = RawTerminal.begin() else { return false }
        self.state.withLockedValue { state in
            state.prompt = prompt
            state.isShown = true
            self.draw(state)
        }
        Thread.detachNewThread { self.listen(signals, received) }
        return true
    }

    /// Changes the prompt, and preserves the text that is being edited.
    ///
    /// - Returns: Whether the row is shown.
    func show(prompt: String) -> Bool {
        self.state.withLockedValue { state in
            guard state.isShown else { return false }
            guard state.prompt != prompt else { return true }
            state.prompt = prompt
            self.draw(state)
            return true
        }
    }

    /// Sets the words that Tab completes.
    func complete(_ words: [String]) { self.state.withLockedValue { $0.keys.editor.completions = words } }

    /// Erases the row, calls `write`, and draws the row below the written text.
    ///
    /// - Returns: Whether the row is shown. If `false`, `write` is not called.
    func above(_ write: () -> Void) -> Bool {
        self.state.withLockedValue { state in
            guard state.isShown else { return false }
            self.write(PromptRow.erasure)
            write()
            self.draw(state)
            return true
        }
    }

    /// Erases the row and restores the mode of the terminal.
    func stop() {
        self.state.withLockedValue { state in
            guard state.isShown else { return }
            state.isShown = false
            self.write(PromptRow.erasure)
            RawTerminal.leave()
        }
    }

    private func draw(_ state: State) {
        self.write(PromptRow(state.keys.editor, prompt: state.prompt, columns: RawTerminal.columns, style: self.style).screenText)
    }

    private func write(_ text: String) { writeStandardOutput(Data(text.utf8)) }

    // MARK: The keyboard

    private func listen(_ signals: Int32, _ received: (Input) -> Void) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var sources = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&sources, nfds_t(sources.count), -1) >= 0 else {
                if errno == EINTR { continue }  // a signal interrupted the call; its number is in the pipe
                return self.end(received)
            }
            if sources[1].revents != 0 { self.signalled(signals, &bytes) }
            guard sources[0].revents != 0 else { continue }
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return self.end(received) }
            self.typed(bytes[..<count], received)
        }
    }

    private func signalled(_ signals: Int32, _ bytes: inout [UInt8]) {
        let count = read(signals, &bytes, bytes.count)
        guard count > 0 else { return }
        self.state.withLockedValue { state in
            guard state.isShown else { return }
            if bytes[..<count].contains(UInt8(SIGTSTP)) { self.suspend() }
            RawTerminal.enter()
            self.draw(state)
        }
    }

    private func typed(_ bytes: ArraySlice<UInt8>, _ received: (Input) -> Void) {
        var inputs: [Input] = []
        var isInterrupted = false
        self.state.withLockedValue { state in
            for action in state.keys.receivedBytes(bytes) {
                switch action {
                case .submit(let line):
                    self.leave(line, state)
                    inputs.append(.line(line))
                case .discard(let line): self.leave(line + "^C", state)
                case .interrupt: isInterrupted = true
                case .endOfInput:
                    if !state.hasEnded { inputs.append(.end) }
                    state.hasEnded = true
                case .suspend: self.suspend()
                case .clearScreen: self.write("\u{1b}[H\u{1b}[2J")
                }
            }
            if state.isShown { self.draw(state) }
        }
        for input in inputs { received(input) }
        if isInterrupted {
            self.stop()
            kill(getpid(), SIGINT)  // as at a terminal in its normal mode
        }
    }

    /// Replaces the row by the complete submitted line.
    private func leave(_ line: String, _ state: State) {
        if state.isShown { self.write(PromptRow.erasure + self.style(state.prompt) + line + "\n") }
    }

    private func suspend() {
        self.write(PromptRow.erasure)
        RawTerminal.suspend()
    }

    private func end(_ received: (Input) -> Void) {
        let isFirst = self.state.withLockedValue { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { received(.end) }
    }
}
