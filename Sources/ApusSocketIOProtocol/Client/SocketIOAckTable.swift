/// Who waits for which ack. Every waiter leaves exactly once: by its answer, its timeout, its cancellation or the end.
package struct SocketIOAckTable<Waiter> {
    private struct Entry {
        var waiter: Waiter
        /// Whether the event left for the server; one that waits in the buffer outlives a lost connection.
        var wasSent: Bool
    }

    private var waiters: [Int: Entry] = [:]
    private var nextID = 0
    private let maximumCount: Int

    /// - Parameter maximumCount: Waiters at one time.
    package init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    package var count: Int { self.waiters.count }

    /// Takes a waiter in and gives the id for its packet; nil when there are too many.
    ///
    /// Ids are never used again, so that a late answer finds nobody rather than somebody else.
    package mutating func add(_ waiter: Waiter, wasSent: Bool) -> Int? {
        guard self.waiters.count < self.maximumCount else { return nil }
        let id = self.takeID()
        self.waiters[id] = Entry(waiter: waiter, wasSent: wasSent)
        return id
    }

    /// An id for an ack that nobody waits for here.
    package mutating func takeID() -> Int {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// The event of this waiter left the buffer.
    package mutating func markSent(_ id: Int) {
        self.waiters[id]?.wasSent = true
    }

    /// The waiter, if it is still there.
    package subscript(id: Int) -> Waiter? { self.waiters[id]?.waiter }

    /// Takes a waiter out; nil when it has left already.
    package mutating func take(_ id: Int) -> Waiter? {
        self.waiters.removeValue(forKey: id)?.waiter
    }

    /// Takes out those whose events had left, in the order of their ids.
    package mutating func takeSent() -> [Waiter] {
        let ids = self.waiters.filter { $0.value.wasSent }.keys.sorted()
        return ids.compactMap { self.take($0) }
    }

    /// Takes out all, in the order of their ids.
    package mutating func takeAll() -> [Waiter] {
        let ids = self.waiters.keys.sorted()
        return ids.compactMap { self.take($0) }
    }
}
