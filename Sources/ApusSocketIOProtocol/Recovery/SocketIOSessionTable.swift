import ApusJSON
import DequeModule

/// The sessions of lost sockets by private id. Each can be taken once, before it expires.
package struct SocketIOSessionTable<Session: Sendable>: Sendable {
    private struct Entry {
        var session: Session
        var expiry: Duration
    }

    private var entries: [UTF8Key: Entry] = [:]
    /// The private ids in the order of expiry, possibly including sessions that were taken.
    private var order: Deque<(pid: String, expiry: Duration)> = []
    private let lifetime: Duration
    private let maximumCount: Int

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - lifetime: The time for which a session is kept.
    ///   - maximumCount: The maximum number of sessions. A further session replaces the oldest.
    package init(lifetime: Duration, maximumCount: Int) {
        self.lifetime = lifetime
        self.maximumCount = max(0, maximumCount)
    }

    package var count: Int { self.entries.count }

    /// Stores a session.
    package mutating func keep(_ session: Session, pid: String, at now: Duration) {
        self.expire(at: now)
        let expiry = now + self.lifetime
        self.entries[UTF8Key(pid)] = Entry(session: session, expiry: expiry)
        self.order.append((pid, expiry))
        while self.order.count > self.maximumCount { self.removeFirst() }
    }

    /// Removes and returns a session, so that no second client can recover it.
    package mutating func take(_ pid: String, at now: Duration) -> Session? {
        self.expire(at: now)
        return self.entries.removeValue(forKey: UTF8Key(pid))?.session
    }

    /// Returns whether a session is kept under this id.
    package mutating func contains(_ pid: String, at now: Duration) -> Bool {
        self.expire(at: now)
        return self.entries[UTF8Key(pid)] != nil
    }

    package mutating func expire(at now: Duration) {
        while let first = self.order.first, first.expiry <= now { self.removeFirst() }
    }

    private mutating func removeFirst() {
        guard let (pid, expiry) = self.order.popFirst() else { return }
        // A session that was taken and stored again has a later expiry and a second entry in
        // `order`.
        if self.entries[UTF8Key(pid)]?.expiry == expiry { self.entries[UTF8Key(pid)] = nil }
    }
}
