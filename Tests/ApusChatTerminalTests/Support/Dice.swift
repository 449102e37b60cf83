/// A small deterministic generator (SplitMix64), so that a failure can be repeated.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: Int) { self.state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &self)] }

    /// A text of characters that terminals and editors have stumbled over.
    mutating func text(_ length: ClosedRange<Int>) -> String {
        (0..<Int.random(in: length, using: &self)).map { _ in self.pick(Self.parts) }.joined()
    }

    static let parts = [
        "a", "Z", "9", " ", " ", " ", "-", "é", "e\u{301}", "\u{301}", "你", "好", "世界", "ｱ", "한", "नि", "👍", "👍🏽", "👨‍👩‍👧", "🇨🇳", "🇩",
        "❤️", "❤\u{FE0E}", "1️⃣", "\u{200D}", "\u{200B}", "…", "—", "שלום", "\u{202E}", "\u{1B}", "\u{7}", "\u{9B}", "\t",
        "\u{FFFD}", "word",
    ]
}
