/// An id of 120 random bits from the system's generator: 20 characters of base64url, as in Node's
/// engine.io.
package struct RandomID: Hashable, Sendable, LosslessStringConvertible {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let charactersPerHalf = 10

    /// The two halves: ten characters of six bits each, the first in the lowest bits. A `String`
    /// would cost a heap object of 80 bytes for each session.
    private let first: UInt64
    private let second: UInt64

    private init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Returns a new random id.
    package static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let bits = (UInt64(1) << UInt64(6 * Self.charactersPerHalf)) - 1
        return Self(generator.next() & bits, generator.next() & bits)
    }

    /// Parses an id received from a client. Returns `nil` if the text is not a valid id.
    package init?(_ description: String) {
        let text = description.utf8
        guard text.count == 2 * Self.charactersPerHalf, let first = Self.half(text.prefix(Self.charactersPerHalf)),
            let second = Self.half(text.suffix(Self.charactersPerHalf))
        else { return nil }
        self.init(first, second)
    }

    private static func half(_ text: Substring.UTF8View) -> UInt64? {
        var half: UInt64 = 0
        for character in text.reversed() {
            guard let bits = Self.alphabet.firstIndex(of: character) else { return nil }
            half = half << 6 | UInt64(bits)
        }
        return half
    }

    package var description: String {
        String(unsafeUninitializedCapacity: 2 * Self.charactersPerHalf) { text in
            for (start, half) in [(0, self.first), (Self.charactersPerHalf, self.second)] {
                var bits = half
                for index in start..<start + Self.charactersPerHalf {
                    text[index] = Self.alphabet[Int(truncatingIfNeeded: bits & 63)]
                    bits >>= 6
                }
            }
            return 2 * Self.charactersPerHalf
        }
    }
}
