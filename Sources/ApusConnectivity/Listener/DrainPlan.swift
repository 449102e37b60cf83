/// The order and times at which a server notifies its connections of a shutdown. Pure: the source
/// of randomness is an argument.
///
/// Clients notified at the same moment would reconnect to another server at the same moment. The
/// plan therefore uses batches in random order, and varies the interval between two batches by
/// half, as Phoenix does.
package struct DrainPlan<Connection> {
    private var remaining: ArraySlice<Connection>
    private let batchSize: Int
    private let gap: Duration

    /// - Parameters:
    ///   - connections: The connections to notify.
    ///   - batchSize: The number of connections in a batch, more if `period` requires it.
    ///   - gap: The mean time between two batches.
    ///   - period: The time for all notifications. Batches grow if the notifications do not fit
    ///     into it.
    package init(
        _ connections: [Connection], batchSize: Int, gap: Duration, within period: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        self.remaining = connections.shuffled(using: &generator)[...]
        self.gap = gap
        // The first batch is due immediately, so there is one batch more than there are gaps. A gap
        // is at most 1.5 times the mean.
        let longest = gap * 1.5
        let batches = longest > .zero ? min(period / longest, 1_000_000).rounded(.down) + 1 : 1
        let needed = (Double(connections.count) / batches).rounded(.up)
        self.batchSize = max(1, batchSize, Int(needed))
    }

    /// Returns the connections to notify now, and the time until the next call; `nil` after the
    /// last batch.
    package mutating func nextBatch(using generator: inout some RandomNumberGenerator) -> (batch: [Connection], next: Duration?) {
        let batch = Array(self.remaining.prefix(self.batchSize))
        self.remaining = self.remaining.dropFirst(self.batchSize)
        guard !self.remaining.isEmpty else { return (batch, nil) }
        return (batch, self.gap * Double.random(in: 0.5...1.5, using: &generator))
    }
}

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

/// Wraps the system's generator and a stored byte, because ThreadSanitizer crashes on the address
/// of an empty struct.
private struct SystemGenerator: RandomNumberGenerator {
    private var generator = SystemRandomNumberGenerator()
    private var address: UInt8 = 0

    mutating func next() -> UInt64 { self.generator.next() }
}
