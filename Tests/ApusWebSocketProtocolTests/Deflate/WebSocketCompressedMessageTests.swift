import ApusWebSocketProtocol
import NIOCore
import Testing

/// Compressed messages through decoder and state machine.
@Suite struct WebSocketCompressedMessageTests {
    private func compressed(_ payload: ByteBuffer) throws -> ByteBuffer {
        var output = ByteBuffer()
        try WebSocketDeflater(agreement()).deflate(payload, isLast: true, into: &output)
        return output
    }

    private func frame(_ payload: ByteBuffer, _ opcode: WebSocketOpcode = .text, isFinal: Bool = true) -> WebSocketFrame {
        WebSocketFrame(isFinal: isFinal, reserved: .rsv1, opcode: opcode, payload: payload)
    }

    private func failure(_ action: WebSocketConnectionStateMachine.FrameAction) -> WebSocketError.Code? {
        guard case .fail(let error, sendClose: true) = action else { return nil }
        return error.code
    }

    @Test func wholeAndInPieces() throws {
        var machine = WebSocketConnectionStateMachine(deflate: agreement(takesContextOver: false))
        let bytes = try self.compressed(ByteBuffer(string: "Hello, hello, hello 中文"))
        #expect(machine.receivedFrame(self.frame(bytes)) == .deliver(.text("Hello, hello, hello 中文")))
        #expect(machine.receivedFrame(self.frame(bytes, .binary)) == .deliver(.binary(Array("Hello, hello, hello 中文".utf8))))
        var rest = bytes
        #expect(machine.receivedFrame(self.frame(ByteBuffer(), isFinal: false)) == .doNothing)
        while rest.readableBytes > 1, let piece = rest.readSlice(length: 1) {
            #expect(machine.receivedFrame(WebSocketFrame(isFinal: false, opcode: .continuation, payload: piece)) == .doNothing)
            #expect(machine.receivedFrame(WebSocketFrame(opcode: .ping)) == .sendPong(ByteBuffer()))
        }
        #expect(
            machine.receivedFrame(WebSocketFrame(opcode: .continuation, payload: rest)) == .deliver(.text("Hello, hello, hello 中文")))
        #expect(machine.receivedFrame(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: "plain"))) == .deliver(.text("plain")))
    }

    @Test func withoutAnAgreement() throws {
        var machine = WebSocketConnectionStateMachine()
        #expect(self.failure(machine.receivedFrame(self.frame(ByteBuffer(bytes: [0])))) == .protocolViolation)
    }

    @Test func textIsCheckedAsItInflates() throws {
        var machine = WebSocketConnectionStateMachine(deflate: agreement())
        let deflater = try WebSocketDeflater(agreement())
        var first = ByteBuffer()
        try deflater.deflate(ByteBuffer(string: "good"), isLast: false, into: &first)
        #expect(machine.receivedFrame(self.frame(first, isFinal: false)) == .doNothing)
        var second = ByteBuffer()
        try deflater.deflate(ByteBuffer(bytes: [0xED, 0xA0]), isLast: false, into: &second)
        // The message is not complete, but already invalid.
        #expect(
            self.failure(machine.receivedFrame(WebSocketFrame(isFinal: false, opcode: .continuation, payload: second))) == .invalidUTF8)
        var cut = WebSocketConnectionStateMachine(deflate: agreement())
        #expect(self.failure(cut.receivedFrame(self.frame(try self.compressed(ByteBuffer(bytes: [0xC3]))))) == .invalidUTF8)
    }

    @Test func theInflatedBytesAreBounded() throws {
        var machine = WebSocketConnectionStateMachine(limits: .init(maximumMessageBytes: 1000), deflate: agreement())
        let action = machine.receivedFrame(self.frame(try self.compressed(ByteBuffer(repeating: 0, count: 1001)), .binary))
        #expect(self.failure(action) == .messageTooLarge)
        guard case .fail(let error, _) = action else { return }
        #expect(error.closeCode == .messageTooBig)
    }

    @Test func brokenCompressionClosesWith1007() throws {
        var machine = WebSocketConnectionStateMachine(deflate: agreement())
        guard case .fail(let error, sendClose: true) = machine.receivedFrame(self.frame(ByteBuffer(bytes: [0x06]))) else {
            Issue.record("taken")
            return
        }
        #expect(error.code == .invalidCompression)
        #expect(error.closeCode == .invalidPayload)
    }
}
