import ApusFramedProtocol
import NIOCore
import Testing

@Suite struct FixedLengthFramesTests {
    @Test(arguments: steps)
    func framesGoRound(step: Int) throws {
        let frames = [ByteBuffer(bytes: [1, 2, 3]), ByteBuffer(bytes: [4, 5, 6])]
        var buffer = ByteBuffer()
        for frame in frames { try FixedLengthEncoder(length: 3).encode(data: frame, out: &buffer) }
        let result = decodeAll(Array(buffer.readableBytesView), with: try FixedLengthDecoder(length: 3), step: step)
        #expect(result.parts == frames)
        #expect(result.error == nil)
    }

    @Test func theEndWithinAFrameIsAnError() throws {
        #expect(decodeAll([1, 2, 3, 4], with: try FixedLengthDecoder(length: 3)).error?.code == .truncated)
        #expect(decodeAll([1, 2, 3, 4], with: try FixedLengthDecoder(length: 3), ends: false).error == nil)
    }

    @Test func otherLengthsAreRefused() {
        #expect(code { _ = try FixedLengthDecoder(length: 0) } == .invalidUse)
        #expect(code { _ = try FixedLengthEncoder(length: -1) } == .invalidUse)
        var buffer = ByteBuffer()
        #expect(code { try FixedLengthEncoder(length: 3).encode(data: ByteBuffer(bytes: [1]), out: &buffer) } == .invalidUse)
        #expect(buffer.readableBytes == 0)
    }
}
