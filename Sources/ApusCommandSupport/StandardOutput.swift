package import Foundation

/// Flushes buffered output, so that a program that reads the output through a pipe receives it
/// immediately.
package func flushStandardOutput() {
    fflush(nil)
}

/// Writes without buffering. Exits as on SIGPIPE if the write fails, usually because the reader has
/// closed the pipe (`apus … | head`): NIO ignores that signal for its sockets.
package func writeStandardOutput(_ data: Data) {
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch { exit(128 + SIGPIPE) }
}

/// Writes without buffering; ignores failures.
package func writeStandardError(_ data: Data) {
    try? FileHandle.standardError.write(contentsOf: data)
}
