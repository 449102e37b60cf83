import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

@Suite struct FrameDecoderTests {
    private func bytes(_ frames: [(head: FrameHead, body: [UInt8])]) throws -> [UInt8] {
        var buffer = ByteBuffer()
        for frame in frames {
            try frame.head.write(into: &buffer)
            buffer.writeBytes(frame.body)
        }
        return Array(buffer.readableBytesView)
    }

    /// Returns a head that the encoder never writes.
    private func raw(type: UInt8 = 1, flags: UInt8 = 0, header: UInt32 = 0, body: UInt64 = 0, text: String = "") -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(type, flags, UInt16(0), header, body)
        buffer.writeString(text)
        return Array(buffer.readableBytesView)
    }

    private func code(_ bytes: [UInt8], limits: FramedLimits = .init()) -> FramedError.Code? {
        decodeAll(bytes, with: FrameDecoder(limits: limits), ends: false).error?.code
    }

    @Test(arguments: steps)
    func framesArriveInParts(step: Int) throws {
        let message = FrameHead(.message, stream: 3, header: ["name": "é"], bodyLength: 5)
        let ping = FrameHead(.ping)
        let data = FrameHead(.data, stream: 65535, bodyLength: 300)
        let unknown = FrameHead(FrameType(rawValue: 99), flags: .optional, header: ["x": [1, 2]], bodyLength: 1)
        let chunk = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = try self.bytes([(message, Array("hello".utf8)), (ping, []), (data, chunk), (unknown, [9])])
        let result = decodeAll(bytes, with: FrameDecoder(), step: step)
        #expect(result.error == nil)
        #expect(
            joined(result.parts) == [
                .head(message), .body(ByteBuffer(string: "hello")), .end, .head(ping), .end, .head(data), .body(ByteBuffer(bytes: chunk)),
                .end, .head(unknown), .body(ByteBuffer(bytes: [9])), .end,
            ])
    }

    @Test func lengthsAreCheckedBeforeAnythingElseComes() {
        var limits = FramedLimits(maximumBodyBytes: 10)
        limits.maximumHeaderBytes = 20
        #expect(self.code(self.raw(header: 20, body: 10), limits: limits) == nil)
        #expect(self.code(self.raw(header: 21), limits: limits) == .headerTooLarge)
        #expect(self.code(self.raw(header: .max), limits: limits) == .headerTooLarge)
        #expect(self.code(self.raw(header: 20, body: 11), limits: limits) == .frameTooLarge)
        // docs/hazards.md, 1, 2 and 13: lengths do not trap, the default limits refuse a gigabyte,
        // and no length is truncated to 32 bits.
        #expect(self.code(self.raw(body: 1 << 32), limits: limits) == .frameTooLarge)
        #expect(self.code(self.raw(body: 1 << 63), limits: .init(maximumBodyBytes: .max)) == .frameTooLarge)
        #expect(self.code(self.raw(body: .max), limits: .init(maximumBodyBytes: .max)) == .frameTooLarge)
        #expect(self.code(self.raw(body: UInt64(Int.max)), limits: .init(maximumBodyBytes: .max)) == nil)
        #expect(self.code(self.raw(body: 1 << 30)) == .frameTooLarge)
        #expect(self.code(self.raw(header: 65537)) == .headerTooLarge)
    }

    @Test func boundsOutOfRangeAreClamped() {
        var limits = FramedLimits()
        limits.maximumHeaderBytes = .max
        #expect(limits.maximumHeaderBytes == 65536)
        limits.maximumHeaderBytes = -1
        #expect(limits.maximumHeaderBytes == 0)
        #expect(self.code(self.raw(header: 1), limits: limits) == .headerTooLarge)
    }

    @Test(arguments: [0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF] as [UInt8])
    func reservedFlagsAreRefused(flags: UInt8) {
        #expect(self.code(self.raw(flags: flags)) == .protocolViolation)
        #expect(self.code(self.raw(flags: flags & 0x03)) == nil)
    }

    @Test(arguments: 0...UInt8.max)
    func onlySomeFramesHaveBodies(type: UInt8) {
        let mayHaveBody = type == 1 || type == 2 || type == 4 || type > 13
        #expect(self.code(self.raw(type: type, body: 1)) == (mayHaveBody ? nil : .protocolViolation))
        #expect(self.code(self.raw(type: type)) == nil)
    }

    @Test(arguments: ["[]", "{\"a\":1,\"a\":2}", "{", "\u{0}{}", "{}\u{0}"])
    func aHeaderIsAStrictObject(text: String) {
        #expect(self.code(self.raw(header: UInt32(text.utf8.count), text: text)) == .malformedHeader)
    }

    @Test func anEmptyObjectAndNoHeaderAreOne() {
        let parts = decodeAll(self.raw(header: 2, text: "{}") + self.raw(), with: FrameDecoder()).parts
        #expect(parts == [.head(FrameHead(.message)), .end, .head(FrameHead(.message)), .end])
    }

    @Test func theEndWithinAFrameIsAnError() throws {
        let bytes = try self.bytes([(FrameHead(.message, header: ["a": 1], bodyLength: 3), [1, 2, 3])])
        #expect(decodeAll(bytes, with: FrameDecoder()).error == nil)
        for count in 1..<bytes.count {
            #expect(decodeAll(Array(bytes.prefix(count)), with: FrameDecoder()).error?.code == .truncated)
        }
    }

    @Test func aDeadlineRunsWithinAHeadOnly() throws {
        var decoder = FrameDecoder()
        var buffer = ByteBuffer()
        #expect(!decoder.isWithinHead(buffer))
        let bytes = try self.bytes([(FrameHead(.message, header: ["a": 1], bodyLength: 2), [1, 2])])
        for (index, byte) in bytes.enumerated() {
            buffer.writeInteger(byte)
            while try decoder.decode(buffer: &buffer) != nil {}
            #expect(decoder.isWithinHead(buffer) == (index < 16 + 7 - 1))
            #expect(decoder.isWithinFrame(buffer) == (index < bytes.count - 1))
        }
    }

    @Test func nothingComesAfterAnError() {
        var decoder = FrameDecoder()
        var buffer = ByteBuffer(bytes: self.raw(flags: 0x80) + self.raw())
        for _ in 0..<2 {
            #expect(ApusFramedProtocolTests.code { _ = try decoder.decode(buffer: &buffer) } == .protocolViolation)
        }
        #expect(!decoder.isWithinHead(buffer))
    }
}
