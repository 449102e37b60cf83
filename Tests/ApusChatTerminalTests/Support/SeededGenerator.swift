import ApusSeededRandom

/// A random number generator with a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var generator: SplitMix64

    init(_ seed: Int) {
        self.generator = SplitMix64(state: UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    }

    mutating func next() -> UInt64 { self.generator.next() }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &self)] }

    /// Returns a text of characters that often cause errors in terminals and editors.
    mutating func text(_ length: ClosedRange<Int>) -> String {
        (0..<Int.random(in: length, using: &self)).map { _ in self.pick(Self.parts) }.joined()
    }

    static let parts = [
        "a", "Z", "9", " ", " ", " ", "-", "é", "e\u{301}", "\u{301}", "你", "好", "世界", "ｱ", "한", "नि", "👍", "👍🏽", "👨‍👩‍👧", "🇨🇳", "🇩",
        "❤️", "❤\u{FE0E}", "1️⃣", "\u{200D}", "\u{200B}", "…", "—", "שלום", "\u{202E}", "\u{1B}", "\u{7}", "\u{9B}", "\t",
        "\u{FFFD}", "word",
    ]
}
