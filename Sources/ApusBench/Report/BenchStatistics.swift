import Histogram

/// What one event loop counts while it is measured.
struct BenchStatistics: Sendable {
    /// A minute; a latency above counts as this.
    private static let highestNanoseconds: UInt64 = 60_000_000_000
    /// A message that goes out so much later than it was meant to was held up by the load tool (when its connection had room).
    static let lateNanoseconds: UInt64 = 10_000_000

    /// Nanoseconds, three digits exact from a microsecond on.
    private(set) var latencies = Self.emptyHistogram()
    private(set) var messages = 0
    /// Messages that went out too late for their time although their connection had room for them.
    private(set) var lateSends = 0
    private(set) var sends = 0
    /// Messages that had no answer when the load ended; each counts with the time it had waited by then.
    private(set) var unanswered = 0

    private static func emptyHistogram() -> Histogram<UInt64> {
        Histogram(lowestDiscernibleValue: 256, highestTrackableValue: Self.highestNanoseconds, numberOfSignificantValueDigits: .three)
    }

    /// An answer came; its message was sent, or meant to be sent, at `sent`.
    mutating func answered(sent: UInt64, at now: UInt64) {
        self.messages += 1
        self.latencies.record(min(now >= sent ? now - sent : 0, Self.highestNanoseconds))
    }

    /// A message went out that was meant for `intended`.
    mutating func sent(intended: UInt64, at now: UInt64) {
        self.sends += 1
        if now > intended, now - intended > Self.lateNanoseconds { self.lateSends += 1 }
    }

    /// The load ended without an answer to a message.
    mutating func abandoned(sent: UInt64, at now: UInt64) {
        self.unanswered += 1
        self.latencies.record(min(now >= sent ? now - sent : 0, Self.highestNanoseconds))
    }

    /// Joins what another loop counted.
    mutating func add(_ other: Self) {
        self.latencies.add(other.latencies)
        self.messages += other.messages
        self.lateSends += other.lateSends
        self.sends += other.sends
        self.unanswered += other.unanswered
    }

    /// The latencies in microseconds; `nil` when there are none.
    var summary: BenchReport.Latency? { BenchReport.Latency(self.latencies) }
}

extension BenchReport.Latency {
    init?(_ histogram: Histogram<UInt64>) {
        guard histogram.totalCount > 0 else { return nil }
        func microseconds(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1000 }
        self.init(
            p50: microseconds(50), p90: microseconds(90), p99: microseconds(99), p999: microseconds(99.9), p9999: microseconds(99.99),
            maximum: Double(histogram.max) / 1000, mean: histogram.mean / 1000)
    }
}
