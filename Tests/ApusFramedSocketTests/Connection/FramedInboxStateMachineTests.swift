@testable import ApusFramedSocket
import NIOCore
import Testing

@Suite struct FramedInboxStateMachineTests {
    private typealias Machine = FramedInboxStateMachine

    private let bytes = ByteBuffer(bytes: [1, 2])

    /// One message of two pieces, received.
    private func filled() -> Machine {
        var inbox = Machine(bound: 1 << 20)
        for part in [Machine.Part.head(["a": 1], bodyLength: 4), .body(self.bytes), .body(self.bytes), .end] {
            #expect(inbox.received(part) == .init())
        }
        return inbox
    }

    @Test func partsWaitForReaders() {
        var inbox = self.filled()
        #expect(inbox.nextMessage().delivery == .message(number: 1, ["a": 1], bodyLength: 4))
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1).delivery == .bodyEnded)
        #expect(inbox.nextPiece(of: 1).delivery == .bodyEnded)
        #expect(inbox.nextMessage() == .init())
    }

    @Test func readersWaitForParts() {
        var inbox = Machine(bound: 1 << 20)
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.received(.head([:], bodyLength: 2)).delivery == .message(number: 1, [:], bodyLength: 2))
        #expect(inbox.nextPiece(of: 1) == .init())
        #expect(inbox.received(.body(self.bytes)).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1) == .init())
        #expect(inbox.received(.end).delivery == .bodyEnded)
    }

    @Test func aBodyThatNobodyReadIsPassedOver() {
        var inbox = self.filled()
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.received(.head([:], bodyLength: 0)).delivery == .message(number: 2, [:], bodyLength: 0))
        guard case .failed(let error)? = inbox.nextPiece(of: 1).delivery else {
            Issue.record("the old body is still read")
            return
        }
        #expect(error.code == .invalidUse)
    }

    @Test func aBodyIsPassedOverWhileItComes() {
        var inbox = Machine(bound: 100)
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.received(.head([:], bodyLength: 4)).delivery != nil)
        #expect(inbox.nextMessage() == .init())
        for _ in 0..<100 { #expect(inbox.received(.body(self.bytes)) == .init()) }
        #expect(inbox.received(.end) == .init())
        #expect(inbox.received(.head([:], bodyLength: 0)).delivery == .message(number: 2, [:], bodyLength: 0))
    }

    @Test func readingStopsAtTheBoundAndGoesOnAtHalf() {
        var inbox = Machine(bound: 1000)
        let large = ByteBuffer(repeating: 0, count: 400)
        #expect(inbox.received(.head([:], bodyLength: 1200)).pause == nil)  // 256
        #expect(inbox.received(.body(large)).pause == nil)  // 720
        #expect(inbox.received(.body(large)).pause == true)  // 1184
        #expect(inbox.received(.body(large)).pause == nil)  // 1648: was on its way
        #expect(inbox.nextMessage().pause == nil)  // 1392
        #expect(inbox.nextPiece(of: 1).pause == nil)  // 928
        #expect(inbox.isPaused)
        #expect(inbox.nextPiece(of: 1).pause == false)  // 464
        #expect(!inbox.isPaused)
    }

    @Test func aMillionEmptyMessagesHaveABound() {
        var inbox = Machine(bound: 1 << 20)
        var count = 0
        while !inbox.isPaused, count < 1_000_000 {
            _ = inbox.received(.head([:], bodyLength: 0))
            _ = inbox.received(.end)
            count += 1
        }
        #expect(count < 5000)
    }

    @Test func theEndComesAfterWhatIsThere() {
        var inbox = self.filled()
        #expect(inbox.ended(nil) == .init())
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextMessage().delivery == .finished)
        #expect(inbox.nextMessage().delivery == .finished)
        #expect(inbox.received(.end) == .init())
    }

    @Test func anErrorComesAfterWhatIsThere() {
        var inbox = Machine(bound: 1000)
        let error = FramedError(.connectionLost, message: "x")
        _ = inbox.received(.head([:], bodyLength: 4))
        _ = inbox.received(.body(self.bytes))
        _ = inbox.ended(error)
        _ = inbox.ended(nil)  // the first counts
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1).delivery == .failed(error))
        #expect(inbox.nextMessage().delivery == .failed(error))
    }

    @Test func whoWaitsHearsOfTheEnd() {
        var inbox = Machine(bound: 1000)
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.ended(nil).delivery == .finished)
    }

    @Test func closingThrowsAwayAndReadsOn() {
        var inbox = Machine(bound: 10)
        #expect(inbox.received(.head([:], bodyLength: 4)).pause == true)
        #expect(inbox.closed() == .init(delivery: nil, pause: false))
        #expect(inbox.received(.body(self.bytes)) == .init())
        #expect(inbox.nextMessage().delivery == .finished)
    }

    @Test func oneReaderAtATime() {
        var inbox = Machine(bound: 1000)
        #expect(inbox.nextMessage() == .init())
        guard case .failed(let error)? = inbox.nextMessage().delivery else {
            Issue.record("a second reader waits")
            return
        }
        #expect(error.code == .invalidUse)
        #expect(inbox.cancelled() == true)
        #expect(inbox.cancelled() == false)
        #expect(inbox.nextMessage() == .init())
    }
}
