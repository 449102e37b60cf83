import ApusFramedProtocol
import NIOCore
import Testing

/// Tests the wire form of the prefix through the frames that follow it.
@Suite struct LengthPrefixTests {
    private func encode(_ length: Int, _ prefix: LengthPrefix) throws -> [UInt8] {
        var buffer = ByteBuffer()
        try LengthPrefixedEncoder(prefix: prefix).encode(data: ByteBuffer(repeating: 7, count: length), out: &buffer)
        return Array(buffer.readableBytesView.prefix(buffer.readableBytes - length))
    }

    private func decode(_ bytes: [UInt8], _ prefix: LengthPrefix) -> (parts: [ByteBuffer], error: FramedError?) {
        decodeAll(bytes, with: LengthPrefixedDecoder(prefix: prefix, maximumFrameBytes: 1000), ends: false)
    }

    @Test func theBytesOfEveryForm() throws {
        #expect(try self.encode(5, .uint8) == [5])
        #expect(try self.encode(0x0102, .uint16()) == [1, 2])
        #expect(try self.encode(0x0102, .uint16(.little)) == [2, 1])
        #expect(try self.encode(0x0102, .uint32()) == [0, 0, 1, 2])
        #expect(try self.encode(0x0102, .uint32(.little)) == [2, 1, 0, 0])
        #expect(try self.encode(0x0102, .uint64()) == [0, 0, 0, 0, 0, 0, 1, 2])
        #expect(try self.encode(0x0102, .uint64(.little)) == [2, 1, 0, 0, 0, 0, 0, 0])
        // The example 150 of the Protocol Buffers encoding documentation.
        #expect(try self.encode(150, .varint) == [0x96, 0x01])
        #expect(try [0, 127, 128, 16383, 16384].map { try self.encode($0, .varint).count } == [1, 1, 2, 2, 3])
    }

    @Test func aLengthMayCountItself() throws {
        #expect(try self.encode(5, .uint32().countingItself()) == [0, 0, 0, 9])
        #expect(try self.encode(5, .varint.countingItself()) == [6])
        #expect(try self.encode(126, .varint.countingItself()) == [127])
        #expect(try self.encode(127, .varint.countingItself()) == [0x81, 0x01])  // 129 in two bytes: two more than 127
        #expect(self.decode([0, 0, 0, 5, 9], .uint32().countingItself()).parts == [ByteBuffer(bytes: [9])])
        #expect(self.decode([0, 0, 0, 3], .uint32().countingItself()).error?.code == .malformedHeader)
        #expect(self.decode([0], .varint.countingItself()).error?.code == .malformedHeader)
        #expect(self.decode([1], .varint.countingItself()).parts == [ByteBuffer()])
    }

    @Test func aLengthThatDoesNotFitIsNotWritten() throws {
        #expect(try self.encode(255, .uint8) == [255])
        #expect(code { _ = try self.encode(256, .uint8) } == .frameTooLarge)
        #expect(try self.encode(254, .uint8.countingItself()) == [255])
        #expect(code { _ = try self.encode(255, .uint8.countingItself()) } == .frameTooLarge)
        #expect(try self.encode(65535, .uint16()) == [255, 255])
        #expect(code { _ = try self.encode(65536, .uint16()) } == .frameTooLarge)
    }

    @Test func noNumberOfThePeerTraps() {
        for prefix in [LengthPrefix.uint64(), .uint64(.little), .uint64().countingItself()] {
            #expect(self.decode([UInt8](repeating: 0xFF, count: 8), prefix).error?.code == .frameTooLarge)
        }
        #expect(self.decode([0xFF, 0xFF, 0xFF, 0xFF], .uint32()).error?.code == .frameTooLarge)
        #expect(self.decode([UInt8](repeating: 0xFF, count: 9) + [0x01], .varint).error?.code == .frameTooLarge)
        #expect(self.decode([UInt8](repeating: 0xFF, count: 9) + [0x02], .varint).error?.code == .malformedHeader)
        #expect(self.decode([UInt8](repeating: 0x80, count: 10), .varint).error?.code == .malformedHeader)
        #expect(self.decode([UInt8](repeating: 0x80, count: 9) + [0x81], .varint).error?.code == .malformedHeader)
    }

    @Test func longVarintsAreRead() {
        #expect(self.decode([0x82, 0x80, 0x80, 0x00, 1, 2], .varint).parts == [ByteBuffer(bytes: [1, 2])])
        #expect(self.decode([UInt8](repeating: 0x80, count: 9) + [0x00], .varint).parts == [ByteBuffer()])
    }
}
