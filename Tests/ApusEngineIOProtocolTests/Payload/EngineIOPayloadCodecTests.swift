import ApusEngineIOProtocol
import NIOCore
import Testing

private let codec = EngineIOPayloadCodec(version: .v4, maximumPackets: 4)
private func text(_ string: String) -> EngineIOPacket { .message(.text(ByteBuffer(string: string))) }
private func binary(_ bytes: [UInt8]) -> EngineIOPacket { .message(.binary(ByteBuffer(bytes: bytes))) }

@Suite struct EngineIOPayloadCodecTests {
    @Test(arguments: [
        ("4hello", [text("hello")]),
        ("4hello\u{1e}2\u{1e}4world", [text("hello"), .ping, text("world")]),
        ("4hello\u{1e}4€", [text("hello"), text("€")]),
        ("4\u{1e}4", [text(""), text("")]),
        ("451-[…]\u{1e}bAQL/", [text("51-[…]"), binary([1, 2, 255])]),
        ("6", [.noop]),
    ])
    func bodyMatchesTheSpecification(wire: String, packets: [EngineIOPacket]) throws {
        #expect(codec.encode(packets) == EngineIOPayload(bytes: ByteBuffer(string: wire)))
        #expect(try codec.decode(EngineIOPayload(bytes: ByteBuffer(string: wire))) == packets)
    }

    @Test(arguments: [
        (bytes: [UInt8](), code: EngineIOError.Code.malformedPayload),
        ([0x1e], .malformedPacket),
        ([0x34, 0x1e], .malformedPacket),
        ([0x1e, 0x34], .malformedPacket),
        ([0x34, 0x1e, 0x39], .malformedPacket),
        ([0x34, 0x80], .malformedPayload),
        ([0x34, 0xc0, 0xaf], .malformedPayload),
        ([0x34, 0xe2, 0x82], .malformedPayload),
        ([0x34, 0xe2, 0x82, 0x1e, 0xac], .malformedPayload),
        ([0x34, 0xed, 0xa0, 0x80], .malformedPayload),
        ([0x34, 0xf4, 0x90, 0x80, 0x80], .malformedPayload),
        // A binary payload of version 3.
        ([0x00, 0x04, 0x05, 0xff, 0x34, 0x35], .malformedPayload),
    ])
    func wrongBodyIsRefused(bytes: [UInt8], code: EngineIOError.Code) {
        let error = #expect(throws: EngineIOError.self) { try codec.decode(EngineIOPayload(bytes: ByteBuffer(bytes: bytes))) }
        #expect(error?.code == code)
    }

    @Test func binaryFormIsAnotherVersions() {
        let error = #expect(throws: EngineIOError.self) {
            try codec.decode(EngineIOPayload(bytes: ByteBuffer(string: "4a"), isBinary: true))
        }
        #expect(error?.code == .malformedPayload)
    }

    @Test(arguments: [(packets: 4, accepted: true), (5, false), (500_000, false)])
    func boundIsChecked(packets: Int, accepted: Bool) {
        let body = ByteBuffer(string: Array(repeating: "6", count: packets).joined(separator: "\u{1e}"))
        let result = Result { try codec.decode(EngineIOPayload(bytes: body)) }
        switch result {
        case .success(let decoded): #expect(accepted && decoded.count == packets)
        case .failure(let error): #expect(!accepted && (error as? EngineIOError)?.code == .tooManyPackets)
        }
    }

    @Test func utf8IsCheckedAtEveryOffset() throws {
        for padding in 0..<20 {
            let good = "4" + String(repeating: "a", count: padding) + "ä€😀\u{10FFFF}\u{D7FF}\u{E000}"
            #expect(try codec.decode(EngineIOPayload(bytes: ByteBuffer(string: good))).count == 1)
            var bad = ByteBuffer(string: good)
            bad.writeBytes([0xf0, 0x9f, 0x98])
            #expect(throws: EngineIOError.self) { try codec.decode(EngineIOPayload(bytes: bad)) }
        }
    }
}
