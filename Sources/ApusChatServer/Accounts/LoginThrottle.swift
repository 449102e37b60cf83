/// Decides whether a password may be tried: at most so many wrong ones a window, for a name from one address, and from everywhere. A struct
/// without a clock.
///
/// An attempt counts from its beginning and is taken back when the password was right: so attempts at the same time are bound as those one
/// after the other. The bound from everywhere is much the higher one: else anybody could lock anybody else out. (Clients behind a proxy on this
/// machine have no address of their own; they share one.)
struct LoginThrottle: Sendable {
    /// Wrong passwords of one name from one address in one window. Default 10.
    var maximumFailures = 10
    /// Wrong passwords of one name from everywhere in one window. Default 100.
    var maximumFailuresFromEverywhere = 100
    /// The window, in milliseconds. Default one minute.
    var window: Int64 = 60_000
    /// Entries remembered, two for a name and an address. Above it those whose window is over are forgotten first. Default 20,000.
    var maximumEntries = 20_000

    private enum Key: Hashable {
        case from(String?, name: String)
        case everywhere(name: String)
    }
    private var attempts: [Key: (since: Int64, count: Int)] = [:]

    init() {}

    /// A password is about to be tried. `false`: it may not be, and nothing is counted.
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

    /// The attempt was none: the password was right, or could not be looked at. (That a name does not exist is not told apart from a wrong one.)
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
