/// The send times of the latest broadcasts. Every connection receives them in order, so the number
/// of deliveries to a connection identifies the broadcast.
struct BenchBroadcasts {
    /// The number of send times kept. The delivery of an older broadcast is not counted.
    private static let remembered = 1 << 14

    private var times = [UInt64](repeating: 0, count: Self.remembered)
    private(set) var count = 0

    mutating func sent(at time: UInt64) {
        self.times[self.count % Self.remembered] = time
        self.count += 1
    }

    /// Returns the send time of the broadcast with this number (from 0), or `nil` if it is no
    /// longer kept.
    func sentTime(_ sequence: Int) -> UInt64? {
        guard sequence < self.count, sequence >= self.count - Self.remembered, sequence >= 0 else { return nil }
        return self.times[sequence % Self.remembered]
    }
}
