@testable import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore
import Testing

@Suite struct WebSocketOutboxStateMachineTests {
    private static let watermark = 64 << 10
    /// The memory counted for an item besides its bytes.
    private static let overhead = 16

    private let large = WebSocketMessage.binary(ByteBuffer(repeating: 0, count: watermark))
    private let closed = WebSocketError(.closed, message: "closed")

    private func machine(posted: Int = 4 << 20, _ overflow: WebSocketFlowControl.Overflow = .close) -> WebSocketOutboxStateMachine {
        var flow = WebSocketFlowControl()
        flow.postedBytes = posted
        flow.overflow = overflow
        return WebSocketOutboxStateMachine(flow: flow)
    }

    private func binary(_ count: Int) -> WebSocketMessage { .binary(ByteBuffer(repeating: 0, count: count)) }

    private func piece(_ text: String, of message: Int, isLast: Bool = false) -> OutboundItem {
        .piece(WebSocketPiece(message: message, bytes: ByteBuffer(string: text), kind: .text, isLast: isLast, compression: .automatic))
    }

    // MARK: send, with room

    @Test func severalSendsShareOneHop() {
        var outbox = self.machine()
        #expect(!outbox.isWaiting)
        #expect(outbox.send(.message("a"), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.isWaiting)
        #expect(outbox.send(.message("b"), sender: 2) == .queued(scheduleHop: false))
        #expect(outbox.post("c") == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [.message("a"), .message("b"), .message("c")])
        #expect(!outbox.isWaiting)
        #expect(outbox.hopped() == [])
        #expect(outbox.send(.message("d"), sender: 3) == .queued(scheduleHop: true))
    }

    @Test func theLastSendBelowTheWatermarkMayExceedIt() {
        var outbox = self.machine()
        let almost = Self.watermark - Self.overhead - 1
        #expect(outbox.send(.message(self.binary(almost)), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message(self.large), sender: 2) == .queued(scheduleHop: false))
        #expect(outbox.send(.message(""), sender: 3) == .wait)
    }

    @Test func theWatermarkItselfIsTooMuch() {
        var outbox = self.machine()
        #expect(outbox.send(.message(self.binary(Self.watermark - Self.overhead)), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message(""), sender: 2) == .wait)
    }

    @Test func emptyMessagesCountToo() {
        var outbox = self.machine()
        for sender in 0..<(Self.watermark / Self.overhead) {
            #expect(outbox.send(.message(""), sender: sender) == .queued(scheduleHop: sender == 0))
        }
        #expect(outbox.send(.message(""), sender: -1) == .wait)
    }

    @Test func aHopMakesRoom() {
        var outbox = self.machine()
        _ = outbox.send(.message(self.large), sender: 1)
        _ = outbox.hopped()
        #expect(outbox.send(.message("a"), sender: 2) == .queued(scheduleHop: true))
    }

    // MARK: send, without room

    @Test func sendersWaitInOrderAboveTheWatermark() {
        var outbox = self.machine()
        #expect(outbox.send(.message(self.large), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message("a"), sender: 2) == .wait)
        #expect(outbox.send(.message("b"), sender: 3) == .wait)
        #expect(outbox.hopped() == [.message(self.large)])
        let still = outbox.transportBecame(writable: false, holding: 64 << 10)
        #expect(still == ([], false))
        #expect(outbox.send(.message("c"), sender: 4) == .wait)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([2, 3, 4], true))
        #expect(outbox.hopped() == [.message("a"), .message("b"), .message("c")])
    }

    @Test func aNewSenderDoesNotOvertakeAWaitingOne() {
        var outbox = self.machine()
        _ = outbox.send(.message(self.large), sender: 1)
        #expect(outbox.send(.message("a"), sender: 2) == .wait)
        _ = outbox.hopped()  // there is room, but sender 2 is resumed only by the transport's state
        #expect(outbox.send(.message("b"), sender: 3) == .wait)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([2, 3], true))
    }

    @Test func aTransportThatIsNotWritableMakesSendersWait() {
        var outbox = self.machine()
        #expect(outbox.transportBecame(writable: false, holding: 1) == ([], false))
        #expect(outbox.send(.message("a"), sender: 1) == .wait)
        #expect(!outbox.isWaiting)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([1], true))
        #expect(outbox.isWaiting)
    }

    // MARK: send, pieces

    @Test func noMessageIsQueuedBetweenThePiecesOfAnother() {
        var outbox = self.machine()
        #expect(outbox.send(self.piece("a", of: 1), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message("waits"), sender: 2) == .wait)
        #expect(outbox.send(self.piece("other", of: 2), sender: 3) == .wait)
        #expect(outbox.send(self.piece("b", of: 1), sender: 4) == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [self.piece("a", of: 1), self.piece("b", of: 1)])
        // The message is still open: room resumes no other sender.
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([], false))
        #expect(outbox.send(self.piece("", of: 1, isLast: true), sender: 5) == .queued(scheduleHop: true))
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([2, 3], false))
        #expect(outbox.hopped() == [self.piece("", of: 1, isLast: true), .message("waits"), self.piece("other", of: 2)])
        // Now message 2 is open.
        #expect(outbox.send(.message("waits"), sender: 6) == .wait)
        #expect(outbox.send(self.piece("", of: 2, isLast: true), sender: 7) == .queued(scheduleHop: true))
    }

    @Test func aPieceWithoutRoomWaitsBeforeEarlierSenders() {
        var outbox = self.machine()
        _ = outbox.send(self.piece("a", of: 1), sender: 1)
        #expect(outbox.send(.message("waits"), sender: 2) == .wait)
        _ = outbox.hopped()
        _ = outbox.transportBecame(writable: false, holding: 64 << 10)
        #expect(outbox.send(self.piece("b", of: 1, isLast: true), sender: 3) == .wait)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([3, 2], true))
        #expect(outbox.hopped() == [self.piece("b", of: 1, isLast: true), .message("waits")])
    }

    @Test func aPieceThatIsNotTheLastKeepsOtherSendersWaiting() {
        var outbox = self.machine()
        _ = outbox.transportBecame(writable: false, holding: 1)
        #expect(outbox.send(self.piece("a", of: 1), sender: 1) == .wait)
        #expect(outbox.send(.message("b"), sender: 2) == .wait)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([1], true))
        #expect(outbox.send(self.piece("c", of: 1, isLast: true), sender: 3) == .queued(scheduleHop: false))
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([2], false))
    }

    @Test func aMessageOfOnePieceLeavesNoMessageOpen() {
        var outbox = self.machine()
        #expect(outbox.send(self.piece("a", of: 1, isLast: true), sender: 1) == .queued(scheduleHop: true))
        #expect(outbox.send(.message("b"), sender: 2) == .queued(scheduleHop: false))
    }

    /// The handler defers a message that the event loop reads between two pieces.
    @Test func aPostDoesNotWaitForTheLastPiece() {
        var outbox = self.machine()
        _ = outbox.send(self.piece("a", of: 1), sender: 1)
        #expect(outbox.post("b") == .queued(scheduleHop: false))
        #expect(outbox.send(self.piece("c", of: 1, isLast: true), sender: 2) == .queued(scheduleHop: false))
        #expect(outbox.hopped() == [self.piece("a", of: 1), .message("b"), self.piece("c", of: 1, isLast: true)])
    }

    // MARK: post

    @Test(arguments: [WebSocketFlowControl.Overflow.drop, .close])
    func postedMessagesAreBounded(overflow: WebSocketFlowControl.Overflow) {
        var outbox = self.machine(posted: 100, overflow)
        #expect(outbox.post(self.binary(83)) == .queued(scheduleHop: true))
        #expect(outbox.post("a") == .queued(scheduleHop: false))  // 83, 16 and 1: the limit itself
        #expect(outbox.post("") == .overflow(overflow, scheduleHop: false))
        #expect(outbox.hopped() == [.message(self.binary(83)), .message("a")])
        #expect(outbox.limitCheckIsDue() == false)
        // The transport takes all bytes.
        _ = outbox.transportBecame(writable: true, holding: 0)
        #expect(outbox.post("a") == .queued(scheduleHop: true))
    }

    @Test(arguments: [WebSocketFlowControl.Overflow.drop, .close])
    func oneMessageAboveTheLimitOverflows(overflow: WebSocketFlowControl.Overflow) {
        var outbox = self.machine(posted: 100, overflow)
        #expect(outbox.post(self.binary(101)) == .overflow(overflow, scheduleHop: false))
        #expect(!outbox.isWaiting)
        #expect(outbox.post(self.binary(100)) == .queued(scheduleHop: true))
    }

    @Test func aPostDoesNotWaitBehindSenders() {
        var outbox = self.machine()
        _ = outbox.transportBecame(writable: false, holding: 1)
        #expect(outbox.send(.message("a"), sender: 1) == .wait)
        #expect(outbox.post("b") == .queued(scheduleHop: true))
        #expect(outbox.hopped() == [.message("b")])
    }

    private func filled(_ overflow: WebSocketFlowControl.Overflow) -> WebSocketOutboxStateMachine {
        var outbox = self.machine(posted: 100, overflow)
        #expect(outbox.post(self.binary(90)) == .queued(scheduleHop: true))
        _ = outbox.hopped()
        _ = outbox.transportBecame(writable: false, holding: 92)
        return outbox
    }

    /// docs/hazards.md, 16: a hop makes no room while the transport holds the bytes.
    @Test func bytesInTheTransportCount() {
        var outbox = self.filled(.drop)
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: true))  // the loop checks again
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: false))
        #expect(outbox.post("12345678") == .queued(scheduleHop: false))  // 92 and 8: the limit itself
        #expect(outbox.hopped() == [.message("12345678")])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.limitCheckIsDue() == false)
        _ = outbox.transportBecame(writable: false, holding: 50)
        #expect(outbox.post("123456789") == .queued(scheduleHop: true))
        _ = outbox.transportBecame(writable: true, holding: 0)
        #expect(outbox.post("123456789") == .queued(scheduleHop: false))
    }

    @Test func bytesInAWritableTransportDoNotCount() {
        var outbox = self.machine(posted: 100, .drop)
        _ = outbox.transportBecame(writable: true, holding: 1000)
        #expect(outbox.post("a") == .queued(scheduleHop: true))
        #expect(outbox.limitCheckIsDue() == false)
    }

    @Test func aDroppedPostAloneSchedulesTheLimitCheck() {
        var outbox = self.filled(.drop)
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: true))
        #expect(!outbox.isWaiting)
        #expect(outbox.hopped() == [])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.post("123456789") == .overflow(.drop, scheduleHop: true))
    }

    @Test func noConnectionClosesForAnOutdatedByteCount() {
        var outbox = self.filled(.close)
        #expect(outbox.post("123456789") == .queued(scheduleHop: true))
        #expect(outbox.hopped() == [.message("123456789")])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.post(self.binary(101)) == .overflow(.close, scheduleHop: false))
    }

    // MARK: cancelled

    @Test func aWaitingSenderIsCancelledOnce() {
        var outbox = self.machine()
        _ = outbox.send(.message(self.large), sender: 1)
        _ = outbox.send(.message("a"), sender: 2)
        _ = outbox.send(.message("b"), sender: 3)
        #expect(outbox.cancelled(sender: 2) == true)
        #expect(outbox.cancelled(sender: 2) == false)
        #expect(outbox.cancelled(sender: 1) == false)  // queued
        #expect(outbox.cancelled(sender: 9) == false)  // unknown
        _ = outbox.hopped()
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([3], true))
        #expect(outbox.cancelled(sender: 3) == false)  // resumed
        #expect(outbox.hopped() == [.message("b")])
    }

    // MARK: transportBecame

    @Test func sendersAreResumedUpToTheWatermark() {
        var outbox = self.machine()
        _ = outbox.transportBecame(writable: false, holding: 1)
        for sender in 1...3 { #expect(outbox.send(.message(self.large), sender: sender) == .wait) }
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([1], true))
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([], false))
        _ = outbox.hopped()
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([2], true))
        _ = outbox.hopped()
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([3], true))
    }

    @Test func aScheduledHopIsNotScheduledAgain() {
        var outbox = self.machine()
        _ = outbox.transportBecame(writable: false, holding: 1)
        _ = outbox.send(.message("a"), sender: 1)
        #expect(outbox.post("b") == .queued(scheduleHop: true))
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([1], false))
        #expect(outbox.hopped() == [.message("b"), .message("a")])
    }

    @Test func aChangeWithoutWorkSchedulesNothing() {
        var outbox = self.machine()
        #expect(outbox.transportBecame(writable: false, holding: 1) == ([], false))
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([], false))
    }

    // MARK: ended

    @Test func theEndResumesTheWaitingSendersAndDiscardsTheItems() {
        var outbox = self.machine()
        _ = outbox.send(.message(self.large), sender: 1)
        _ = outbox.send(.message("a"), sender: 2)
        _ = outbox.send(.message("b"), sender: 3)
        #expect(outbox.ended(self.closed) == [2, 3])
        #expect(!outbox.isWaiting)
        #expect(outbox.hopped() == [])
    }

    @Test func nothingIsAcceptedAfterTheEnd() {
        var outbox = self.machine()
        _ = outbox.send(self.piece("a", of: 1), sender: 1)
        _ = outbox.send(.message("b"), sender: 2)
        #expect(outbox.ended(self.closed) == [2])
        // The first error remains.
        #expect(outbox.ended(WebSocketError(.timeout, message: "late")) == [])
        #expect(outbox.send(.message("c"), sender: 3) == .refuse(self.closed))
        #expect(outbox.send(self.piece("d", of: 1), sender: 4) == .refuse(self.closed))
        #expect(outbox.post("e") == .refuse)
        #expect(outbox.post(self.binary(8 << 20)) == .refuse)
        #expect(outbox.cancelled(sender: 2) == false)
        #expect(outbox.transportBecame(writable: true, holding: 0) == ([], false))
        #expect(outbox.transportBecame(writable: false, holding: 100) == ([], false))
        #expect(outbox.limitCheckIsDue() == false)
        #expect(outbox.hopped() == [])
    }

    @Test func aLimitCheckIsDueOnceAfterTheEndToo() {
        var outbox = self.filled(.close)
        _ = outbox.post("123456789")
        _ = outbox.ended(self.closed)
        #expect(outbox.hopped() == [])
        #expect(outbox.limitCheckIsDue() == true)
        #expect(outbox.limitCheckIsDue() == false)
    }
}
