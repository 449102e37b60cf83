import Foundation
import NIOCore

/// One event loop for each processor this process may run on.
///
/// NIO counts those of the machine. With two loops on one processor (`taskset -c 1`) each waits for the other's time slice, milliseconds of
/// every hundredth answer.
package enum EventLoopThreads {
    /// To be called before the first connection.
    package static func followAffinity() {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let allowed = self.allowedProcessors(status: status)
        else { return }  // not Linux
        NIOSingletons.groupLoopCountSuggestion = max(1, min(allowed, System.coreCount))
    }

    /// The processors in Linux's `Cpus_allowed: ff,ffffffff`.
    static func allowedProcessors(status: String) -> Int? {
        for line in status.split(separator: "\n") where line.hasPrefix("Cpus_allowed:") {
            let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
            return digits.isEmpty ? nil : digits.reduce(0) { $0 + $1.nonzeroBitCount }
        }
        return nil
    }
}
