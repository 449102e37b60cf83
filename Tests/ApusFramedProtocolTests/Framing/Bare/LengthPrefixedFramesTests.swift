import ApusFramedProtocol
import NIOCore
import Testing

@Suite struct LengthPrefixedFramesTests {
    private static let prefixes: [LengthPrefix] = [
        .uint8, .uint16(), .uint16(.little), .uint32(), .uint32(.little), .uint64(), .uint64(.little), .varint, .uint16().countingItself(),
        .varint.countingItself(),
    ]

    @Test(arguments: prefixes, steps)
    func framesGoRound(prefix: LengthPrefix, step: Int) throws {
        let frames = [0, 1, 2, 126, 127, 128, 200].map { ByteBuffer(repeating: UInt8($0), count: $0) }
        var buffer = ByteBuffer()
        for frame in frames { try LengthPrefixedEncoder(prefix: prefix).encode(data: frame, out: &buffer) }
        let result = decodeAll(Array(buffer.readableBytesView), with: LengthPrefixedDecoder(prefix: prefix), step: step)
        #expect(result.error == nil)
        #expect(result.parts == frames)
    }

    @Test func theBoundIsCheckedAtThePrefix() {
        let decoder = LengthPrefixedDecoder(prefix: .uint32(), maximumFrameBytes: 3)
        #expect(decodeAll([0, 0, 0, 3, 1, 2, 3], with: decoder).parts == [ByteBuffer(bytes: [1, 2, 3])])
        #expect(decodeAll([0, 0, 0, 4], with: decoder, ends: false).error?.code == .frameTooLarge)
        #expect(decodeAll([0, 0, 0, 0], with: LengthPrefixedDecoder(prefix: .uint32(), maximumFrameBytes: -1)).parts == [ByteBuffer()])
    }

    @Test func theEndWithinAFrameIsAnError() {
        let decoder = LengthPrefixedDecoder(prefix: .uint16())
        for count in 1..<4 { #expect(decodeAll(Array([0, 2, 5, 5].prefix(count)), with: decoder).error?.code == .truncated) }
        #expect(decodeAll([0, 2, 5], with: decoder, ends: false).error == nil)
    }

    @Test func nothingComesAfterAnError() {
        var decoder = LengthPrefixedDecoder(prefix: .uint8, maximumFrameBytes: 1)
        var buffer = ByteBuffer(bytes: [2, 1, 1])
        for _ in 0..<2 { #expect(code { _ = try decoder.decode(buffer: &buffer) } == .frameTooLarge) }
        buffer = ByteBuffer(bytes: [1, 1])
        #expect(code { _ = try decoder.decode(buffer: &buffer) } == .frameTooLarge)
    }
}
