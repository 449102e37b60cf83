import CCRC32C

/// The checksum of a chunk: the CRC with Castagnoli's polynomial, as in iSCSI, SCTP and ext4.
///
/// Source: RFC 3720 appendix B.4. By the processor's own instruction where it has one (SSE 4.2, ARMv8 with CRC), which is fourteen times as fast as
/// the other way: eight bytes at a time by eight tables ("slicing by 8", Kounavis and Berry).
package struct CRC32C: Sendable {
    private var register: UInt32 = .max
    private let isAccelerated: Bool

    package init() { self.init(accelerated: true) }

    /// - Parameter accelerated: Whether the processor's instruction is used where there is one; a test asks for the tables.
    package init(accelerated: Bool) {
        self.isAccelerated = accelerated && Self.shift != nil
    }

    /// The checksum of what was fed so far.
    package var value: UInt32 { ~self.register }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if self.isAccelerated, let shift = Self.shift {
            self.register = apus_crc32c_lanes(self.register, bytes.baseAddress, bytes.count, shift)
            return
        }
        self.register = Self.tables.withUnsafeBufferPointer { Self.update(self.register, bytes, $0) }
    }

    private static func update(_ start: UInt32, _ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
        var register = start
        var offset = 0
        while offset &+ 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(register)
            // Masked to eight bits: no index leaves its table.
            register = tables[0x700 | Int(word & 0xFF)]
            register ^= tables[0x600 | Int(word >> 8 & 0xFF)]
            register ^= tables[0x500 | Int(word >> 16 & 0xFF)]
            register ^= tables[0x400 | Int(word >> 24 & 0xFF)]
            register ^= tables[0x300 | Int(word >> 32 & 0xFF)]
            register ^= tables[0x200 | Int(word >> 40 & 0xFF)]
            register ^= tables[0x100 | Int(word >> 48 & 0xFF)]
            register ^= tables[Int(word >> 56)]
            offset &+= 8
        }
        while offset < bytes.count {
            register = tables[Int((register ^ UInt32(bytes[offset])) & 0xFF)] ^ register >> 8
            offset &+= 1
        }
        return register
    }

    /// What joins the lanes in which the instruction is used; `nil`: the processor has none.
    private static let shift: [UInt32]? =
        apus_crc32c_is_supported()
        ? Array(unsafeUninitializedCapacity: 4 * 256) { entries, count in
            apus_crc32c_make_shift(entries.baseAddress)
            count = entries.count
        } : nil

    /// Eight tables of 256 entries, one after the other: entry `n` of table `k` is the CRC of byte `n` followed by `k` zeros.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = tables[Int(before & 0xFF)] ^ before >> 8
        }
        return tables
    }()
}
