import Foundation

/// Flushes buffered output, so that a program that reads it through a pipe receives it at once.
func flushStandardOutput() {
    fflush(nil)
}

/// Writes without buffering. Exits as on SIGPIPE if the reader has closed the pipe (`apus … |
/// head`), because NIO ignores that signal for its sockets.
func writeStandardOutput(_ data: Data) {
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch { exit(128 + SIGPIPE) }
}

/// Writes without buffering; ignores failures.
func writeStandardError(_ data: Data) {
    try? FileHandle.standardError.write(contentsOf: data)
}
