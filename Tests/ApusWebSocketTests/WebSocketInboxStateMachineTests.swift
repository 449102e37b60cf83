@testable import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import Testing

@Suite struct WebSocketInboxStateMachineTests {
    private func machine(messages: Int = 4, bytes: Int = 100) -> WebSocketInboxStateMachine {
        var flow = WebSocketFlowControl()
        flow.receivedMessages = messages
        flow.receivedBytes = bytes
        return WebSocketInboxStateMachine(flow: flow)
    }

    @Test func readingStopsAtTheLimitAndResumesAtHalf() {
        var inbox = self.machine()
        for _ in 1...3 { #expect(inbox.received("a") == .doNothing) }
        #expect(inbox.received("a") == .pauseReading)
        #expect(inbox.received("b") == .doNothing)  // the rest of the same read
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: false))
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: false))
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: true))
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: false))
        #expect(inbox.next(reader: 1) == .deliver("b", resumeReading: false))
        #expect(inbox.next(reader: 1) == .wait)
    }

    @Test func bytesCountAsWell() {
        var inbox = self.machine()
        #expect(inbox.received(.binary(ByteBuffer(repeating: 0, count: 99))) == .doNothing)
        #expect(inbox.received("a") == .pauseReading)
        guard case .deliver(_, resumeReading: true) = inbox.next(reader: 1) else {
            Issue.record("reading does not go on")
            return
        }
    }

    @Test func aReaderThatWaitsGetsTheMessage() {
        var inbox = self.machine()
        #expect(inbox.next(reader: 1) == .wait)
        #expect(inbox.next(reader: 2) == .wait)
        #expect(inbox.received("a") == .resume(reader: 1))
        #expect(inbox.cancelled(reader: 2) == true)
        #expect(inbox.cancelled(reader: 2) == false)
        #expect(inbox.cancelled(reader: 1) == false)
        #expect(inbox.received("b") == .doNothing)
    }

    @Test func theEndComesAfterTheLastMessage() {
        let error = WebSocketError(.connectionLost, message: "gone")
        var inbox = self.machine()
        _ = inbox.received("a")
        #expect(inbox.ended(error) == [])
        #expect(inbox.received("late") == .doNothing)
        #expect(inbox.ended(nil) == [])
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: false))
        #expect(inbox.next(reader: 1) == .finish(error))
        #expect(inbox.next(reader: 1) == .finish(error))
    }

    @Test func waitingReadersAreResumedAtTheEnd() {
        var inbox = self.machine()
        _ = inbox.next(reader: 1)
        _ = inbox.next(reader: 2)
        #expect(inbox.ended(nil) == [1, 2])
        #expect(inbox.next(reader: 3) == .finish(nil))
    }

    @Test func nothingIsPausedAfterTheEnd() {
        var inbox = self.machine(messages: 1)
        #expect(inbox.received("a") == .pauseReading)
        #expect(inbox.isPaused)
        #expect(inbox.ended(nil) == [])
        #expect(!inbox.isPaused)
        #expect(inbox.next(reader: 1) == .deliver("a", resumeReading: false))
    }

    @Test func aHandlerGetsWhatIsThere() {
        var inbox = self.machine(messages: 1)
        #expect(inbox.received("a") == .pauseReading)
        let taken = inbox.handlerTakesOver()
        #expect(taken.messages == ["a"])
        #expect(taken.resumeReading)
        _ = inbox.next(reader: 1)
        #expect(inbox.handlerTakesOver().readers == [1])
    }
}
