import ApusWebSocketProtocol
import NIOCore
import Testing

/// Bytes of a client's frame, masked with the key of RFC 6455 5.7.
func masked(_ frame: WebSocketFrame, key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]) -> ByteBuffer {
    let word = key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    var buffer = ByteBuffer()
    WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: word), into: &buffer)
    return buffer
}

func unmasked(_ frame: WebSocketFrame) -> ByteBuffer {
    var buffer = ByteBuffer()
    WebSocketFrameEncoder.write(frame, maskingKey: nil, into: &buffer)
    return buffer
}

@Suite struct WebSocketFrameDecoderTests {
    /// Decodes bytes with a decoder of this role.
    private func decode(
        _ bytes: [UInt8], as role: WebSocketRole = .client, limits: WebSocketLimits = .init()
    ) -> (frames: [WebSocketFrame], error: WebSocketError.Code?) {
        var decoder = WebSocketFrameDecoder(role: role, limits: limits)
        var buffer = ByteBuffer(bytes: bytes)
        var frames: [WebSocketFrame] = []
        let error = decoder.decode(&buffer, into: &frames)
        return (frames, error?.code)
    }

    // The examples of RFC 6455 5.7.
    @Test func theExamplesOfTheSpecification() {
        let hello = WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "Hello"))
        #expect(self.decode([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]).frames == [hello])
        #expect(self.decode([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], as: .server).frames == [hello])
        #expect(Array(masked(hello).readableBytesView) == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(
            self.decode([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]).frames == [
                WebSocketFrame(isFinal: false, opcode: .text, payload: ByteBuffer(string: "Hel")),
                WebSocketFrame(opcode: .continuation, payload: ByteBuffer(string: "lo")),
            ])
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 127, 65535, 65536, 100_000])
    func everyLengthFormGoesRound(length: Int) {
        let frame = WebSocketFrame(opcode: .binary, payload: ByteBuffer(bytes: (0..<length).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(self.decode(Array(masked(frame).readableBytesView), as: .server).frames == [frame])
        #expect(self.decode(Array(unmasked(frame).readableBytesView), as: .client).frames == [frame])
    }

    /// Joins pieces and fragments, so that frames split differently compare equal.
    private func joined(_ frames: [WebSocketFrame]) -> [WebSocketFrame] {
        var joined: [WebSocketFrame] = []
        for frame in frames {
            if frame.opcode == .continuation, let last = joined.indices.last, !joined[last].isFinal {
                joined[last].payload.writeImmutableBuffer(frame.payload)
                joined[last].isFinal = frame.isFinal
                joined[last].missing = frame.missing
            } else {
                joined.append(frame)
            }
        }
        return joined
    }

    @Test(arguments: [1, 2, 3, 7, 64])
    func bytesInPiecesMakeTheSameMessages(step: Int) {
        let expected = [
            WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "one")),
            WebSocketFrame(opcode: .ping, payload: ByteBuffer(bytes: 0..<125)),
            WebSocketFrame(opcode: .binary, payload: ByteBuffer(bytes: (0..<300).map { UInt8(truncatingIfNeeded: $0) })),
            WebSocketFrame(opcode: .text),
        ]
        var input = ByteBuffer()
        for frame in expected { input.writeImmutableBuffer(masked(frame)) }
        var frames: [WebSocketFrame] = []
        var pending = ByteBuffer()
        var decoder = WebSocketFrameDecoder(role: .server, limits: .init())
        while let piece = input.readSlice(length: min(step, input.readableBytes)), piece.readableBytes > 0 {
            pending.writeImmutableBuffer(piece)
            #expect(decoder.decode(&pending, into: &frames) == nil)
            pending.discardReadBytes()
        }
        #expect(self.joined(frames) == expected)
    }

    /// The work for a byte does not depend on the bytes before it (docs/hazards.md, 3). Each call
    /// receives only the bytes that the previous call left.
    @Test func aFrameInOneByteChunksIsLinear() {
        var decoder = WebSocketFrameDecoder(role: .server, limits: .init())
        var input = masked(WebSocketFrame(opcode: .binary, payload: ByteBuffer(repeating: 7, count: 100_000)))
        var pending = ByteBuffer()
        var seen = 0
        var payload = 0
        while let byte = input.readInteger(as: UInt8.self) {
            pending.writeInteger(byte)
            seen += pending.readableBytes
            var frames: [WebSocketFrame] = []
            #expect(decoder.decode(&pending, into: &frames) == nil)
            pending.discardReadBytes()
            payload += frames.reduce(0) { $0 + $1.payload.readableBytes }
        }
        #expect(payload == 100_000)
        #expect(seen < 100_200)
    }

    @Test func theBeginningOfAFrameIsForwarded() {
        var decoder = WebSocketFrameDecoder(role: .client, limits: .init())
        var frames: [WebSocketFrame] = []
        var first = ByteBuffer(bytes: [0x81, 0x05, 0x48, 0x65])
        #expect(decoder.decode(&first, into: &frames) == nil)
        #expect(first.readableBytes == 0)
        var second = ByteBuffer(bytes: [0x6C, 0x6C, 0x6F, 0x89, 0x01])
        #expect(decoder.decode(&second, into: &frames) == nil)
        #expect(second.readableBytes == 2)  // an incomplete Ping stays in the buffer
        #expect(
            frames == [
                WebSocketFrame(isFinal: false, opcode: .text, payload: ByteBuffer(string: "He"), missing: 3),
                WebSocketFrame(opcode: .continuation, payload: ByteBuffer(string: "llo")),
            ])
    }

    @Test func theCompressedBitStandsOnFirstFramesOnly() {
        var decoder = WebSocketFrameDecoder(role: .client, limits: .init(), allowedReservedBits: .rsv1)
        var frames: [WebSocketFrame] = []
        var good = ByteBuffer(bytes: [0x41, 0x00])
        #expect(decoder.decode(&good, into: &frames) == nil)
        var bad = ByteBuffer(bytes: [0xC0, 0x00])
        #expect(decoder.decode(&bad, into: &frames)?.code == .protocolViolation)
        var ping = WebSocketFrameDecoder(role: .client, limits: .init(), allowedReservedBits: .rsv1)
        var control = ByteBuffer(bytes: [0xC9, 0x00])
        #expect(ping.decode(&control, into: &frames)?.code == .protocolViolation)
    }

    @Test(
        arguments: [
            ([0xC1, 0x00], WebSocketError.Code.protocolViolation),  // RSV1 without an extension
            ([0x83, 0x00], .protocolViolation),  // reserved opcodes
            ([0x8B, 0x00], .protocolViolation),
            ([0x81, 0x80], .protocolViolation),  // a masked frame from a server
            ([0x09, 0x00], .protocolViolation),  // a fragmented Ping
            ([0x89, 0x7E], .protocolViolation),  // a Ping above 125 bytes
            ([0x81, 0x7E, 0x00, 0x7D], .protocolViolation),  // not the shortest form
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .protocolViolation),
            ([0x81, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], .protocolViolation),  // docs/hazards.md, 1; CVE-2026-43678
            ([0x81, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .protocolViolation),
            ([0x81, 0x7F, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .messageTooLarge),
            ([0x81, 0x7F, 0, 0, 0, 0, 0x40, 0, 0, 0], .messageTooLarge),  // docs/hazards.md, 2: 1 GiB announced
        ] as [([UInt8], WebSocketError.Code)])
    func aBadHeaderIsRefusedByItself(bytes: [UInt8], code: WebSocketError.Code) {
        #expect(self.decode(bytes).error == code)
        #expect(self.decode(bytes).frames.isEmpty)
    }

    @Test func aClientMustMask() {
        #expect(self.decode([0x81, 0x00], as: .server).error == .protocolViolation)
    }

    @Test(arguments: [(16, true), (17, false)])
    func theBoundIsCheckedAtTheHeader(announced: UInt8, accepted: Bool) {
        let result = self.decode([0x82, announced], limits: WebSocketLimits(maximumMessageBytes: 16))
        #expect(result.error == (accepted ? nil : .messageTooLarge))
    }

    @Test func fragmentsAreCheckedTogether() {
        let limits = WebSocketLimits(maximumMessageBytes: 4)
        #expect(self.decode([0x02, 0x03, 1, 2, 3, 0x80, 0x01], limits: limits).error == nil)
        let result = self.decode([0x02, 0x03, 1, 2, 3, 0x80, 0x02], limits: limits)
        #expect(result.error == .messageTooLarge)
        #expect(result.frames.count == 1)
    }

    @Test func emptyFragmentsAreCounted() {  // docs/hazards.md, 3; CVE-2026-48779
        var limits = WebSocketLimits()
        limits.maximumFragments = 3
        let fragment: [UInt8] = [0x00, 0x00]
        #expect(self.decode([0x01, 0x00] + fragment + [0x80, 0x00], limits: limits).error == nil)
        #expect(self.decode([0x01, 0x00] + fragment + [0x89, 0x00] + fragment + [0x80], limits: limits).error == nil)
        #expect(self.decode([0x01, 0x00] + fragment + fragment + [0x80, 0x00], limits: limits).error == .tooManyFragments)
    }

    @Test func nothingIsReadAfterAnError() {
        var decoder = WebSocketFrameDecoder(role: .client, limits: .init())
        var frames: [WebSocketFrame] = []
        var bad = ByteBuffer(bytes: [0x81, 0x01, 0x41, 0x83, 0x00])
        #expect(decoder.decode(&bad, into: &frames)?.code == .protocolViolation)
        #expect(frames.count == 1)  // the valid frame before the error
        var good = ByteBuffer(bytes: [0x81, 0x00])
        #expect(decoder.decode(&good, into: &frames) == nil)
        #expect(frames.count == 1)
        #expect(good.readableBytes == 0)
    }
}
