/// In what order and at what times a server that goes down says so. Pure: randomness is passed in.
///
/// Everybody told at once would be everybody back at once, at the server next door. So they are told in batches, in random order, and the
/// gap between two batches varies by half (Phoenix' drainer does the same).
package struct DrainPlan<Connection> {
    private var remaining: ArraySlice<Connection>
    private let batchSize: Int
    private let gap: Duration

    /// - Parameters:
    ///   - connections: Whoever is to be told.
    ///   - batchSize: How many at a time, if the time allows.
    ///   - gap: The mean time between two batches.
    ///   - period: The time everybody is to be told in. When the batches do not fit they become larger.
    package init(
        _ connections: [Connection], batchSize: Int, gap: Duration, within period: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        self.remaining = connections.shuffled(using: &generator)[...]
        self.gap = gap
        // The first batch goes at once, so there is one batch more than there are gaps; a gap is at most one and a half.
        let longest = gap * 1.5
        let batches = longest > .zero ? min(period / longest, 1_000_000).rounded(.down) + 1 : 1
        let needed = (Double(connections.count) / batches).rounded(.up)
        self.batchSize = max(1, batchSize, Int(needed))
    }

    /// The next to be told, and the time until the next call; `nil` after the last batch.
    package mutating func nextBatch(using generator: inout some RandomNumberGenerator) -> (batch: [Connection], next: Duration?) {
        let batch = Array(self.remaining.prefix(self.batchSize))
        self.remaining = self.remaining.dropFirst(self.batchSize)
        guard !self.remaining.isEmpty else { return (batch, nil) }
        return (batch, self.gap * Double.random(in: 0.5...1.5, using: &generator))
    }
}

// With the system's randomness.
extension DrainPlan {
    package init(_ connections: [Connection], batchSize: Int, gap: Duration, within period: Duration) {
        var generator = SystemGenerator()
        self.init(connections, batchSize: batchSize, gap: gap, within: period, using: &generator)
    }

    package mutating func nextBatch() -> (batch: [Connection], next: Duration?) {
        var generator = SystemGenerator()
        return self.nextBatch(using: &generator)
    }
}

/// The system's generator with an address: the empty one has none, and ThreadSanitizer crashes when it looks there.
private struct SystemGenerator: RandomNumberGenerator {
    private var generator = SystemRandomNumberGenerator()
    private var address: UInt8 = 0

    mutating func next() -> UInt64 { self.generator.next() }
}
