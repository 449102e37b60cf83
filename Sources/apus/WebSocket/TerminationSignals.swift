import UnixSignals

/// Ctrl-C and SIGTERM, so that a connection can be closed in order first.
enum TerminationSignals {
    /// Waits for one of them; answers `false` when the task is cancelled before.
    static func wait() async -> Bool {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return true }
        return false
    }
}
