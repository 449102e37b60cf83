/// Decides whether a name may be tried again: at most so many wrong passwords a window. A struct without a clock.
struct LoginThrottle: Sendable {
    /// Wrong passwords of one name in one window. Default 10.
    var maximumFailures = 10
    /// The window, in milliseconds. Default one minute.
    var window: Int64 = 60_000
    /// Names remembered. Above it the oldest windows are forgotten first. Default 10,000.
    var maximumNames = 10_000

    private var failures: [String: (since: Int64, count: Int)] = [:]

    init() {}

    /// Whether a password may be tried for this name now.
    func permits(_ name: String, at now: Int64) -> Bool {
        guard let entry = self.failures[name], now - entry.since < self.window else { return true }
        return entry.count < self.maximumFailures
    }

    /// A password was wrong (or the name does not exist: that is not told apart).
    mutating func failed(_ name: String, at now: Int64) {
        if let entry = self.failures[name], now - entry.since < self.window {
            self.failures[name] = (entry.since, entry.count + 1)
            return
        }
        if self.failures.count >= self.maximumNames {
            self.failures = self.failures.filter { now - $0.value.since < self.window }
            if self.failures.count >= self.maximumNames { self.failures.removeAll() }
        }
        self.failures[name] = (now, 1)
    }

    /// The right password: a clean sheet.
    mutating func succeeded(_ name: String) { self.failures[name] = nil }
}
