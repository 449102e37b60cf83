import ApusSeededRandom

/// The random numbers of one run (SplitMix64). A seed produces the same numbers on every machine.
final class SeededGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { self.generator = SplitMix64(state: seed) }

    func next() -> UInt64 { self.generator.next() }

    /// Returns a number from 0 to `count - 1`; 0 if `count` is not positive.
    func below(_ count: Int) -> Int { count > 1 ? Int((self.next() >> 33) % UInt64(count)) : 0 }

    func number(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(self.below(Int(range.upperBound - range.lowerBound) + 1))
    }

    func chance(perMille: Int) -> Bool { self.below(1_000) < perMille }

    func pick<Value>(_ values: [Value]) -> Value? { values.isEmpty ? nil : values[self.below(values.count)] }
}
