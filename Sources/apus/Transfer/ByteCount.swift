import ArgumentParser
import Foundation

/// A number of bytes as a command-line argument: `500`, `10M`, `1.5GB` (powers of 1000) or `64KiB`
/// (powers of 1024).
struct ByteCount: ExpressibleByArgument, Hashable {
    var bytes: Int

    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let value = Double(number), value >= 0 else { return nil }
        let suffix = argument.dropFirst(number.count).lowercased()
        let base: Double = suffix.hasSuffix("ib") ? 1024 : 1000
        let letter = suffix.hasSuffix("ib") ? suffix.dropLast(2) : suffix.hasSuffix("b") ? suffix.dropLast() : suffix[...]
        guard letter.count <= 1, let power = letter.first.map({ Array("kmgt").firstIndex(of: $0).map { $0 + 1 } }) ?? 0 else { return nil }
        guard !(suffix.hasSuffix("ib") && letter.isEmpty), let bytes = Int(exactly: (value * pow(base, Double(power))).rounded()) else {
            return nil
        }
        self.bytes = bytes
    }

    init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// The number with three digits and a unit, for example `87.1 MB`.
    var text: String {
        var value = Double(self.bytes)
        var units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"][...]
        // A value that would be rounded to 1000 uses the next unit.
        while value >= 999.5, units.count > 1 {
            value /= 1000
            units = units.dropFirst()
        }
        let unit = units.first ?? "B"
        if unit == "B" { return "\(self.bytes) B" }
        return String(format: value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value) + " " + unit
    }
}
