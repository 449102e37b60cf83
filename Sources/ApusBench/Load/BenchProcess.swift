#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The CPU time and memory of processes.
enum BenchProcess {
    /// The CPU time of this process in seconds.
    static var ownCPUSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the CPU time of a process and all its threads in seconds, with a resolution of 0.01
    /// s. Returns `nil` if the process does not exist or the system has no `/proc`.
    static func cpuSeconds(of process: Int) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
        return self.cpuSeconds(stat: text, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Parses the CPU time from `/proc/PID/stat`. The process name is in parentheses and may
    /// contain any character, so the fields begin after the last parenthesis.
    static func cpuSeconds(stat: String, ticksPerSecond: Double) -> Double? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[end...].dropFirst().split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / ticksPerSecond
    }

    /// Returns the resident memory of a process in bytes. Returns `nil` if the process does not
    /// exist or the system has no `/proc`.
    static func residentBytes(of process: Int) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Raises this process's limit of open files to the maximum that the system permits.
    static func raiseDescriptorLimit() {
        #if canImport(Darwin) || canImport(Musl)
            let files = RLIMIT_NOFILE
        #else
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(files, &limit)
    }
}
