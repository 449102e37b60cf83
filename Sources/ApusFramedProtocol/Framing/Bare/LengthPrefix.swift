public import NIOCore

/// The encoding of the length in front of a frame.
public struct LengthPrefix: Hashable, Sendable {
    private enum Form: Hashable {
        case integer(bytes: Int, Endianness)
        case varint
    }

    /// The number of bytes that 64 bits need at seven bits per byte.
    private static let longestVarint = 10

    private let form: Form

    /// Whether the length includes the prefix, as in PostgreSQL. Default: `false`.
    public var countsItself = false

    private init(form: Form) {
        self.form = form
    }

    /// One byte: frames of up to 255 bytes.
    public static let uint8 = Self(form: .integer(bytes: 1, .big))

    /// Two bytes: frames of up to 65,535 bytes.
    public static func uint16(_ endianness: Endianness = .big) -> Self { Self(form: .integer(bytes: 2, endianness)) }

    /// Four bytes: frames of less than 4 GiB.
    public static func uint32(_ endianness: Endianness = .big) -> Self { Self(form: .integer(bytes: 4, endianness)) }

    /// Eight bytes.
    public static func uint64(_ endianness: Endianness = .big) -> Self { Self(form: .integer(bytes: 8, endianness)) }

    /// Seven bits per byte, least significant group first, as in Protocol Buffers ("Base 128
    /// Varints").
    ///
    /// Writes the shortest form. Reads longer forms of up to ten bytes, because some writers
    /// reserve space for the length and fill it in later.
    public static let varint = Self(form: .varint)

    /// Returns a copy whose length includes the prefix.
    public func countingItself() -> Self {
        var copy = self
        copy.countsItself = true
        return copy
    }

    // MARK: Reading

    /// A decoded prefix: its own length, and the length of the payload that follows.
    struct Read: Hashable {
        var prefixLength: Int
        var payloadLength: UInt64
    }

    /// Decodes the prefix without consuming it. Returns `nil` when the prefix is incomplete.
    func peek(_ buffer: ByteBuffer) throws(FramedError) -> Read? {
        guard let (number, count) = try self.number(buffer) else { return nil }
        guard self.countsItself else { return Read(prefixLength: count, payloadLength: number) }
        guard number >= UInt64(count) else {
            throw FramedError(
                .malformedHeader, message: "the length \(number) must be at least \(count), because it includes the prefix")
        }
        return Read(prefixLength: count, payloadLength: number - UInt64(count))
    }

    private func number(_ buffer: ByteBuffer) throws(FramedError) -> (UInt64, Int)? {
        let start = buffer.readerIndex
        switch self.form {
        case .integer(let bytes, let order):
            let number: UInt64? =
                switch bytes {
                case 1: buffer.getInteger(at: start, as: UInt8.self).map(UInt64.init)
                case 2: buffer.getInteger(at: start, endianness: order, as: UInt16.self).map(UInt64.init)
                case 4: buffer.getInteger(at: start, endianness: order, as: UInt32.self).map(UInt64.init)
                default: buffer.getInteger(at: start, endianness: order, as: UInt64.self)
                }
            return number.map { ($0, bytes) }
        case .varint:
            var number: UInt64 = 0
            for (offset, byte) in buffer.readableBytesView.prefix(Self.longestVarint).enumerated() {
                let bits = UInt64(byte & 0x7F)
                // The tenth byte contains the last of the 64 bits.
                guard offset < Self.longestVarint - 1 || bits <= 1 else {
                    throw FramedError(.malformedHeader, message: "the varint of a length has more than 64 bits")
                }
                number |= bits << UInt64(7 * offset)
                if byte & 0x80 == 0 { return (number, offset + 1) }
            }
            guard buffer.readableBytes < Self.longestVarint else {
                throw FramedError(.malformedHeader, message: "the varint of a length has more than \(Self.longestVarint) bytes")
            }
            return nil
        }
    }

    // MARK: Writing

    /// Writes the prefix of a frame.
    ///
    /// - Throws: ``FramedError/Code/frameTooLarge`` when the length does not fit the prefix. In
    ///   this case, nothing is written.
    func write(payloadLength: Int, into buffer: inout ByteBuffer) throws(FramedError) {
        switch self.form {
        case .integer(let bytes, let order):
            let largest = UInt64.max >> UInt64(64 - 8 * bytes)
            let (sum, overflow) = UInt64(payloadLength.magnitude).addingReportingOverflow(self.countsItself ? UInt64(bytes) : 0)
            guard !overflow, sum <= largest else {
                throw FramedError(
                    .frameTooLarge, message: "the length \(payloadLength) of a frame does not fit in its prefix of \(bytes) bytes")
            }
            switch bytes {
            case 1: buffer.writeInteger(UInt8(truncatingIfNeeded: sum))
            case 2: buffer.writeInteger(UInt16(truncatingIfNeeded: sum), endianness: order)
            case 4: buffer.writeInteger(UInt32(truncatingIfNeeded: sum), endianness: order)
            default: buffer.writeInteger(sum, endianness: order)
            }
        case .varint:
            let length = UInt64(payloadLength.magnitude)
            var count = 0
            // Including the prefix can make the prefix one byte longer: repeat until the size is
            // stable.
            while self.countsItself, Self.varintLength(length + UInt64(count)) > count { count += 1 }
            var rest = length + UInt64(count)
            while rest >= 0x80 {
                buffer.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            buffer.writeInteger(UInt8(truncatingIfNeeded: rest))
        }
    }

    private static func varintLength(_ number: UInt64) -> Int {
        max(1, (UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7)
    }
}
