/// A token bucket. Its fill level is the number of uses that may be spent now, and increases over
/// time up to the capacity.
package struct TokenBucket: Sendable {
    /// The capacity of a bucket and its refill rate.
    package struct Rate: Sendable, Hashable {
        /// The number of uses that may be spent without a pause.
        package var burst: Int64
        /// The number of uses that are refilled in each `period`.
        package var count: Int64
        /// The refill period, in milliseconds.
        package var period: Int64

        package init(burst: Int64, _ count: Int64, per period: Duration) {
            self.burst = max(1, burst)
            self.count = max(1, count)
            self.period = max(1, period.components.seconds * 1_000)
        }
    }

    // The fill level in units of 1/`period` of a use, so that integers are exact. Each millisecond
    // adds `count` units, and one use costs `period` units.
    private var units: Int64
    private var updated: Int64

    package init(_ rate: Rate, at time: Int64) {
        self.units = rate.burst * rate.period
        self.updated = time
    }

    /// Returns the time until `cost` uses are available, in milliseconds; 0 if they are available
    /// now. A cost above the burst is possible if the bucket is full.
    package mutating func wait(for cost: Int64, _ rate: Rate, at time: Int64) -> Int64 {
        self.refill(rate, at: time)
        let missing = min(cost, rate.burst) * rate.period - self.units
        return missing <= 0 ? 0 : (missing + rate.count - 1) / rate.count
    }

    /// Spends uses that `wait` reported as available.
    package mutating func use(_ cost: Int64, _ rate: Rate) { self.units -= cost * rate.period }

    /// Returns whether the bucket is full. A full bucket need not be stored.
    package mutating func isFull(_ rate: Rate, at time: Int64) -> Bool {
        self.refill(rate, at: time)
        return self.units >= rate.burst * rate.period
    }

    private mutating func refill(_ rate: Rate, at time: Int64) {
        let full = rate.burst * rate.period
        let (refill, isTooLarge) = time.elapsed(since: self.updated).multipliedReportingOverflow(by: rate.count)
        let (units, isOverflown) = self.units.addingReportingOverflow(refill)
        self.units = isTooLarge || isOverflown ? full : min(full, units)
        self.updated = max(self.updated, time)
    }
}
