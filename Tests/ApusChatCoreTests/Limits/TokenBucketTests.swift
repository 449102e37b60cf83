import ApusChatCore
import ApusChatStorage
import ApusSeededRandom
import Testing

/// The exactness of the budgets.
@Suite struct TokenBucketTests {
    private static let rates: [TokenBucket.Rate] = [
        .init(burst: 1, 1, per: .seconds(1)), .init(burst: 100, 20, per: .seconds(1)), .init(burst: 5, 1, per: .seconds(600)),
        .init(burst: 3, 7, per: .seconds(13)), .init(burst: 1_000, 1_000, per: .seconds(1)), .init(burst: 3, 1, per: .seconds(21_600)),
    ]

    /// After the time that a refusal names, the use is allowed; a millisecond earlier it is not.
    @Test(arguments: Self.rates) func theWaitIsExact(rate: TokenBucket.Rate) {
        var generator = SplitMix64(state: 81)
        var bucket = TokenBucket(rate, at: 0)
        var time: Int64 = 0
        for _ in 0..<2_000 {
            time += Int64.random(in: 0...rate.period / 2, using: &generator)
            let cost = Int64.random(in: 1...rate.burst, using: &generator)
            let wait = bucket.wait(for: cost, rate, at: time)
            #expect(wait >= 0 && wait <= rate.burst * rate.period)
            if wait > 0 {
                var early = bucket
                #expect(early.wait(for: cost, rate, at: time + wait - 1) == 1)
                #expect(bucket.wait(for: cost, rate, at: time + wait) == 0)
                time += wait
            }
            bucket.use(cost, rate)
        }
    }

    /// In no period are more uses allowed than the burst and the rate permit.
    @Test(arguments: Self.rates) func theRateIsKept(rate: TokenBucket.Rate) {
        var generator = SplitMix64(state: 83)
        var bucket = TokenBucket(rate, at: 0)
        var time: Int64 = 0
        var uses: Int64 = 0
        for _ in 0..<5_000 {
            time += Int64.random(in: 0...max(1, rate.period / rate.count / 2), using: &generator)
            guard bucket.wait(for: 1, rate, at: time) == 0 else { continue }
            bucket.use(1, rate)
            uses += 1
            #expect(uses <= rate.burst + time * rate.count / rate.period)
        }
        // A step adds at most half a use, so a bucket of two loses nothing.
        #expect(rate.burst == 1 || uses >= min(5_000, time * rate.count / rate.period))
    }

    /// Clocks that go backwards and extreme times neither trap nor refill.
    @Test(arguments: Self.rates) func timesNeverTrap(rate: TokenBucket.Rate) {
        for start in [Int64.min, -1, 0, .max] {
            var bucket = TokenBucket(rate, at: start)
            bucket.use(rate.burst, rate)
            for time in [Int64.min, start, .max, 0, .min] {
                let wait = bucket.wait(for: .max, rate, at: time)
                #expect(wait >= 0 && wait <= rate.burst * rate.period)
            }
            #expect(bucket.isFull(rate, at: .max) || start == .max)
        }
        var bucket = TokenBucket(rate, at: 1_000_000)
        bucket.use(rate.burst, rate)
        #expect(bucket.wait(for: 1, rate, at: 0) == bucket.wait(for: 1, rate, at: 1_000_000))
    }

    /// A full bucket allows a cost above the burst. The debt is refilled in one step or in many.
    @Test(arguments: Self.rates) func aDebtIsRefilledInOneStep(rate: TokenBucket.Rate) {
        let cost = 10 * rate.burst
        var one = TokenBucket(rate, at: 0)
        #expect(one.wait(for: cost, rate, at: 0) == 0)
        one.use(cost, rate)
        var many = one
        let end = (cost * rate.period + rate.count - 1) / rate.count
        for step in 1...100 as ClosedRange<Int64> { _ = many.wait(for: 1, rate, at: end * step / 100) }
        let oneIsFull = one.isFull(rate, at: end)
        #expect(oneIsFull && many.isFull(rate, at: end))
    }

    /// A charge of several owners is made to all or to none of them.
    @Test func chargesAreWhole() {
        var generator = SplitMix64(state: 87)
        var rules = RateRules.off
        rules[.change, .account] = .init(burst: 5, 1, per: .seconds(2))
        rules[.change, .address] = .init(burst: 8, 1, per: .seconds(1))
        var budget = RateBudget(rules: rules)
        let keys: [RateKey] = [.account(UserKey(1)), .account(UserKey(2)), .address(1), .address(2)]
        // Each key alone, in a budget of its own.
        var single: [RateKey: RateBudget] = [:]
        for key in keys { single[key] = RateBudget(rules: rules) }
        var time: Int64 = 0
        for _ in 0..<3_000 {
            time += Int64.random(in: 0...900, using: &generator)
            let chosen = keys.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
            // A copy shows what each owner alone would answer.
            let alone = chosen.map { key in
                var copy = single[key]
                return copy?.charge(.change, to: [key], at: time) ?? .allowed
            }
            let charge = budget.charge(.change, to: Array(chosen), at: time)
            if alone.allSatisfy({ $0 == .allowed }) {
                #expect(charge == .allowed)
                for key in chosen { #expect(single[key]?.charge(.change, to: [key], at: time) == .allowed) }
            } else {
                let waits = alone.compactMap { if case .refused(let after) = $0 { after } else { nil } }
                #expect(charge == .refused(retryAfter: waits.max() ?? 0))
            }
        }
    }
}
