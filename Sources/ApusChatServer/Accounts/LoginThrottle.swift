/// Limits the number of wrong passwords for a name in a time window, from each address and in
/// total.
///
/// An attempt is counted when it begins and subtracted when the password was right, so that
/// concurrent attempts are limited like consecutive ones. The limit in total is much higher,
/// because any client could otherwise block the logins of another user. Clients behind a proxy on
/// this machine share one address.
struct LoginThrottle: Sendable {
    /// The maximum number of wrong passwords for a name from one address in a window. Default: 10.
    var maximumFailures = 10
    /// The maximum number of wrong passwords for a name from all addresses in a window. Default:
    /// 100.
    var maximumFailuresFromEverywhere = 100
    /// The window, in milliseconds. Default: one minute.
    var window: Int64 = 60_000
    /// The maximum number of entries; each name and address needs two. At the maximum, expired
    /// entries are removed first. Default: 20,000.
    var maximumEntries = 20_000

    private enum Key: Hashable {
        case from(String?, name: String)
        case everywhere(name: String)
    }
    private var attempts: [Key: (since: Int64, count: Int)] = [:]

    init() {}

    /// Counts an attempt. Returns `false`, and counts nothing, if a limit is reached.
    mutating func begins(_ name: String, from address: String?, at now: Int64) -> Bool {
        let (here, everywhere) = (Key.from(address, name: name), Key.everywhere(name: name))
        guard self.count(here, at: now) < self.maximumFailures,
            self.count(everywhere, at: now) < self.maximumFailuresFromEverywhere
        else { return false }
        if self.attempts[here] == nil || self.attempts[everywhere] == nil { self.makeRoom(at: now) }
        self.add(here, at: now)
        self.add(everywhere, at: now)
        return true
    }

    /// Subtracts an attempt whose password was right or was not checked. Unknown names count as
    /// wrong passwords.
    mutating func takesBack(_ name: String, from address: String?) {
        for key in [Key.from(address, name: name), .everywhere(name: name)] {
            guard let entry = self.attempts[key] else { continue }
            self.attempts[key] = entry.count > 1 ? (entry.since, entry.count - 1) : nil
        }
    }

    private func count(_ key: Key, at now: Int64) -> Int {
        guard let entry = self.attempts[key], now - entry.since < self.window else { return 0 }
        return entry.count
    }

    private mutating func add(_ key: Key, at now: Int64) {
        let count = self.count(key, at: now)
        self.attempts[key] = count > 0 ? (self.attempts[key]?.since ?? now, count + 1) : (now, 1)
    }

    private mutating func makeRoom(at now: Int64) {
        guard self.attempts.count >= self.maximumEntries else { return }
        self.attempts = self.attempts.filter { now - $0.value.since < self.window }
        if self.attempts.count >= self.maximumEntries { self.attempts.removeAll() }
    }
}
