import Histogram

/// The counters and latencies of one event loop during the measurement.
struct BenchStatistics: Sendable {
    /// The highest latency recorded: one minute. A longer latency is recorded as one minute.
    private static let highestNanoseconds: UInt64 = 60_000_000_000
    /// A message that is handled later than this after its scheduled time counts as late. The wait
    /// for a free slot follows the handling and is attributed to the server.
    static let lateNanoseconds: UInt64 = 10_000_000

    /// The latencies in nanoseconds, with three significant digits from a microsecond up.
    private(set) var latencies = Self.emptyHistogram()
    private(set) var messages = 0
    /// At a fixed rate, the number of messages that have become due. A message without a free slot
    /// counts when it becomes due, not when it is sent.
    private(set) var sends = 0
    /// The number of due messages that were handled more than ``lateNanoseconds`` after their
    /// scheduled time.
    private(set) var lateSends = 0
    /// At a fixed rate, the number of messages without an answer at the end. Each adds the time it
    /// had waited to the latencies.
    private(set) var unanswered = 0

    private static func emptyHistogram() -> Histogram<UInt64> {
        Histogram(lowestDiscernibleValue: 256, highestTrackableValue: Self.highestNanoseconds, numberOfSignificantValueDigits: .three)
    }

    /// Records an answer to a message that was sent at `sent` or scheduled for `sent`.
    mutating func answered(sent: UInt64, at now: UInt64) {
        self.messages += 1
        self.latencies.record(min(now >= sent ? now - sent : 0, Self.highestNanoseconds))
    }

    /// Records a message that was scheduled for `intended` and has become due.
    mutating func becameDue(intended: UInt64, at now: UInt64) {
        self.sends += 1
        if now > intended, now - intended > Self.lateNanoseconds { self.lateSends += 1 }
    }

    /// Records a message that was not answered by the end of the load.
    mutating func abandoned(sent: UInt64, at now: UInt64) {
        self.unanswered += 1
        self.latencies.record(min(now >= sent ? now - sent : 0, Self.highestNanoseconds))
    }

    /// Adds the statistics of another loop.
    mutating func add(_ other: Self) {
        self.latencies.add(other.latencies)
        self.messages += other.messages
        self.lateSends += other.lateSends
        self.sends += other.sends
        self.unanswered += other.unanswered
    }

    /// A summary of the latencies; `nil` if no latency was recorded.
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
