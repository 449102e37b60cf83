package import Foundation

/// Lets a program that reads our output through a pipe see the line now.
package func flushStandardOutput() {
    fflush(nil)
}

/// Writes at once. When nobody reads any more (`apus … | head`) the process ends, as it would by SIGPIPE, which NIO ignores for the
/// sake of sockets.
package func writeStandardOutput(_ data: Data) {
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch { exit(128 + SIGPIPE) }
}

/// Writes at once; what nobody can read is lost.
package func writeStandardError(_ data: Data) {
    try? FileHandle.standardError.write(contentsOf: data)
}
