/// An identifier that cannot be guessed: 120 random bits of the system's, in base64url 20 characters, as the reference server's ids.
package struct EngineIOID: Hashable, Sendable, LosslessStringConvertible {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let charactersPerHalf = 10

    /// Ten characters each, six bits a character, the first the lowest. As a text it would be an object of 80 bytes for every session.
    private let first: UInt64
    private let second: UInt64

    private init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// A new one.
    package static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        let bits = (UInt64(1) << UInt64(6 * Self.charactersPerHalf)) - 1
        return Self(generator.next() & bits, generator.next() & bits)
    }

    /// The identifier that a client names; `nil` when it cannot be one of ours.
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
