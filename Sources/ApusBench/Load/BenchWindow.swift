/// The unanswered messages of one connection, with the send time or the scheduled send time of
/// each.
///
/// Echoes arrive in the order sent. Acks contain the ID of their message and arrive in any order.
/// The IDs are the slots of this window, so that the frame for each slot is encoded once.
struct BenchWindow {
    private var times: [UInt64]
    /// The slot of the oldest message, if answers arrive in order; otherwise unused.
    private var first = 0
    private(set) var count = 0
    /// The free slots, the next one last; `nil` if answers arrive in order.
    private var free: [Int]?

    /// - Parameters:
    ///   - capacity: The maximum number of messages in flight.
    ///   - isNumbered: Whether an answer contains the ID of its message.
    init(capacity: Int, isNumbered: Bool) {
        self.times = Array(repeating: 0, count: max(capacity, 1))
        self.free = isNumbered ? Array((0..<max(capacity, 1)).reversed()) : nil
    }

    var isFull: Bool { self.count == self.times.count }

    /// Records a message sent at `time`.
    /// - Returns: The message's slot, or `nil` if the window is full.
    mutating func sent(at time: UInt64) -> Int? {
        guard !self.isFull else { return nil }
        var place = self.first + self.count
        if place >= self.times.count { place -= self.times.count }
        if let numbered = self.free?.popLast() { place = numbered }
        self.times[place] = time
        self.count += 1
        return place
    }

    /// Removes the oldest message, which was answered.
    /// - Returns: The send time of the message, or `nil` if no message is in flight.
    mutating func answered() -> UInt64? {
        guard self.count > 0 else { return nil }
        let time = self.times[self.first]
        self.first = self.first + 1 == self.times.count ? 0 : self.first + 1
        self.count -= 1
        return time
    }

    /// Removes the message in a slot, which was answered.
    /// - Returns: The send time of the message, or `nil` if the slot is free.
    mutating func answered(place: Int) -> UInt64? {
        guard self.times.indices.contains(place), self.times[place] != 0 else { return nil }
        let time = self.times[place]
        self.times[place] = 0
        self.free?.append(place)
        self.count -= 1
        return time
    }

    /// Removes all messages and returns their send times.
    mutating func takeUnanswered() -> [UInt64] {
        defer { self = Self(capacity: self.times.count, isNumbered: self.free != nil) }
        if self.free != nil { return self.times.filter { $0 != 0 } }
        return (0..<self.count).map { self.times[(self.first + $0) % self.times.count] }
    }
}
