/// The random numbers of one run (SplitMix64), which are the same on every machine for the same
/// seed.
final class Dice {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `count - 1`; 0 if `count` is not positive.
    func below(_ count: Int) -> Int { count > 1 ? Int((self.next() >> 33) % UInt64(count)) : 0 }

    func number(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(self.below(Int(range.upperBound - range.lowerBound) + 1))
    }

    func chance(perMille: Int) -> Bool { self.below(1_000) < perMille }

    func pick<Value>(_ values: [Value]) -> Value? { values.isEmpty ? nil : values[self.below(values.count)] }
}
