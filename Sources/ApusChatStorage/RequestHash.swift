/// The SHA-256 of a request as it was sent, which distinguishes a retry from another request with
/// the same client id. The hash consists of four words instead of an array, so that a row needs no
/// allocation for the hash.
package struct RequestHash: Hashable, Sendable {
    package let words: (UInt64, UInt64, UInt64, UInt64)

    /// Creates a hash from 32 bytes in big-endian order; nil for any other number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        func word(_ index: Int) -> UInt64 { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
        self.init(word(0), word(1), word(2), word(3))
    }

    /// Creates a hash from 32 bytes in big-endian order; nil for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard let hash = bytes.withUnsafeBytes({ Self(bytes: $0) }) else { return nil }
        self = hash
    }

    package init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        self.words = (first, second, third, fourth)
    }

    /// The 32 bytes of the hash.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        for word in [self.words.0, self.words.1, self.words.2, self.words.3] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return bytes
    }

    package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.words.0)  // SHA-256 output: one word distinguishes as well as four
    }
}
