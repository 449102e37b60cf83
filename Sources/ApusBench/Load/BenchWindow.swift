/// The messages of one connection that wait for their answers, with the time each was (or was meant to be) sent.
///
/// Echoes come back in order. Acks come with the number of their message, in any order; numbers are those of the places here, so that the frame of each
/// place is encoded once.
struct BenchWindow {
    private var times: [UInt64]
    /// Ordered: a ring of the places in use begins here. Numbered: unused.
    private var first = 0
    private(set) var count = 0
    /// Numbered: the places that are free, the next one last.
    private var free: [Int]?

    /// - Parameters:
    ///   - capacity: Messages under way at most.
    ///   - isNumbered: Whether an answer says which message it answers.
    init(capacity: Int, isNumbered: Bool) {
        self.times = Array(repeating: 0, count: max(capacity, 1))
        self.free = isNumbered ? Array((0..<max(capacity, 1)).reversed()) : nil
    }

    var isFull: Bool { self.count == self.times.count }

    /// A message goes out. Answers its place, or `nil` when as many as may be are under way.
    mutating func sent(at time: UInt64) -> Int? {
        guard !self.isFull else { return nil }
        var place = self.first + self.count
        if place >= self.times.count { place -= self.times.count }
        if let numbered = self.free?.popLast() { place = numbered }
        self.times[place] = time
        self.count += 1
        return place
    }

    /// The oldest message was answered. Answers when it was sent; `nil` when none was.
    mutating func answered() -> UInt64? {
        guard self.count > 0 else { return nil }
        let time = self.times[self.first]
        self.first = self.first + 1 == self.times.count ? 0 : self.first + 1
        self.count -= 1
        return time
    }

    /// The message of a place was answered. Answers when it was sent; `nil` when nothing waits there.
    mutating func answered(place: Int) -> UInt64? {
        guard self.times.indices.contains(place), self.times[place] != 0 else { return nil }
        let time = self.times[place]
        self.times[place] = 0
        self.free?.append(place)
        self.count -= 1
        return time
    }

    /// When the messages that are still waiting were sent; they are then forgotten.
    mutating func takeUnanswered() -> [UInt64] {
        defer { self = Self(capacity: self.times.count, isNumbered: self.free != nil) }
        if self.free != nil { return self.times.filter { $0 != 0 } }
        return (0..<self.count).map { self.times[(self.first + $0) % self.times.count] }
    }
}
