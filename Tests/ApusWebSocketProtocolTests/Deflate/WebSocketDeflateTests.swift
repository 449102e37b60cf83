import ApusWebSocketProtocol
import NIOCore
import Testing

/// An agreement with the same window and memory for both directions.
func agreement(windowBits: Int = 15, takesContextOver: Bool = true, level: Int = 6) -> WebSocketDeflateAgreement {
    var parameters = WebSocketDeflateParameters()
    parameters.serverMaximumWindowBits = windowBits
    parameters.clientMaximumWindowBits = .atMost(windowBits)
    parameters.serverNoContextTakeover = !takesContextOver
    parameters.clientNoContextTakeover = !takesContextOver
    var configuration = WebSocketDeflateConfiguration()
    configuration.compressionLevel = level
    return WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: configuration)
}

/// Returns text with near and distant repetitions, identical for the same seed.
func sample(_ length: Int, seed: UInt64 = 1) -> ByteBuffer {
    var state = seed
    var words: [UInt8] = []
    while words.count < length {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        words += Array("\(["swift", "flies", "for ten", "months", "\(state >> 50)"][Int(state >> 33) % 5]) ".utf8)
    }
    return ByteBuffer(bytes: words.prefix(length))
}

@Suite struct WebSocketDeflateTests {
    private func inflate(
        _ bytes: [UInt8]..., with inflater: WebSocketInflater? = nil, maximum: Int = 1 << 20
    ) throws -> [UInt8] {
        let inflater = try inflater ?? WebSocketInflater(agreement())
        var output = ByteBuffer()
        for (index, piece) in bytes.enumerated() {
            try inflater.inflate(
                ByteBuffer(bytes: piece), isLast: index == bytes.count - 1, into: &output, maximumBytes: maximum)
        }
        return Array(output.readableBytesView)
    }

    private func code(_ body: () throws -> Void) -> WebSocketError.Code? {
        do { try body() } catch { return (error as? WebSocketError)?.code }
        return nil
    }

    // The examples of RFC 7692 7.2.3.
    @Test func theExamplesOfTheSpecification() throws {
        let hello = Array("Hello".utf8)
        let inflater = try WebSocketInflater(agreement())
        #expect(try self.inflate([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], with: inflater) == hello)
        #expect(try self.inflate([0xF2, 0x00, 0x11, 0x00, 0x00], with: inflater) == hello)  // refers to the message before
        #expect(try self.inflate([0xF2, 0x48, 0xCD], [0xC9, 0xC9, 0x07, 0x00]) == hello)  // fragments
        #expect(try self.inflate([0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]) == hello)  // not compressed
        #expect(try self.inflate([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]) == hello)  // two blocks
        #expect(try self.inflate([0x00]) == [])  // an empty message

        let deflater = try WebSocketDeflater(agreement())
        var output = ByteBuffer()
        try deflater.deflate(ByteBuffer(string: "Hello"), isLast: true, into: &output)
        #expect(Array(output.readableBytesView) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
        output.clear()
        try deflater.deflate(ByteBuffer(string: "Hello"), isLast: true, into: &output)
        #expect(Array(output.readableBytesView) == [0xF2, 0x00, 0x11, 0x00, 0x00])
        output.clear()
        try deflater.deflate(ByteBuffer(), isLast: true, into: &output)
        #expect(Array(output.readableBytesView) == [0x00])
    }

    @Test func aFinalBlockEndsAMessageAndNotTheContext() throws {
        let inflater = try WebSocketInflater(agreement())
        for _ in 0..<3 {
            #expect(try self.inflate([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], with: inflater) == Array("Hello".utf8))
            #expect(try self.inflate([0xF2, 0x00, 0x11, 0x00, 0x00], with: inflater) == Array("Hello".utf8))
        }
    }

    /// See docs/hazards.md, 5, and CVE-2022-3252.
    @Test(
        arguments: [
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00, 0x00], [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x01],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00] + Array(repeating: 0, count: 100_000),
        ] as [[UInt8]])
    func junkAfterTheEnd(bytes: [UInt8]) {
        #expect(self.code { _ = try self.inflate(bytes) } == .invalidCompression)
    }

    @Test(
        arguments: [
            [0xFF], [0x06], [0xF2, 0x48, 0xCD, 0xC9, 0xC9], [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48], [], [0x05, 0xE0, 0x81],
            [0xF2, 0x02, 0x11, 0x00],  // refers back before the first byte
        ] as [[UInt8]])
    func invalidDeflateDataIsRefused(bytes: [UInt8]) {
        #expect(self.code { _ = try self.inflate(bytes) } == .invalidCompression)
    }

    /// 64 MiB of zeros in 65 kB: the output never exceeds the limit (docs/hazards.md, 4;
    /// CVE-2026-39804).
    @Test func aBombIsCountedAsItComesOut() throws {
        let deflater = try WebSocketDeflater(agreement(level: 9))
        var bomb = ByteBuffer()
        for index in 0..<64 {
            try deflater.deflate(ByteBuffer(repeating: 0, count: 1 << 20), isLast: index == 63, into: &bomb)
        }
        #expect(bomb.readableBytes < 70_000)
        let inflater = try WebSocketInflater(agreement())
        var output = ByteBuffer()
        #expect(
            self.code { try inflater.inflate(bomb, isLast: true, into: &output, maximumBytes: 1 << 20) } == .messageTooLarge)
        #expect(output.readableBytes == 1 << 20)
        #expect(output.capacity <= 1 << 20)
    }

    @Test(arguments: [(4096, true), (4095, false), (1 << 20, true), (0, false)])
    func theBoundOfTheInflatedMessage(maximum: Int, accepted: Bool) throws {
        let deflater = try WebSocketDeflater(agreement())
        var compressed = ByteBuffer()
        try deflater.deflate(sample(4096), isLast: true, into: &compressed)
        let code = self.code { _ = try self.inflate(Array(compressed.readableBytesView), maximum: maximum) }
        #expect(code == (accepted ? nil : .messageTooLarge))
    }

    /// Includes 8 bits: the deflater uses 9, and the peer's window of 256 bytes suffices.
    @Test(arguments: 8...15, [true, false])
    func deflatedMessagesAreInflated(windowBits: Int, takesContextOver: Bool) throws {
        let agreement = agreement(windowBits: windowBits, takesContextOver: takesContextOver)
        var deflater = try WebSocketDeflater(agreement)
        var inflater = try WebSocketInflater(agreement)
        for (index, length) in [1, 5, 300, 0, 70_000, 2, 200_000].enumerated() {
            let message = sample(length, seed: UInt64(index) + 7)
            var compressed = ByteBuffer()
            var rest = message
            // In pieces, as a streaming sender.
            while rest.readableBytes > 30_000, let piece = rest.readSlice(length: 30_000) {
                try deflater.deflate(piece, isLast: false, into: &compressed)
            }
            try deflater.deflate(rest, isLast: true, into: &compressed)
            // In small pieces and with little output space, so that zlib has only its window to
            // refer to.
            var output = ByteBuffer()
            while compressed.readableBytes > 100, let piece = compressed.readSlice(length: 100) {
                try inflater.inflate(piece, isLast: false, into: &output, maximumBytes: 1 << 20)
            }
            try inflater.inflate(compressed, isLast: true, into: &output, maximumBytes: 1 << 20)
            #expect(output == message)
            if !takesContextOver {
                deflater = try WebSocketDeflater(agreement)
                inflater = try WebSocketInflater(agreement)
            }
        }
    }
}
