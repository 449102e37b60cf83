/// When the last broadcasts were sent. Every connection gets them in order, so the count of its deliveries says which one came.
struct BenchBroadcasts {
    /// A receiver that is further behind is counted without its latency.
    private static let remembered = 1 << 14

    private var times = [UInt64](repeating: 0, count: Self.remembered)
    private(set) var count = 0

    mutating func sent(at time: UInt64) {
        self.times[self.count % Self.remembered] = time
        self.count += 1
    }

    /// When the broadcast of this number (from 0) was sent.
    func sentTime(_ sequence: Int) -> UInt64? {
        guard sequence < self.count, sequence >= self.count - Self.remembered, sequence >= 0 else { return nil }
        return self.times[sequence % Self.remembered]
    }
}
