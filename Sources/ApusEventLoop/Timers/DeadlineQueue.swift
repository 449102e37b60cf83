import DequeModule

/// A queue of deadlines for waits that usually end before their deadline. Performs no I/O.
///
/// An entry is not removed when its wait ends: it is skipped at its deadline, or removed together
/// with others when many have accumulated. Each wait has a number that is never reused; the owner
/// reports which waits are active.
package struct DeadlineQueue<Instant: Comparable & Sendable>: Sendable {
    /// The waits in the order of their deadlines.
    private var entries: Deque<(deadline: Instant, id: Int)> = []

    /// Creates an empty queue.
    package init() {}

    /// The number of entries, including waits that have ended.
    package var count: Int { self.entries.count }

    /// Adds a wait.
    ///
    /// - Parameters:
    ///   - id: The number of the wait.
    ///   - deadline: The latest time at which the wait ends.
    ///   - count: The number of active waits, including this one.
    ///   - isWaiting: Returns whether the wait with this number is active.
    package mutating func add(_ id: Int, at deadline: Instant, amongWaiting count: Int, _ isWaiting: (Int) -> Bool) {
        if self.entries.count > 2 * count + 32 { self.entries.removeAll { !isWaiting($0.id) } }
        self.entries.insert((deadline, id), at: self.place(of: deadline))
    }

    /// Returns the index after all entries with an earlier or equal deadline: usually the end,
    /// because most waits have the same length.
    private func place(of deadline: Instant) -> Int {
        guard let last = self.entries.last, deadline < last.deadline else { return self.entries.count }
        var (low, high) = (0, self.entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.entries[middle].deadline <= deadline { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the earliest deadline of an active wait.
    package mutating func next(_ isWaiting: (Int) -> Bool) -> Instant? {
        while let first = self.entries.first {
            if isWaiting(first.id) { return first.deadline }
            self.entries.removeFirst()
        }
        return nil
    }

    /// Removes and returns the first active wait whose deadline has passed, or returns `nil`.
    package mutating func popDue(at now: Instant, _ isWaiting: (Int) -> Bool) -> Int? {
        guard let next = self.next(isWaiting), next <= now else { return nil }
        return self.entries.popFirst()?.id
    }
}
