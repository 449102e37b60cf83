import ApusEngineIOProtocol
import NIOCore
import Testing

private let codec = EngineIOPayloadCodec(version: .v3, maximumPackets: 4)
private func text(_ string: String) -> EngineIOPacket { .message(.text(ByteBuffer(string: string))) }
private func binary(_ bytes: [UInt8]) -> EngineIOPacket { .message(.binary(ByteBuffer(bytes: bytes))) }

@Suite("Payloads of version 3") struct EngineIOPayloadCodecV3Tests {
    /// The lengths count UTF-16 code units: one for €, two for 😀.
    @Test(arguments: [
        ("6:4hello", [text("hello")]),
        ("6:4hello1:26:4world", [text("hello"), .ping, text("world")]),
        ("4:4€😀", [text("€😀")]),
        ("12:451-[\"€\",\"😀\"]", [text("51-[\"€\",\"😀\"]")]),
        ("6:b4AQL/", [binary([1, 2, 255])]),
        ("1:6", [.noop]),
        ("6:2probe", [.probePing]),
    ])
    func textFormMatchesTheSpecification(wire: String, packets: [EngineIOPacket]) throws {
        let wire = wire.hasPrefix("12:") ? "\(wire.dropFirst(3).utf16.count):" + wire.dropFirst(3) : wire
        #expect(codec.encode(packets, allowsBinary: false) == EngineIOPayload(bytes: ByteBuffer(string: wire)))
        #expect(try codec.decode(EngineIOPayload(bytes: ByteBuffer(string: wire))) == packets)
    }

    @Test func binaryFormMatchesTheSpecification() throws {
        let packets = [text("€😀"), binary([1, 2, 255])]
        // 4 and €😀 are 8 bytes.
        let wire: [UInt8] = [0, 8, 255] + Array("4€😀".utf8) + [1, 4, 255, 4, 1, 2, 255]
        let payload = EngineIOPayload(bytes: ByteBuffer(bytes: wire), isBinary: true)
        #expect(codec.encode(packets) == payload)
        #expect(try codec.decode(payload) == packets)
        #expect(payload.contentType == "application/octet-stream")
    }

    @Test func lengthHasADigitAByte() throws {
        let wire: [UInt8] = [0, 4, 5, 255] + Array(("4" + String(repeating: "x", count: 44)).utf8)
        #expect(
            try codec.decode(EngineIOPayload(bytes: ByteBuffer(bytes: wire), isBinary: true)) == [text(String(repeating: "x", count: 44))])
        let packets = [text(String(repeating: "x", count: 44)), binary([])]
        #expect(codec.encode(packets).bytes.readableBytesView.starts(with: wire))
    }

    @Test func textAloneStaysText() {
        #expect(codec.encode([text("a")]) == EngineIOPayload(bytes: ByteBuffer(string: "2:4a")))
    }

    @Test(arguments: [
        (wire: "", code: EngineIOError.Code.malformedPayload), (":", .malformedPayload), ("4hello", .malformedPayload),
        ("5", .malformedPayload),
        ("7:4hello", .malformedPayload), ("-1:4", .malformedPayload), ("1 :4", .malformedPayload), ("2:4😀", .malformedPayload),
        ("0:", .malformedPacket), ("5:4hello", .malformedPayload), ("1:9", .malformedPacket), ("4:bAQI", .malformedPacket),
        ("99999999999999999999:4", .malformedPayload), ("999999999999999:4", .malformedPayload),
        ("1:61:61:61:61:6", .tooManyPackets),
    ])
    func wrongTextIsRefused(wire: String, code: EngineIOError.Code) {
        let error = #expect(throws: EngineIOError.self) { try codec.decode(EngineIOPayload(bytes: ByteBuffer(string: wire))) }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        (bytes: [2, 1, 255, 0x36] as [UInt8], code: EngineIOError.Code.malformedPayload),
        ([0], .malformedPayload), ([0, 255], .malformedPayload), ([0, 1], .malformedPayload), ([0, 10, 255], .malformedPayload),
        ([0, 2, 255, 0x36], .malformedPayload), ([0, 1, 255, 0x80], .malformedPayload), ([0, 0, 255], .malformedPacket),
        ([1, 0, 255], .malformedPacket), ([1, 1, 255, 3], .malformedPacket),
        ([UInt8]([0] + Array(repeating: 9, count: 300) + [255]), .malformedPayload),
        ([0, 1, 255, 0x36, 0, 1, 255, 0x36, 0, 1, 255, 0x36, 0, 1, 255, 0x36, 0, 1, 255, 0x36], .tooManyPackets),
    ])
    func wrongBinaryIsRefused(bytes: [UInt8], code: EngineIOError.Code) {
        let payload = EngineIOPayload(bytes: ByteBuffer(bytes: bytes), isBinary: true)
        let error = #expect(throws: EngineIOError.self) { try codec.decode(payload) }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        ("application/octet-stream", true), ("Application/Octet-Stream; charset=x", true), ("text/plain;charset=UTF-8", false),
        ("application/octet-streamer", false), ("application/octet-stream;\u{301}charset=x", true),
        ("application/octet-stream\u{37E}charset=x", false),
    ])
    func contentTypeReportsTheForm(type: String, isBinary: Bool) {
        #expect(EngineIOPayload.isBinary(contentType: type) == isBinary)
        #expect(!EngineIOPayload.isBinary(contentType: nil))
    }
}

@Suite("Packets of version 3") struct EngineIOPacketCodecV3Tests {
    private let codec = EngineIOPacketCodec(version: .v3)

    @Test func binaryMessageFollowsItsType() throws {
        let frame = EngineIOMessage.binary(ByteBuffer(bytes: [4, 1, 2]))
        #expect(self.codec.webSocketFrame(for: binary([1, 2])) == frame)
        #expect(try self.codec.decode(frame) == binary([1, 2]))
    }

    @Test func base64FollowsItsType() throws {
        var text = ByteBuffer()
        self.codec.encodeText(binary([1, 2, 255]), into: &text)
        #expect(String(buffer: text) == "b4AQL/")
        #expect(text.readableBytes == self.codec.encodedLengthEstimate(of: binary([1, 2, 255])))
        #expect(try self.codec.decode(.text(text)) == binary([1, 2, 255]))
    }

    @Test(arguments: [[], [0], [3, 1], [0x34, 1]] as [[UInt8]])
    func binaryFrameThatIsNotAMessageIsRefused(bytes: [UInt8]) {
        #expect(throws: EngineIOError.self) { try self.codec.decode(.binary(ByteBuffer(bytes: bytes))) }
    }

    @Test(arguments: ["b", "bAQL/", "b5AQL/"])
    func base64WithoutItsTypeIsRefused(text: String) {
        #expect(throws: EngineIOError.self) { try self.codec.decode(.text(ByteBuffer(string: text))) }
    }
}
