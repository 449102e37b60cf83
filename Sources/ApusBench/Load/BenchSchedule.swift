/// When messages are meant to go out at a fixed rate.
///
/// The times depend on the start and the rate alone. A message that goes out late, because the server or this program was slow, is measured from
/// the time it was meant for: the waiting of those that could not be sent counts too ("coordinated omission"; Gil Tene, "How NOT to Measure Latency").
struct BenchSchedule: Equatable {
    private let start: UInt64
    private let interval: Double
    private var sent: UInt64 = 0

    /// - Parameters:
    ///   - start: Nanoseconds of a clock.
    ///   - rate: A second; above zero.
    init(start: UInt64, rate: Double) {
        self.start = start
        self.interval = 1e9 / max(rate, 1e-6)
    }

    /// When the next message is meant to go.
    var next: UInt64 { self.start &+ UInt64(Double(self.sent) * self.interval) }

    /// The time the next message was meant for, when that has come; each call takes one.
    mutating func due(at now: UInt64) -> UInt64? {
        let next = self.next
        guard next <= now else { return nil }
        self.sent += 1
        return next
    }
}
