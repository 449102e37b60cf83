import Foundation

/// What a process has used so far.
enum BenchProcess {
    /// CPU seconds of this process.
    static var ownCPUSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// CPU seconds of another process, all its threads, in steps of a hundredth. `nil` where there is no `/proc`, or no such process.
    static func cpuSeconds(of process: Int) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return nil }
        return self.cpuSeconds(stat: text, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// The name of the process stands in parentheses and may hold anything, so what counts begins behind the last one.
    static func cpuSeconds(stat: String, ticksPerSecond: Double) -> Double? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[end...].dropFirst().split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        return (user + system) / ticksPerSecond
    }

    /// Bytes another process keeps in memory.
    static func residentBytes(of process: Int) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Lets this process open as many connections as the system allows it.
    static func raiseDescriptorLimit() {
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(files, &limit)
    }
}
