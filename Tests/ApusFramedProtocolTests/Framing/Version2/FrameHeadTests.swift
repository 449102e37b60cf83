import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FrameHeadTests {
    private func bytes(_ head: FrameHead) throws(FramedError) -> [UInt8] {
        var buffer = ByteBuffer()
        try head.write(into: &buffer)
        return Array(buffer.readableBytesView)
    }

    // The example of the DocC page Wire-format.
    @Test func theBytesOfAHead() throws {
        let head = FrameHead(.message, flags: .more, stream: 0x0102, header: ["a": 1], bodyLength: 0x0304)
        #expect(
            try self.bytes(head) == [0x01, 0x02, 0x01, 0x02, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0x03, 0x04] + Array(#"{"a":1}"#.utf8))
        #expect(try self.bytes(FrameHead(.ping)) == [0x0B] + [UInt8](repeating: 0, count: 15))
    }

    @Test func aHeaderHasABound() throws {
        let overhead = #"{"a":""}"#.utf8.count
        let full = FrameHead(.message, header: ["a": .string(String(repeating: "x", count: 65536 - overhead))])
        #expect(try self.bytes(full).count == 16 + 65536)
        let over = FrameHead(.message, header: ["a": .string(String(repeating: "x", count: 65537 - overhead))])
        #expect(code { _ = try self.bytes(over) } == .headerTooLarge)
    }

    @Test func aHeadThatFailsToEncodeWritesNothing() {
        var buffer = ByteBuffer()
        for head in [FrameHead(.message, bodyLength: -1), FrameHead(.message, header: ["a": .binary([1])])] {
            #expect(code { try head.write(into: &buffer) } == .invalidUse)
        }
        #expect(buffer.readableBytes == 0)
    }

    @Test func typesAreNamed() {
        #expect(FrameType.hello.isKnown && FrameType.bye.isKnown && !FrameType(rawValue: 14).isKnown)
        #expect(FrameType.bye.description == "bye")
        #expect(FrameType(rawValue: 200).description == "type 200")
        let withBody = (0...UInt8.max).map(FrameType.init(rawValue:)).filter(\.mayHaveBody).filter(\.isKnown)
        #expect(withBody == [.message, .offer, .data])
    }
}
