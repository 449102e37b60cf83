import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct WholeFileTests {
    private func offer(_ size: Int) throws -> TransferOffer {
        try TransferOffer(id: "x", name: SafeFileName("a"), size: size, wholeHash: String(repeating: "a", count: 64))
    }

    @Test(arguments: [0, 1, 4096, WholeFile.maximumBytes]) func itIsSentInOneFrame(size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        var frame = try WholeFile.frame(self.offer(size), bytes)
        WholeFile.setStream(0x1234, of: &frame)
        var decoder = FrameDecoder()
        var gatherer = TransferChunk.Assembler()
        while let part = try decoder.decode(buffer: &frame) {
            switch part {
            case .head(let head):
                #expect(head.stream == 0x1234)
                #expect(try head == self.offer(size).head(stream: 0x1234))
            case .body(let piece): try gatherer.receivedPiece(piece)
            case .end: break
            }
        }
        #expect(frame.readableBytes == 0 && gatherer.isUsed == (size > 0))
        guard size > 0 else { return }
        let chunk = try gatherer.ended()
        #expect(chunk.isIntact && chunk.offset == 0 && chunk.pieces.flatMap { Array(buffer: $0) } == bytes)
    }

    @Test(arguments: [(WholeFile.maximumBytes, nil), (WholeFile.maximumBytes + 1, .frameTooLarge)] as [(Int, FramedError.Code?)])
    func aLongerOneIsRefusedByItsHead(size: Int, code: FramedError.Code?) throws {
        var session = try FramedSession.open()
        var buffer = ByteBuffer()
        try FrameHead(.offer, stream: 2, bodyLength: 12 + size).write(into: &buffer)
        #expect(session.receive(buffer).compactMap(\.failure).first == code)
    }
}
