import ApusFramedProtocol
import NIOCore
import Testing

/// Returns the body of a data frame.
func chunkBody(offset: Int, _ bytes: some Collection<UInt8>) -> [UInt8] {
    var frame = ByteBuffer()
    try? TransferChunk.writeFrame(stream: 1, offset: offset, count: bytes.count, into: &frame) { $0.copyBytes(from: bytes) }
    return Array(frame.readableBytesView.dropFirst(16))
}

@Suite struct TransferChunkTests {
    private func body(offset: Int, _ bytes: [UInt8]) -> [UInt8] {
        chunkBody(offset: offset, bytes)
    }

    private func gather(_ body: [UInt8], step: Int = .max) throws(TransferError) -> TransferChunk.Received {
        var gatherer = TransferChunk.Assembler()
        var input = ByteBuffer(bytes: body)
        while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
            try gatherer.receivedPiece(piece)
        }
        return try gatherer.ended()
    }

    private func code(_ body: [UInt8]) -> TransferError.Code? {
        do {
            _ = try self.gather(body)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func theBytesOfAChunk() {
        #expect(self.body(offset: 0x0102, [7]).prefix(8) == [0, 0, 0, 0, 0, 0, 1, 2])
        var crc = CRC32C()
        ([0, 0, 0, 0, 0, 0, 1, 2, 7] as [UInt8]).withUnsafeBytes { crc.update($0) }
        let sum = crc.value
        #expect(
            self.body(offset: 0x0102, [7]).dropFirst(8) == [
                UInt8(sum >> 24), UInt8(sum >> 16 & 255), UInt8(sum >> 8 & 255), UInt8(sum & 255), 7,
            ])
    }

    @Test func theFrameOfAChunk() throws {
        var buffer = ByteBuffer(string: "before")
        try TransferChunk.writeFrame(stream: 0x0203, offset: 0, count: 3, into: &buffer) { $0.copyBytes(from: [7, 8, 9]) }
        #expect(buffer.readableBytes == 6 + TransferChunk.overhead + 3)
        buffer.moveReaderIndex(forwardBy: 6)
        var decoder = FrameDecoder()
        #expect(try decoder.decode(buffer: &buffer) == .head(FrameHead(.data, stream: 0x0203, bodyLength: 15)))
        // A failed read appends nothing.
        var empty = ByteBuffer(string: "before")
        #expect(throws: TransferError.self) {
            try TransferChunk.writeFrame(stream: 1, offset: 0, count: 3, into: &empty) { _ throws(TransferError) in
                throw TransferError(.source, message: "no disk")
            }
        }
        #expect(empty == ByteBuffer(string: "before"))
    }

    @Test(arguments: steps)
    func chunksGoRound(step: Int) throws {
        let bytes = (0..<200).map { UInt8($0) }
        let chunk = try self.gather(self.body(offset: 1 << 40, bytes), step: step)
        #expect(chunk.offset == 1 << 40 && chunk.count == 200 && chunk.isIntact)
        #expect(chunk.pieces.flatMap { Array($0.readableBytesView) } == bytes)
    }

    @Test func everyFlippedBitIsSeen() throws {
        let body = self.body(offset: 5, [1, 2, 3])
        for bit in 0..<body.count * 8 {
            var wrong = body
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !self.gather(wrong).isIntact)
        }
    }

    @Test func malformedChunksAreRefused() {
        #expect(self.code([]) == .protocolViolation)
        #expect(self.code([UInt8](repeating: 0, count: 11)) == .protocolViolation)
        #expect(self.code([UInt8](repeating: 0, count: 12)) == .protocolViolation)
        #expect(self.code(self.body(offset: 0, [UInt8](repeating: 1, count: TransferChunk.maximumBytes))) == nil)
        #expect(self.code(self.body(offset: 0, [UInt8](repeating: 1, count: TransferChunk.maximumBytes + 1))) == .protocolViolation)
    }

    @Test func noOffsetTraps() throws {
        // An offset beyond any file, with a matching checksum.
        var crc = CRC32C()
        let offset = [UInt8](repeating: 0xFF, count: 8)
        (offset + [1]).withUnsafeBytes { crc.update($0) }
        let sum = withUnsafeBytes(of: crc.value.bigEndian) { Array($0) }
        #expect(self.code(offset + sum + [1]) == .protocolViolation)
        #expect(try !self.gather(offset + [0, 0, 0, 0] + [1]).isIntact)
    }

    @Test(arguments: [1, 7, 1 << 20]) func copiedPiecesAreJoinedAndTheirMemoryIsReused(step: Int) throws {
        var gatherer = TransferChunk.Assembler(copies: true)
        func gather(_ bytes: [UInt8], at offset: Int) throws -> TransferChunk.Received {
            var input = ByteBuffer(bytes: self.body(offset: offset, bytes))
            while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
                try gatherer.receivedPiece(piece)
            }
            return try gatherer.ended()
        }
        func place(_ chunk: TransferChunk.Received) -> Int {
            chunk.pieces[0].withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) }
        }
        var held = [try gather([1, 2, 3], at: 0), try gather([4, 5], at: 3)]
        #expect(held.allSatisfy { $0.isIntact && $0.pieces.count == 1 })
        #expect(held[0].pieces == [ByteBuffer(bytes: [1, 2, 3])] && held[1].pieces == [ByteBuffer(bytes: [4, 5])])
        let first = place(held.removeFirst())
        let third = try gather([6], at: 5)
        #expect(place(third) == first && third.pieces == [ByteBuffer(bytes: [6])])
        #expect(held[0].pieces == [ByteBuffer(bytes: [4, 5])])
    }

    /// More chunks than the pool has buffers: retained chunks remain unchanged.
    @Test func copiedChunksThatAreHeldAreNeverWrittenOver() throws {
        var gatherer = TransferChunk.Assembler(copies: true)
        let held = try (0..<60).map { number in
            try gatherer.receivedPiece(ByteBuffer(bytes: self.body(offset: number, [UInt8(number)])))
            return try gatherer.ended()
        }
        #expect(held.map(\.pieces) == (0..<60).map { [ByteBuffer(bytes: [UInt8($0)])] })
    }

    @Test func theGathererIsResetAfterEachFrame() throws {
        var gatherer = TransferChunk.Assembler()
        for offset in 0..<3 {
            try gatherer.receivedPiece(ByteBuffer(bytes: self.body(offset: offset, [UInt8(offset)])))
            let chunk = try gatherer.ended()
            #expect(chunk.offset == offset && chunk.isIntact)
        }
    }
}
