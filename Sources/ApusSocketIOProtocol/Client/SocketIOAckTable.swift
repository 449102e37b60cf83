/// The pending acks of a socket. Each waiter is removed exactly once: by its ack, its timeout, its
/// cancellation or the end of the socket.
package struct SocketIOAckTable<Waiter> {
    private struct Entry {
        var waiter: Waiter
        /// Whether the event was sent. A buffered event survives the loss of a connection.
        var wasSent: Bool
    }

    private var waiters: [Int: Entry] = [:]
    private var nextID = 0
    private let maximumCount: Int

    /// Creates an empty table.
    ///
    /// - Parameter maximumCount: The maximum number of pending acks.
    package init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    package var count: Int { self.waiters.count }

    /// Adds a waiter and returns the id for its packet; nil if the table is full.
    ///
    /// An id is never reused, so that a late ack cannot resolve another waiter.
    package mutating func add(_ waiter: Waiter, wasSent: Bool) -> Int? {
        guard self.waiters.count < self.maximumCount else { return nil }
        let id = self.takeID()
        self.waiters[id] = Entry(waiter: waiter, wasSent: wasSent)
        return id
    }

    /// Returns an id for an ack that this table does not track.
    package mutating func takeID() -> Int {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// Records that the waiter's event left the buffer.
    package mutating func markSent(_ id: Int) {
        self.waiters[id]?.wasSent = true
    }

    /// The waiter, if its ack is pending.
    package subscript(id: Int) -> Waiter? { self.waiters[id]?.waiter }

    /// Removes and returns a waiter; nil if it was removed already.
    package mutating func take(_ id: Int) -> Waiter? {
        self.waiters.removeValue(forKey: id)?.waiter
    }

    /// Removes and returns the waiters whose events were sent, ordered by id.
    package mutating func takeSent() -> [Waiter] {
        let ids = self.waiters.filter { $0.value.wasSent }.keys.sorted()
        return ids.compactMap { self.take($0) }
    }

    /// Removes and returns all waiters, ordered by id.
    package mutating func takeAll() -> [Waiter] {
        let ids = self.waiters.keys.sorted()
        return ids.compactMap { self.take($0) }
    }
}
