/// The scheduled send times of messages at a fixed rate.
///
/// The times depend only on the start and the rate. The latency of a delayed message counts from
/// its scheduled time, so that the delay is included ("coordinated omission"; Gil Tene, "How NOT to
/// Measure Latency").
struct BenchSchedule: Equatable {
    private let start: UInt64
    private let interval: Double
    private var sent: UInt64 = 0

    /// - Parameters:
    ///   - start: The time of the first message, in nanoseconds of a monotonic clock.
    ///   - rate: The number of messages per second, greater than 0.
    init(start: UInt64, rate: Double) {
        self.start = start
        self.interval = 1e9 / max(rate, 1e-6)
    }

    /// The scheduled time of the next message, in nanoseconds.
    var next: UInt64 { self.start &+ UInt64(Double(self.sent) * self.interval) }

    /// Removes and returns the scheduled time of the next message, or returns `nil` if it is in the
    /// future.
    mutating func due(at now: UInt64) -> UInt64? {
        let next = self.next
        guard next <= now else { return nil }
        self.sent += 1
        return next
    }
}
