import ApusJSON
import DequeModule

/// What is kept of sockets that were lost, by their private ids. Each can be taken once, and only for a time.
package struct SocketIOSessionTable<Session: Sendable>: Sendable {
    private struct Entry {
        var session: Session
        var expiry: Duration
    }

    private var entries: [UTF8Key: Entry] = [:]
    /// In the order of their expiry. May name sessions that were taken since.
    private var order: Deque<(pid: String, expiry: Duration)> = []
    private let lifetime: Duration
    private let maximumCount: Int

    /// - Parameters:
    ///   - lifetime: How long a session is kept.
    ///   - maximumCount: Sessions kept at most; the oldest goes for a new one.
    package init(lifetime: Duration, maximumCount: Int) {
        self.lifetime = lifetime
        self.maximumCount = max(0, maximumCount)
    }

    package var count: Int { self.entries.count }

    /// Keeps a session.
    package mutating func keep(_ session: Session, pid: String, at now: Duration) {
        self.expire(at: now)
        let expiry = now + self.lifetime
        self.entries[UTF8Key(pid)] = Entry(session: session, expiry: expiry)
        self.order.append((pid, expiry))
        while self.order.count > self.maximumCount { self.removeFirst() }
    }

    /// Takes a session out: whoever comes with the same id after this finds nothing.
    package mutating func take(_ pid: String, at now: Duration) -> Session? {
        self.expire(at: now)
        return self.entries.removeValue(forKey: UTF8Key(pid))?.session
    }

    /// Whether a session is kept under this id.
    package mutating func contains(_ pid: String, at now: Duration) -> Bool {
        self.expire(at: now)
        return self.entries[UTF8Key(pid)] != nil
    }

    package mutating func expire(at now: Duration) {
        while let first = self.order.first, first.expiry <= now { self.removeFirst() }
    }

    private mutating func removeFirst() {
        guard let (pid, expiry) = self.order.popFirst() else { return }
        // A session that was taken and kept again has a later expiry, and a place of its own.
        if self.entries[UTF8Key(pid)]?.expiry == expiry { self.entries[UTF8Key(pid)] = nil }
    }
}
