/// The four bytes a client's payload is mixed with (RFC 6455 5.3).
package struct WebSocketMaskingKey: Hashable, Sendable {
    /// The four bytes as they lie on the wire, loaded in the machine's own order.
    package let word: UInt32

    package init(word: UInt32) {
        self.word = word
    }

    /// The key for what follows after `count` bytes.
    package func turned(by count: Int) -> Self {
        // In the machine's own order: the byte that lies first is the lowest here, the highest on a big-endian machine.
        let bits = UInt32(truncatingIfNeeded: count & 3) &* 8
        let little = self.word.littleEndian
        return Self(word: UInt32(littleEndian: bits == 0 ? little : little >> bits | little << (32 &- bits)))
    }

    /// Masks or unmasks: the same operation, eight bytes at a time.
    ///
    /// Byte by byte this was 9 % of an echo server (`platform.md`).
    package func apply(to bytes: UnsafeMutableRawBufferPointer) {
        guard self.word != 0, let start = bytes.baseAddress else { return }
        let double = UInt64(self.word) << 32 | UInt64(self.word)
        var offset = 0
        let wordsEnd = bytes.count & ~7
        while offset < wordsEnd {
            let mixed = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ double
            start.storeBytes(of: mixed, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        withUnsafeBytes(of: double) { key in
            while offset < bytes.count {
                bytes[offset] ^= key[offset & 7]  // `wordsEnd` is a multiple of eight, so the key starts anew
                offset &+= 1
            }
        }
    }
}
