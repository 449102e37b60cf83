package import Foundation

/// Flushes buffered output, so that a program that reads the output through a pipe receives it
/// immediately.
package func flushStandardOutput() {
    fflush(nil)
}

/// Writes without buffering. If the write fails, exits with the status of SIGPIPE. A write usually
/// fails because the reader has closed the pipe (`apus … | head`), and NIO makes the process ignore
/// SIGPIPE.
package func writeStandardOutput(_ data: Data) {
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch { exit(128 + SIGPIPE) }
}

/// Writes to standard error without buffering. Ignores failures.
package func writeStandardError(_ data: Data) {
    try? FileHandle.standardError.write(contentsOf: data)
}
