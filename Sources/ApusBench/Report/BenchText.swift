/// Formats numbers for display.
enum BenchText {
    /// Returns text such as `12,345`, with at most one decimal place below 100 and two below 10.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        if abs(value) < 100 {
            let scale: Double = abs(value) < 10 ? 100 : 10
            let rounded = (value * scale).rounded() / scale
            return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        }
        guard let whole = Int(exactly: value.rounded()) else { return "\(value)" }
        return Self.number(whole)
    }

    static func number(_ value: Int) -> String {
        var digits = String(value.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits.removeLast(3)
        }
        return (value < 0 ? "-" : "") + ([digits[...]] + groups).joined(separator: ",")
    }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    /// Returns text such as `850 ns`, `62 µs`, `1.2 ms` or `3.4 s`.
    static func time(microseconds: Double) -> String {
        switch microseconds {
        case ..<1: "\(Self.number(microseconds * 1000)) ns"
        case ..<1000: "\(Self.number(microseconds)) µs"
        case ..<1_000_000: "\(Self.number(microseconds / 1000)) ms"
        default: "\(Self.number(microseconds / 1_000_000)) s"
        }
    }

    static func bytes(_ count: Double) -> String {
        switch abs(count) {
        case ..<10_000: "\(Self.number(count)) B"
        case ..<10_000_000: "\(Self.number(count / 1000)) kB"
        case ..<10_000_000_000: "\(Self.number(count / 1_000_000)) MB"
        default: "\(Self.number(count / 1_000_000_000)) GB"
        }
    }
}
