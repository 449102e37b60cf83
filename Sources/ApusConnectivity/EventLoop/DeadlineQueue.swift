import DequeModule

/// Deadlines of waits, most of which end long before. Pure.
///
/// A wait that ended is not taken out: it is passed over when its turn comes, or when too many such have gathered. Waits have numbers that are not
/// used again; whoever owns them says which go on.
package struct DeadlineQueue<Instant: Comparable & Sendable>: Sendable {
    /// In the order of their deadlines.
    private var entries: Deque<(deadline: Instant, id: Int)> = []

    /// An empty queue.
    package init() {}

    /// What is kept, waits that ended included.
    package var count: Int { self.entries.count }

    /// A wait begins.
    ///
    /// - Parameters:
    ///   - id: Its number.
    ///   - deadline: When it ends at the latest.
    ///   - count: How many waits go on, this one included.
    ///   - isWaiting: Whether the wait of this number goes on.
    package mutating func add(_ id: Int, at deadline: Instant, amongWaiting count: Int, _ isWaiting: (Int) -> Bool) {
        if self.entries.count > 2 * count + 32 { self.entries.removeAll { !isWaiting($0.id) } }
        self.entries.insert((deadline, id), at: self.place(of: deadline))
    }

    /// Behind all that are not later: mostly the end, as waits are mostly as long as each other.
    private func place(of deadline: Instant) -> Int {
        guard let last = self.entries.last, deadline < last.deadline else { return self.entries.count }
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.entries[middle].deadline <= deadline { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The next deadline of a wait that goes on.
    package mutating func next(_ isWaiting: (Int) -> Bool) -> Instant? {
        while let first = self.entries.first {
            if isWaiting(first.id) { return first.deadline }
            self.entries.removeFirst()
        }
        return nil
    }

    /// Takes out the first wait that goes on and whose deadline has passed; `nil` when there is none.
    package mutating func popDue(at now: Instant, _ isWaiting: (Int) -> Bool) -> Int? {
        guard let next = self.next(isWaiting), next <= now else { return nil }
        return self.entries.popFirst()?.id
    }
}
