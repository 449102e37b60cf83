import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FramedOutgoingMessageTests {
    private func bytes(_ buffers: [ByteBuffer]) -> [UInt8] { buffers.flatMap { Array($0.readableBytesView) } }

    @Test func aSmallMessageIsOneFrame() throws {
        var message = try FramedOutgoingMessage(header: ["a": 1], bodyLength: 2, peer: FramedHello())
        #expect(!message.hasBegunSending)
        #expect(
            try self.bytes(message.next(ByteBuffer(bytes: [7, 8]))) == Array(frame(.message, ["a": 1], body: [7, 8]).readableBytesView))
        #expect(message.isComplete)
    }

    @Test func aMessageWithoutABodyIsOneFrame() throws {
        var message = try FramedOutgoingMessage(header: [:], bodyLength: 0, peer: FramedHello())
        #expect(!message.isComplete)
        #expect(try self.bytes(message.next(ByteBuffer())) == Array(frame(.message).readableBytesView))
        #expect(message.isComplete)
        #expect(try message.next(ByteBuffer()).isEmpty)
    }

    @Test func piecesAreFramesOfTheirOwn() throws {
        var message = try FramedOutgoingMessage(header: ["a": 1], bodyLength: 5, peer: FramedHello())
        let first = try frame(.message, flags: .more, ["header": ["a": 1], "length": 5], body: [1, 2])
        #expect(try self.bytes(message.next(ByteBuffer(bytes: [1, 2]))) == Array(first.readableBytesView))
        #expect(try message.next(ByteBuffer()).isEmpty)
        #expect(try self.bytes(message.next(ByteBuffer(bytes: [3]))) == Array(frame(.message, flags: .more, body: [3]).readableBytesView))
        #expect(message.missing == 2)
        #expect(try self.bytes(message.next(ByteBuffer(bytes: [4, 5]))) == Array(frame(.message, body: [4, 5]).readableBytesView))
        #expect(message.isComplete)
    }

    @Test func aLargePieceIsCut() throws {
        let length = 2 * FramedOutgoingMessage.pieceBytes + 1
        var message = try FramedOutgoingMessage(header: [:], bodyLength: length, peer: FramedHello())
        let sizes = try message.next(ByteBuffer(repeating: 1, count: length)).map(\.readableBytes)
        #expect(sizes.count == 6)
        #expect([sizes[1], sizes[3], sizes[5]] == [FramedOutgoingMessage.pieceBytes, FramedOutgoingMessage.pieceBytes, 1])
        #expect(message.isComplete)
    }

    @Test func theFixedModeHasOneHeader() throws {
        var message = try FramedOutgoingMessage(header: ["a": 1], bodyLength: 3, headerLength: 40)
        let header = try FixedHeader(fields: ["a": 1], bodyLength: 3).encoded(headerLength: 40)
        #expect(try message.next(ByteBuffer(bytes: [1])) == [header, ByteBuffer(bytes: [1])])
        #expect(try message.next(ByteBuffer(bytes: [2, 3])) == [ByteBuffer(bytes: [2, 3])])
        #expect(message.isComplete)
        var empty = try FramedOutgoingMessage(header: [:], bodyLength: 0, headerLength: 16)
        #expect(try empty.next(ByteBuffer()) == [FixedHeader(bodyLength: 0).encoded(headerLength: 16)])
    }

    @Test func moreThanAnnouncedIsRefused() throws {
        var message = try FramedOutgoingMessage(header: [:], bodyLength: 2, peer: FramedHello())
        #expect(code { _ = try message.next(ByteBuffer(bytes: [1, 2, 3])) } == .invalidUse)
        #expect(!message.hasBegunSending)
        _ = try message.next(ByteBuffer(bytes: [1, 2]))
        #expect(code { _ = try message.next(ByteBuffer(bytes: [3])) } == .invalidUse)
    }

    @Test func anUnacceptableMessageIsRefusedBeforeTheFirstByte() throws {
        var limits = FramedLimits(maximumBodyBytes: 10)
        limits.maximumHeaderBytes = 60
        let peer = FramedHello(limits: limits)
        _ = try FramedOutgoingMessage(header: [:], bodyLength: 10, peer: peer)
        #expect(code { _ = try FramedOutgoingMessage(header: [:], bodyLength: 11, peer: peer) } == .frameTooLarge)
        let long: JSONObject = ["a": .string(String(repeating: "x", count: 60))]
        #expect(code { _ = try FramedOutgoingMessage(header: long, bodyLength: 0, peer: peer) } == .headerTooLarge)
        #expect(code { _ = try FramedOutgoingMessage(header: [:], bodyLength: -1, peer: peer) } == .invalidUse)
        #expect(code { _ = try FramedOutgoingMessage(header: [:], bodyLength: -1, headerLength: 40) } == .invalidUse)
        #expect(code { _ = try FramedOutgoingMessage(header: long, bodyLength: 1, headerLength: 40) } == .headerTooLarge)
    }
}
