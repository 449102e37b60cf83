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

@Suite struct WebSocketOutboxStateMachineTests {
    private let large = WebSocketMessage.binary(ByteBuffer(repeating: 0, count: 64 << 10))
    private let closed = WebSocketError(.closed, message: "")

    @Test func manySendsAreOneHop() {
        var outbox = WebSocketOutboxStateMachine(flow: .init())
        #expect(outbox.send(.message("a"), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.post("b") == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [.message("a"), .message("b")])
        #expect(outbox.hopped() == [])
        #expect(outbox.send(.message("c"), sender: 2) == .queued(scheduleHop: true))
    }

    @Test func sendersWaitInOrderAboveTheWatermark() {
        var outbox = WebSocketOutboxStateMachine(flow: .init())
        #expect(outbox.send(.message(self.large), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message("a"), sender: 2) == .wait)
        #expect(outbox.send(.message("b"), sender: 3) == .wait)
        #expect(outbox.cancelled(sender: 2) == true)
        #expect(outbox.cancelled(sender: 2) == false)
        #expect(outbox.hopped() == [.message(self.large)])
        let still = outbox.transportBecame(writable: false, holding: 64 << 10)
        #expect(still.senders == [])
        #expect(outbox.send(.message("c"), sender: 4) == .wait)
        let room = outbox.transportBecame(writable: true, holding: 0)
        #expect(room.senders == [3, 4])
        #expect(room.scheduleHop)
        #expect(outbox.hopped() == [.message("b"), .message("c")])
    }

    @Test func whatIsPostedIsBounded() {
        var flow = WebSocketFlowControl()
        flow.postedBytes = 100
        flow.overflow = .drop
        var outbox = WebSocketOutboxStateMachine(flow: flow)
        #expect(outbox.post(.binary(ByteBuffer(repeating: 0, count: 83))) == .queued(scheduleHop: true))
        #expect(outbox.post("a") == .queued(scheduleHop: false))
        #expect(outbox.post("a") == .overflow(.drop, scheduleHop: false))
        _ = outbox.hopped()
        // The transport takes all bytes.
        _ = outbox.transportBecame(writable: true, holding: 0)
        #expect(outbox.post("a") == .queued(scheduleHop: true))
    }

    private func filled(_ overflow: WebSocketFlowControl.Overflow) -> WebSocketOutboxStateMachine {
        var flow = WebSocketFlowControl()
        flow.postedBytes = 100
        flow.overflow = overflow
        var outbox = WebSocketOutboxStateMachine(flow: flow)
        #expect(outbox.post(.binary(ByteBuffer(repeating: 0, count: 90))) == .queued(scheduleHop: true))
        _ = outbox.hopped()
        _ = outbox.transportBecame(writable: false, holding: 92)
        return outbox
    }

    /// docs/hazards.md, 16: a hop makes no room while the transport holds the bytes.
    @Test func whatTheTransportHoldsCounts() {
        var outbox = self.filled(.drop)
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: true))  // and the loop checks again
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: false))
        #expect(outbox.post("1234") == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [.message("1234")])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.limitCheckIsDue() == false)
        _ = outbox.transportBecame(writable: false, holding: 50)
        #expect(outbox.post("123456789") == .queued(scheduleHop: true))
        _ = outbox.transportBecame(writable: true, holding: 0)
        #expect(outbox.post("123456789") == .queued(scheduleHop: false))
    }

    @Test func noConnectionClosesForAnOutdatedByteCount() {
        var outbox = self.filled(.close)
        #expect(outbox.post("123456789") == .queued(scheduleHop: true))
        #expect(outbox.hopped() == [.message("123456789")])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.post(.binary(ByteBuffer(repeating: 0, count: 101))) == .overflow(.close, scheduleHop: false))
    }

    private func piece(_ text: String, of message: Int, isLast: Bool = false) -> OutboundItem {
        .piece(WebSocketPiece(message: message, bytes: ByteBuffer(string: text), kind: .text, isLast: isLast, compression: .automatic))
    }

    @Test func noMessageIsQueuedBetweenThePiecesOfAnother() {
        var outbox = WebSocketOutboxStateMachine(flow: .init())
        #expect(outbox.send(self.piece("a", of: 1), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message("waits"), sender: 2) == .wait)
        #expect(outbox.send(self.piece("other", of: 2), sender: 3) == .wait)
        #expect(outbox.send(self.piece("b", of: 1), sender: 4) == .queued(scheduleHop: false))
        _ = outbox.hopped()
        // Without room, it waits before the earlier senders.
        _ = outbox.transportBecame(writable: false, holding: 64 << 10)
        #expect(outbox.send(self.piece("c", of: 1), sender: 5) == .wait)
        #expect(outbox.transportBecame(writable: true, holding: 0).senders == [5])
        #expect(outbox.send(self.piece("", of: 1, isLast: true), sender: 6) == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [self.piece("c", of: 1), self.piece("", of: 1, isLast: true)])
        let room = outbox.transportBecame(writable: true, holding: 0)
        #expect(room.senders == [2, 3])
        #expect(room.scheduleHop)
        #expect(outbox.hopped() == [.message("waits"), self.piece("other", of: 2)])
    }

    @Test func afterTheEndNothingIsTaken() {
        var outbox = WebSocketOutboxStateMachine(flow: .init())
        _ = outbox.send(.message(self.large), sender: 1)
        _ = outbox.send(.message("a"), sender: 2)
        #expect(outbox.ended(self.closed) == [2])
        #expect(outbox.ended(self.closed) == [])
        #expect(outbox.hopped() == [])
        #expect(outbox.send(.message("b"), sender: 3) == .refuse(self.closed))
        #expect(outbox.post("b") == .refuse)
        #expect(outbox.transportBecame(writable: true, holding: 0).senders == [])
    }
}
