/// Limits the rate of actions of accounts, devices, addresses and address blocks.
///
/// All times are milliseconds of a monotonic clock.
package struct RateBudget: Sendable {
    /// The outcome of a charge.
    package enum Charge: Sendable, Equatable {
        case allowed
        /// Nothing was charged. A retry can succeed after this time, in milliseconds.
        case refused(retryAfter: Int64)
    }

    private struct Slot: Hashable {
        let action: RateAction
        let key: RateKey
    }

    private let rules: RateRules
    /// The maximum number of buckets. When it is reached, full buckets are removed. If none is
    /// full, actions of new owners are refused.
    private let capacity: Int
    private var buckets: [Slot: TokenBucket] = [:]
    private var lastSweep: Int64 = .min

    package init(rules: RateRules = .standard, capacity: Int = 200_000) {
        self.rules = rules
        self.capacity = capacity
    }

    package var count: Int { self.buckets.count }

    /// Charges an action to the budgets of all its owners, or to none if one of them is exhausted.
    package mutating func charge(_ action: RateAction, to keys: [RateKey], cost: Int64 = 1, at time: Int64) -> Charge {
        var wait: Int64 = 0
        for key in keys {
            guard let rate = self.rules[action, key.scope] else { continue }
            let slot = Slot(action: action, key: key)
            guard self.buckets[slot] != nil || self.makeRoom(at: time) else { return .refused(retryAfter: 1_000) }
            wait = max(wait, self.buckets[slot, default: TokenBucket(rate, at: time)].wait(for: cost, rate, at: time))
        }
        guard wait == 0 else { return .refused(retryAfter: wait) }
        for key in keys {
            guard let rate = self.rules[action, key.scope] else { continue }
            self.buckets[Slot(action: action, key: key)]?.use(cost, rate)
        }
        return .allowed
    }

    /// Makes space for a new bucket, and returns whether there is space. Sweeps at most once per
    /// second, so that not each new address causes a sweep.
    private mutating func makeRoom(at time: Int64) -> Bool {
        if self.buckets.count < self.capacity { return true }
        if time.elapsed(since: self.lastSweep) >= 1_000 { self.sweep(at: time) }
        return self.buckets.count < self.capacity
    }

    /// Removes the buckets that are full. The shell calls this method periodically.
    package mutating func sweep(at time: Int64) {
        self.lastSweep = time
        for (slot, var bucket) in self.buckets {
            guard let rate = self.rules[slot.action, slot.key.scope] else { continue }
            if bucket.isFull(rate, at: time) { self.buckets[slot] = nil }
        }
    }
}
