@testable import ApusFramedProtocol
import ApusJSON
import NIOCore
import Testing

/// docs/hazards.md, 13: bodies above 4 GiB. The body repeats one mebibyte.
@Suite struct LargeBodyTests {
    private static let size = 5 << 30
    private static let mebibyte = ByteBuffer(repeating: 0, count: 1 << 20)

    private var limits: FramedLimits { FramedLimits(maximumBodyBytes: 6 << 30) }

    /// Decodes the body. Returns the sum of its pieces, and whether it has ended.
    private func body<Decoder: NIOSingleStepByteToMessageDecoder, Head>(_ decoder: inout Decoder) throws -> (Int, hasEnded: Bool)
    where Decoder.InboundOut == FramePart<Head> {
        var sum = 0
        for _ in 0..<(Self.size >> 20) {
            var bytes = Self.mebibyte
            while let part = try decoder.decode(buffer: &bytes) {
                guard case .body(let piece) = part else { return (sum, true) }
                sum += piece.readableBytes
            }
        }
        var nothing = ByteBuffer()
        return (sum, try decoder.decode(buffer: &nothing) == .end)
    }

    @Test func hazard13_aFrame() throws {
        var buffer = ByteBuffer()
        try FrameHead(.message, bodyLength: Self.size).write(into: &buffer)
        #expect(buffer.getBytes(at: 8, length: 8) == [0, 0, 0, 1, 0x40, 0, 0, 0])
        var decoder = FrameDecoder(limits: self.limits)
        #expect(try decoder.decode(buffer: &buffer) == .head(FrameHead(.message, bodyLength: Self.size)))
        #expect(try self.body(&decoder) == (Self.size, true))
    }

    @Test func hazard13_aMessageOfTheFixedMode() throws {
        var buffer = try FixedHeader(bodyLength: Self.size).encoded(headerLength: 40)
        var decoder = try FixedHeaderDecoder(headerLength: 40, limits: self.limits)
        #expect(try decoder.decode(buffer: &buffer) == .head(FixedHeader(bodyLength: Self.size)))
        #expect(try self.body(&decoder) == (Self.size, true))
    }

    @Test func hazard13_aMessageInPieces() throws {
        var message = try FramedOutgoingMessage(header: ["a": 1], bodyLength: Self.size, peer: FramedHello(limits: self.limits))
        var session = try FramedSession(isClient: true, framing: .version2, limits: self.limits)
        var hello = ByteBuffer()
        try FramedHello(limits: self.limits).head.write(into: &hello)
        _ = session.receivedBytes(&hello)
        var (sum, announced, hasEnded) = (0, 0, false)
        while !message.isComplete {
            for buffer in try message.next(Self.mebibyte) {
                var bytes = buffer
                for action in session.receivedBytes(&bytes) {
                    switch action {
                    case .messageBegan(let header, let length):
                        #expect(header == ["a": 1])
                        announced = length
                    case .messageBody(let piece): sum += piece.readableBytes
                    case .messageEnded: hasEnded = true
                    default: Issue.record("\(action)")
                    }
                }
            }
        }
        #expect(announced == Self.size && sum == Self.size && hasEnded)
    }

    @Test func hazard13_lengthsInFrontOfFrames() throws {
        #expect(throws: FramedError.self) { try LengthPrefixCheck.length(Self.size, of: .uint32()) }
        #expect(try LengthPrefixCheck.length(Self.size, of: .uint64()) == Self.size)
        #expect(try LengthPrefixCheck.length(Self.size, of: .uint64(.little)) == Self.size)
        #expect(try LengthPrefixCheck.length(Self.size, of: .varint) == Self.size)
    }

    /// Runs both state machines of a transfer without the bytes.
    @Test func hazard13_aFile() throws {
        let offer = try TransferOffer(id: "x", name: SafeFileName("a"), size: Self.size)
        #expect(try TransferOffer(offer.head(stream: 1).header).size == Self.size)
        var sender = TransferSender(offer, stream: 1)
        var receiver = TransferReceiver(offer, stream: 1)
        _ = receiver.start(at: .zero)
        _ = sender.start(at: .zero)
        let shown = PrefixProof(bytes: 1 << 32, sha256: String(repeating: "a", count: 64))
        for case .send(let head) in receiver.prepared(upTo: shown.bytes, at: .zero) { _ = sender.receivedHead(head, at: .zero) }
        for case .send(let head) in sender.prefixHashed(shown.sha256, at: .zero) {
            #expect(receiver.receivedHead(head, at: .zero) == [.compare(shown)])
        }
        var toSender = receiver.compared(isEqual: true, at: .zero)
        var furthest = 0
        for _ in 0..<10_000 {
            for case .send(let head) in toSender { _ = sender.receivedHead(head, at: .zero) }
            toSender = []
            switch sender.next() {
            case .chunk(let offset, let count):
                #expect(offset >= 1 << 32)
                #expect(receiver.receivedChunk(offset: offset, count: count, isIntact: true, at: .zero) == .write)
                furthest = offset + count
                for case .sync(let end) in receiver.written(upTo: furthest) { toSender += receiver.synced(upTo: end, at: .zero) }
            case .hash:
                #expect(furthest == Self.size)
                return
            case .wait: break
            }
        }
        Issue.record("the transfer did not end: \(furthest)")
    }
}

/// Writes a length and reads it back.
private enum LengthPrefixCheck {
    static func length(_ length: Int, of prefix: LengthPrefix) throws -> Int {
        var buffer = ByteBuffer()
        try prefix.write(payloadLength: length, into: &buffer)
        guard let read = try prefix.peek(buffer) else { return -1 }
        return Int(read.payloadLength)
    }
}
