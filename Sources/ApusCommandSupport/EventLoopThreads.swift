import Foundation
import NIOCore

/// Limits the number of NIO's shared event loops to the number of processors that the process may
/// use.
///
/// By default NIO starts one loop for each processor of the machine. Two event loops on one
/// processor (`taskset -c 1`) wait for each other's time slice. This adds milliseconds to one
/// response in a hundred.
package enum EventLoopThreads {
    /// Sets the number of NIO's event loops. Call this method before the first connection.
    package static func followAffinity() {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let allowed = self.allowedProcessors(status: status)
        else { return }  // no /proc: not Linux
        NIOSingletons.groupLoopCountSuggestion = max(1, min(allowed, System.coreCount))
    }

    /// Returns the number of processors in the line `Cpus_allowed: ff,ffffffff` of
    /// `/proc/self/status`; nil if the text has no such line.
    static func allowedProcessors(status: String) -> Int? {
        for line in status.split(separator: "\n") where line.hasPrefix("Cpus_allowed:") {
            let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
            return digits.isEmpty ? nil : digits.reduce(0) { $0 + $1.nonzeroBitCount }
        }
        return nil
    }
}
