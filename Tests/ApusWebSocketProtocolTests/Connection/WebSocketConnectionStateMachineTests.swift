import ApusWebSocketProtocol
import NIOCore
import Testing

@Suite struct WebSocketConnectionStateMachineTests {
    private func text(_ text: String, isFinal: Bool = true) -> WebSocketFrame {
        WebSocketFrame(isFinal: isFinal, opcode: .text, payload: ByteBuffer(string: text))
    }

    private func more(_ bytes: [UInt8], isFinal: Bool) -> WebSocketFrame {
        WebSocketFrame(isFinal: isFinal, opcode: .continuation, payload: ByteBuffer(bytes: bytes))
    }

    private func close(_ bytes: [UInt8]) -> WebSocketFrame {
        WebSocketFrame(opcode: .close, payload: ByteBuffer(bytes: bytes))
    }

    private func failure(_ action: WebSocketConnectionStateMachine.FrameAction) -> WebSocketCloseCode? {
        guard case .fail(let error, sendClose: true) = action else { return nil }
        return error.closeCode
    }

    @Test func messagesAndPings() {
        var machine = WebSocketConnectionStateMachine()
        #expect(machine.receivedFrame(text("hi")) == .deliver(.text("hi")))
        #expect(
            machine.receivedFrame(WebSocketFrame(opcode: .ping, payload: ByteBuffer(string: "p"))) == .sendPong(ByteBuffer(string: "p")))
        #expect(machine.receivedFrame(WebSocketFrame(opcode: .pong)) == .receivedPong(ByteBuffer()))
        let bytes = ByteBuffer(bytes: [0xFF])
        #expect(machine.receivedFrame(WebSocketFrame(opcode: .binary, payload: bytes)) == .deliver(.binary(bytes)))
    }

    @Test func aPingIsSentBetweenFragments() {
        var machine = WebSocketConnectionStateMachine()
        #expect(machine.receivedFrame(text("a", isFinal: false)) == .doNothing)
        #expect(machine.receivedFrame(WebSocketFrame(opcode: .ping)) == .sendPong(ByteBuffer()))
        #expect(machine.receivedFrame(more([], isFinal: false)) == .doNothing)
        #expect(machine.receivedFrame(more([0x62], isFinal: true)) == .deliver(.text("ab")))
        #expect(machine.receivedFrame(text("c")) == .deliver(.text("c")))
    }

    @Test func fragmentsOutOfOrder() {
        var first = WebSocketConnectionStateMachine()
        #expect(failure(first.receivedFrame(more([1], isFinal: true))) == .protocolError)
        var second = WebSocketConnectionStateMachine()
        #expect(second.receivedFrame(text("a", isFinal: false)) == .doNothing)
        #expect(failure(second.receivedFrame(text("b"))) == .protocolError)
        #expect(second.receivedFrame(text("c")) == .doNothing)
    }

    @Test func aCharacterCanBeSplitAnywhere() {
        var machine = WebSocketConnectionStateMachine()
        #expect(
            machine.receivedFrame(WebSocketFrame(isFinal: false, opcode: .text, payload: ByteBuffer(bytes: [0xF0, 0x9F]))) == .doNothing)
        #expect(machine.receivedFrame(more([0x98], isFinal: false)) == .doNothing)
        #expect(machine.receivedFrame(more([0x80], isFinal: true)) == .deliver(.text("😀")))
    }

    @Test func invalidTextFailsAtTheFirstInvalidByte() {
        var machine = WebSocketConnectionStateMachine()
        #expect(machine.receivedFrame(text("ok", isFinal: false)) == .doNothing)
        #expect(failure(machine.receivedFrame(more([0xED, 0xA0], isFinal: false))) == .invalidPayload)  // a surrogate
        var half = WebSocketConnectionStateMachine()
        let cut = WebSocketFrame(opcode: .text, payload: ByteBuffer(bytes: [0xC3]))
        #expect(failure(half.receivedFrame(cut)) == .invalidPayload)
    }

    @Test func thePeerCloses() {
        var machine = WebSocketConnectionStateMachine()
        let action = machine.receivedFrame(close([0x03, 0xE8, 0x62, 0x79, 0x65]))
        guard case .answerClose(let answer, let received) = action else {
            Issue.record("\(action)")
            return
        }
        #expect(answer.code == .normalClosure)
        #expect(received.reason == "bye")
        #expect(!machine.isOpen && machine.isFinished)
        #expect(machine.receivedFrame(text("late")) == .doNothing)
        #expect(machine.receivedFrame(close([])) == .doNothing)
        #expect(machine.transportClosed() == .closeTransport)
        #expect(machine.closeTimerFired() == .closeTransport)
        #expect(machine.abortRequested() == false)
    }

    @Test func anEmptyCloseIsAnsweredEmpty() {
        var machine = WebSocketConnectionStateMachine()
        #expect(machine.receivedFrame(close([])) == .answerClose(.empty, received: .empty))
    }

    @Test(
        arguments: [
            ([0x03], .protocolError), ([0x00, 0x00], .protocolError), ([0x03, 0xE7], .protocolError), ([0x03, 0xEC], .protocolError),
            ([0x03, 0xED], .protocolError), ([0x03, 0xEE], .protocolError), ([0x03, 0xF7], .protocolError), ([0x0B, 0xB7], .protocolError),
            ([0x13, 0x88], .protocolError), ([0x03, 0xE8, 0xFF], .invalidPayload),
        ] as [([UInt8], WebSocketCloseCode)])
    func badClosePayloads(bytes: [UInt8], code: WebSocketCloseCode) {
        var machine = WebSocketConnectionStateMachine()
        #expect(failure(machine.receivedFrame(close(bytes))) == code)
    }

    @Test func weCloseAndThePeerAnswers() throws {
        var machine = WebSocketConnectionStateMachine()
        let bye = try WebSocketClosePayload(code: .goingAway, reason: "bye")
        #expect(machine.closeRequested(bye) == .sendClose(bye))
        #expect(machine.closeRequested(bye) == .doNothing)
        #expect(machine.receivedFrame(text("on its way")) == .doNothing)
        #expect(machine.receivedFrame(WebSocketFrame(opcode: .ping)) == .doNothing)
        #expect(
            machine.receivedFrame(close([0x03, 0xE9])) == .finishClose(received: try WebSocketClosePayload(code: .goingAway, reason: "")))
    }

    @Test func weCloseAndThePeerIsSilent() throws {
        var machine = WebSocketConnectionStateMachine()
        #expect(machine.closeRequested(.empty) == .sendClose(.empty))
        guard case .report(let error) = machine.closeTimerFired() else {
            Issue.record("nothing reported")
            return
        }
        #expect(error.code == .timeout)
        #expect(machine.closeTimerFired() == .closeTransport)
    }

    @Test func theTransportEndsInEveryState() {
        var open = WebSocketConnectionStateMachine()
        guard case .report(let error) = open.transportClosed() else {
            Issue.record("nothing reported")
            return
        }
        #expect(error.code == .connectionLost)
        #expect(open.transportClosed() == .closeTransport)
        #expect(open.closeRequested(.empty) == .doNothing)
        #expect(open.decoderFailed(WebSocketError(.protocolViolation, message: "")) == .doNothing)
    }

    @Test func closePayloadsForSending() throws {
        #expect(try WebSocketClosePayload(code: .normalClosure, reason: String(repeating: "é", count: 100)).encoded.readableBytes == 124)
        #expect(throws: WebSocketError.self) { try WebSocketClosePayload(code: .abnormalClosure, reason: "") }
        for reason in ["a\rb", "a\nb", "a\r\nb", "a\0b"] {  // docs/hazards.md, 8
            #expect(throws: WebSocketError.self) { try WebSocketClosePayload(code: .normalClosure, reason: reason) }
        }
    }
}
