/// The pending acks of a client's socket. Each is removed exactly once: by its arrival, its
/// timeout, its cancellation or the close of the socket.
package struct SocketIOAckTable<Pending> {
    private struct Entry {
        var ack: Pending
        /// Whether the event was sent. A buffered event survives the loss of a connection.
        var wasSent: Bool
    }

    private var entries: [Int: Entry] = [:]
    private var nextID = 0
    private let maximumCount: Int

    /// Creates an empty table.
    ///
    /// - Parameter maximumCount: The maximum number of pending acks.
    package init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    package var count: Int { self.entries.count }

    /// Adds a pending ack and returns the id for its packet; `nil` if the table is full.
    ///
    /// An id is never reused, so that a late ack cannot resolve another.
    package mutating func add(_ ack: Pending, wasSent: Bool) -> Int? {
        guard self.entries.count < self.maximumCount else { return nil }
        let id = self.takeID()
        self.entries[id] = Entry(ack: ack, wasSent: wasSent)
        return id
    }

    /// Returns an id for an ack that this table does not track.
    package mutating func takeID() -> Int {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// Records that the event of a pending ack was sent.
    package mutating func markSent(_ id: Int) {
        self.entries[id]?.wasSent = true
    }

    /// The ack, if it is pending.
    package subscript(id: Int) -> Pending? { self.entries[id]?.ack }

    /// Removes and returns an ack; `nil` if it was removed already.
    package mutating func take(_ id: Int) -> Pending? {
        self.entries.removeValue(forKey: id)?.ack
    }

    /// Removes and returns the acks whose events were sent, ordered by id.
    package mutating func takeSent() -> [Pending] {
        let ids = self.entries.filter { $0.value.wasSent }.keys.sorted()
        return ids.compactMap { self.take($0) }
    }

    /// Removes and returns all acks, ordered by id.
    package mutating func takeAll() -> [Pending] {
        let ids = self.entries.keys.sorted()
        return ids.compactMap { self.take($0) }
    }
}
