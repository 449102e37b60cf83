import ApusFramedProtocol
import Testing

@Suite struct CRC32CTests {
    private func checksum(_ bytes: [UInt8], cut: Int = 0) -> UInt32 {
        var crc = CRC32C()
        bytes.withUnsafeBytes { bytes in
            crc.update(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
            crc.update(UnsafeRawBufferPointer(rebasing: bytes[cut...]))
        }
        return crc.value
    }

    // RFC 3720 B.4, and the usual check value.
    @Test func theVectorsOfTheSpecification() {
        #expect(self.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(self.checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(self.checksum(Array(0..<32)) == 0x46DD_794E)
        #expect(self.checksum((0..<32).reversed()) == 0x113F_DB5C)
        #expect(self.checksum(Array("123456789".utf8)) == 0xE306_9283)
        #expect(self.checksum([]) == 0)
    }

    /// Computes the CRC bit by bit, following its definition.
    private func plain(_ bytes: [UInt8]) -> UInt32 {
        var register = UInt32.max
        for byte in bytes {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x82F6_3B78 }
        }
        return ~register
    }

    @Test func everyLengthAndEveryCut() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ 0x5A) }
        for length in 0...bytes.count {
            let part = Array(bytes.prefix(length))
            #expect(self.checksum(part) == self.plain(part))
        }
        for cut in 0...bytes.count { #expect(self.checksum(bytes, cut: cut) == self.plain(bytes)) }
    }

    // Lengths around three lanes of 4 KiB, and the tables of the fallback.
    @Test(arguments: [4_095, 12_287, 12_288, 12_289, 24_583, 262_144 + 12])
    func longInputsByEitherWay(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ $0 >> 8) }
        var tables = CRC32C(accelerated: false)
        bytes.withUnsafeBytes { tables.update($0) }
        #expect(tables.value == self.plain(bytes))
        #expect(self.checksum(bytes) == tables.value)
        #expect(self.checksum(bytes, cut: 1) == tables.value)
        #expect(self.checksum(bytes, cut: length / 2) == tables.value)
    }

    @Test func everyFlippedBitIsSeen() {
        let bytes = [UInt8](repeating: 7, count: 64)
        let right = self.checksum(bytes)
        for bit in 0..<512 {
            var wrong = bytes
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(self.checksum(wrong) != right)
        }
    }
}
