import ApusWebSocketProtocol
import NIOCore
import Testing

/// Frames that are received in pieces, and messages that are sent in pieces.
@Suite struct WebSocketPieceTests {
    /// Autobahn 6.4: a text in an incomplete frame fails at its first invalid byte.
    @Test func badTextInAnIncompleteFrameFailsAtOnce() {
        var decoder = WebSocketFrameDecoder(role: .server, limits: .init())
        var machine = WebSocketConnectionStateMachine()
        var bytes = masked(
            WebSocketFrame(opcode: .text, payload: ByteBuffer(bytes: Array("κόσμε".utf8) + [0xF4, 0x90] + Array("later".utf8))))
        var pending = bytes.readSlice(length: 6 + 11) ?? ByteBuffer()  // the header and the valid bytes
        var frames: [WebSocketFrame] = []
        #expect(decoder.decode(&pending, into: &frames) == nil)
        #expect(frames.map { machine.receivedFrame($0) } == [.doNothing])
        frames = []
        var bad = bytes.readSlice(length: 2) ?? ByteBuffer()
        #expect(decoder.decode(&bad, into: &frames) == nil)
        guard case .fail(let error, sendClose: true) = frames.first.map({ machine.receivedFrame($0) }) else {
            Issue.record("not seen")
            return
        }
        #expect(error.code == .invalidUTF8)
    }

    /// Space is reserved once for the announced length, in proportion to the bytes received
    /// (docs/hazards.md, 2).
    @Test func memoryIsReservedForPartOfTheAnnouncedLength() {
        func capacity(announced: Int) -> Int? {
            var machine = WebSocketConnectionStateMachine()
            let first = WebSocketFrame(
                isFinal: false, opcode: .binary, payload: ByteBuffer(repeating: 1, count: 1000), missing: announced)
            #expect(machine.receivedFrame(first) == .doNothing)
            let last = machine.receivedFrame(WebSocketFrame(opcode: .continuation, payload: ByteBuffer(repeating: 2, count: 24)))
            guard case .deliver(let message) = last else { return nil }
            #expect(message.payload.readableBytes == 1024)
            return message.payload.capacity
        }
        #expect(capacity(announced: 24) == 1024)
        #expect(capacity(announced: 15 << 10) == 16 << 10)
        #expect(capacity(announced: 1 << 30) == 32 << 10)  // 17,000 bytes, in the allocator's steps
    }

    /// 200,000 fragments of at most one byte, with the default limits (docs/hazards.md, 3;
    /// CVE-2026-48779).
    @Test(arguments: [0, 1]) func twoHundredThousandFragments(length: Int) {
        var decoder = WebSocketFrameDecoder(role: .client, limits: .init())
        var machine = WebSocketConnectionStateMachine()
        var first = unmasked(WebSocketFrame(isFinal: false, opcode: .binary))
        let fragment = unmasked(
            WebSocketFrame(isFinal: false, opcode: .continuation, payload: ByteBuffer(repeating: 1, count: length)))
        var read = ByteBuffer()
        for _ in 0..<1000 { read.writeImmutableBuffer(fragment) }
        var count = 0
        var failure = decoder.decodeAll(&first, into: &machine, count: &count)
        for _ in 0..<200 where failure == nil {
            var bytes = read
            failure = decoder.decodeAll(&bytes, into: &machine, count: &count)
        }
        #expect(failure?.code == .tooManyFragments)
        #expect(failure?.closeCode == .policyViolation)
        #expect(count == WebSocketLimits().maximumFragments)
    }

    @Test func aMessageIsSentInPieces() throws {
        var machine = WebSocketConnectionStateMachine()
        let euro = Array("€".utf8)
        #expect(try machine.pieceRequested(ByteBuffer(bytes: euro[..<1]), of: .text, isLast: false) == .text)
        #expect(machine.isSendingPieces)
        #expect(throws: WebSocketError.self) { try machine.pieceRequested(ByteBuffer(), of: .binary, isLast: false) }
        #expect(throws: WebSocketError.self) { try machine.pieceRequested(ByteBuffer(), of: .text, isLast: true) }  // within a character
        #expect(throws: WebSocketError.self) { try machine.pieceRequested(ByteBuffer(bytes: [0xFF]), of: .text, isLast: false) }
        #expect(try machine.pieceRequested(ByteBuffer(bytes: euro[1...]), of: .text, isLast: true) == .continuation)
        #expect(!machine.isSendingPieces)
        #expect(try machine.pieceRequested(ByteBuffer(bytes: [0xFF]), of: .binary, isLast: true) == .binary)
        _ = machine.closeRequested(.empty)
        #expect(try machine.pieceRequested(ByteBuffer(), of: .text, isLast: true) == nil)
    }
}

extension WebSocketFrameDecoder {
    /// Decodes a read and passes its frames to a state machine, which must return no action.
    fileprivate mutating func decodeAll(
        _ bytes: inout ByteBuffer, into machine: inout WebSocketConnectionStateMachine, count: inout Int
    ) -> WebSocketError? {
        var frames: [WebSocketFrame] = []
        let failure = self.decode(&bytes, into: &frames)
        for frame in frames where machine.receivedFrame(frame) != .doNothing { Issue.record("something came of a fragment") }
        count += frames.count
        return failure
    }
}
