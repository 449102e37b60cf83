import NIOCore

/// An entry of an archive. Source: APPNOTE.TXT 4.3.7, 4.3.9, 4.3.12, 4.5.3.
struct ZIPEntry {
    let name: String
    let time: DOSTime
    /// The offset of the local header in the archive.
    let offset: UInt64
    let maximumSize: UInt64
    /// Whether the sizes of the local header and of the descriptor have 8 bytes.
    let isLarge: Bool
    var checksum: UInt32 = 0
    var size: UInt64 = 0
    var compressedSize: UInt64 = 0

    /// The version of ZIP required to read the entry: 4.5 for Zip64, otherwise 2.0.
    private var versionNeeded: UInt16 { self.isLarge || self.offset >= UInt64(UInt32.max) ? 45 : 20 }
    /// Bit 3: a data descriptor follows the data. Bit 11: the name is UTF-8.
    private static let flags: UInt16 = 1 << 3 | 1 << 11
    private static let deflated: UInt16 = 8
    private static let zip64: UInt16 = 1

    func writeLocalHeader(to output: inout ByteBuffer) {
        output.writeLittle(0x0403_4B50 as UInt32)
        self.writeCommonFields(checksum: 0, size: 0, compressedSize: 0, to: &output)
        output.writeLittle(UInt16(self.isLarge ? 20 : 0))
        output.writeString(self.name)
        if self.isLarge {
            output.writeLittle(Self.zip64)
            output.writeLittle(16 as UInt16)
            output.writeLittle(0 as UInt64)
            output.writeLittle(0 as UInt64)
        }
    }

    func writeDescriptor(to output: inout ByteBuffer) {
        output.writeLittle(0x0807_4B50 as UInt32)
        output.writeLittle(self.checksum)
        if self.isLarge {
            output.writeLittle(self.compressedSize)
            output.writeLittle(self.size)
        } else {
            output.writeLittle(UInt32(truncatingIfNeeded: self.compressedSize))
            output.writeLittle(UInt32(truncatingIfNeeded: self.size))
        }
    }

    func writeDirectoryHeader(to output: inout ByteBuffer) {
        // The extra field contains the numbers that do not fit into 32 bits, in this order.
        let numbers = [self.size, self.compressedSize, self.offset]
        let large = numbers.filter { $0 >= UInt64(UInt32.max) }
        output.writeLittle(0x0201_4B50 as UInt32)
        output.writeLittle(3 << 8 | 45 as UInt16)  // made by: UNIX
        self.writeCommonFields(
            checksum: self.checksum, size: UInt32(clamping: self.size), compressedSize: UInt32(clamping: self.compressedSize), to: &output)
        output.writeLittle(UInt16(large.isEmpty ? 0 : 4 + 8 * large.count))
        output.writeLittle(0 as UInt16)  // the length of the comment
        output.writeLittle(0 as UInt16)  // the number of the disk
        output.writeLittle(0 as UInt16)  // internal attributes
        output.writeLittle(0o100_600 << 16 as UInt32)  // a file that its owner can read and write
        output.writeLittle(UInt32(clamping: self.offset))
        output.writeString(self.name)
        if !large.isEmpty {
            output.writeLittle(Self.zip64)
            output.writeLittle(UInt16(8 * large.count))
            for number in large { output.writeLittle(number) }
        }
    }

    private func writeCommonFields(checksum: UInt32, size: UInt32, compressedSize: UInt32, to output: inout ByteBuffer) {
        output.writeLittle(self.versionNeeded)
        output.writeLittle(Self.flags)
        output.writeLittle(Self.deflated)
        output.writeLittle(self.time.time)
        output.writeLittle(self.time.date)
        output.writeLittle(checksum)
        output.writeLittle(compressedSize)
        output.writeLittle(size)
        output.writeLittle(UInt16(clamping: self.name.utf8.count))
    }
}

/// The records that end the central directory. Source: APPNOTE.TXT 4.3.14 to 4.3.16.
struct ZIPDirectoryEnd {
    let count: UInt64
    let size: UInt64
    let offset: UInt64

    func write(to output: inout ByteBuffer) {
        if self.count >= UInt64(UInt16.max) || self.size >= UInt64(UInt32.max) || self.offset >= UInt64(UInt32.max) {
            output.writeLittle(0x0606_4B50 as UInt32)
            output.writeLittle(44 as UInt64)  // the size of the rest of the record
            output.writeLittle(3 << 8 | 45 as UInt16)
            output.writeLittle(45 as UInt16)
            output.writeLittle(0 as UInt32)
            output.writeLittle(0 as UInt32)
            output.writeLittle(self.count)
            output.writeLittle(self.count)
            output.writeLittle(self.size)
            output.writeLittle(self.offset)
            output.writeLittle(0x0706_4B50 as UInt32)
            output.writeLittle(0 as UInt32)
            output.writeLittle(self.offset + self.size)
            output.writeLittle(1 as UInt32)
        }
        output.writeLittle(0x0605_4B50 as UInt32)
        output.writeLittle(0 as UInt16)
        output.writeLittle(0 as UInt16)
        output.writeLittle(UInt16(clamping: self.count))
        output.writeLittle(UInt16(clamping: self.count))
        output.writeLittle(UInt32(clamping: self.size))
        output.writeLittle(UInt32(clamping: self.offset))
        output.writeLittle(0 as UInt16)
    }
}

/// A time in the format of MS-DOS, in UTC, from 1980 to 2107, with a resolution of two seconds.
struct DOSTime: Equatable {
    let time: UInt16
    let date: UInt16

    /// - Parameter milliseconds: Milliseconds since 1970. A time before 1980 or after 2107 is
    ///   replaced by the nearest valid one.
    init(milliseconds: Int64) {
        let first: Int64 = 315_532_800  // 1980-01-01
        let last: Int64 = 4_354_819_199  // 2107-12-31 23:59:59
        let seconds = min(max(milliseconds / 1_000, first), last)
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        // The civil date of a day number, with years that begin in March (H. Hinnant,
        // "chrono-Compatible Low-Level Date Algorithms").
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        self.date = UInt16(clamping: (year - 1980) << 9 | month << 5 | dayOfMonth)
        self.time = UInt16(clamping: (second / 3_600) << 11 | (second / 60 % 60) << 5 | second % 60 / 2)
    }
}

extension ByteBuffer {
    fileprivate mutating func writeLittle(_ value: some FixedWidthInteger) { self.writeInteger(value, endianness: .little) }
}
