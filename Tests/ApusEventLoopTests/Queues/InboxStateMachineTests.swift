import Testing

@testable import ApusEventLoop

@Suite struct InboxStateMachineTests {
    private struct Failure: Error, Equatable {}

    private func machine(count: Int = 4, bytes: Int = 100) -> InboxStateMachine<String, Failure> {
        InboxStateMachine(maximumCount: count, maximumBytes: bytes)
    }

    @Test func theSourcePausesAtTheLimitAndResumesAtHalf() {
        var inbox = self.machine()
        for _ in 1...3 { #expect(inbox.received("a", bytes: 1) == .doNothing) }
        #expect(inbox.received("a", bytes: 1) == .pauseSource)
        #expect(inbox.received("b", bytes: 1) == .doNothing)  // the rest of the same read
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: false))
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: false))
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: true))
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: false))
        #expect(inbox.next(reader: 1) == .deliver("b", resumesSource: false))
        #expect(inbox.next(reader: 1) == .wait)
    }

    @Test func bytesAlsoCount() {
        var inbox = self.machine()
        #expect(inbox.received("large", bytes: 99) == .doNothing)
        #expect(inbox.received("a", bytes: 1) == .pauseSource)
        #expect(inbox.next(reader: 1) == .deliver("large", resumesSource: true))
    }

    @Test func aWaitingReaderGetsTheElement() {
        var inbox = self.machine()
        #expect(inbox.next(reader: 1) == .wait)
        #expect(inbox.next(reader: 2) == .wait)
        #expect(inbox.received("a", bytes: 1) == .resume(reader: 1))
        #expect(inbox.cancelled(reader: 2) == true)
        #expect(inbox.cancelled(reader: 2) == false)
        #expect(inbox.cancelled(reader: 1) == false)
        #expect(inbox.received("b", bytes: 1) == .doNothing)
    }

    @Test func theEndComesAfterTheLastElement() {
        var inbox = self.machine()
        _ = inbox.received("a", bytes: 1)
        #expect(inbox.ended(Failure()) == [])
        #expect(inbox.received("late", bytes: 1) == .doNothing)
        #expect(inbox.ended(nil) == [])
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: false))
        #expect(inbox.next(reader: 1) == .finish(Failure()))
        #expect(inbox.next(reader: 1) == .finish(Failure()))
    }

    @Test func waitingReadersAreResumedAtTheEnd() {
        var inbox = self.machine()
        _ = inbox.next(reader: 1)
        _ = inbox.next(reader: 2)
        #expect(inbox.ended(nil) == [1, 2])
        #expect(inbox.next(reader: 3) == .finish(nil))
    }

    @Test func nothingIsPausedAfterTheEnd() {
        var inbox = self.machine(count: 1)
        #expect(inbox.received("a", bytes: 1) == .pauseSource)
        #expect(inbox.isPaused)
        #expect(inbox.ended(nil) == [])
        #expect(!inbox.isPaused)
        #expect(inbox.next(reader: 1) == .deliver("a", resumesSource: false))
    }

    @Test func anotherConsumerGetsTheQueue() {
        var inbox = self.machine(count: 1)
        #expect(inbox.received("a", bytes: 1) == .pauseSource)
        let taken = inbox.takeOver()
        #expect(taken.elements == ["a"])
        #expect(taken.resumesSource)
        _ = inbox.next(reader: 1)
        #expect(inbox.takeOver().readers == [1])
    }
}
