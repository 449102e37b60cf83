import ApusFramedProtocol
@testable import ApusFramedSocket
import ApusJSON
import NIOCore
import Testing

@Suite struct FramedInboxStateMachineTests {
    private typealias Machine = FramedInboxStateMachine

    /// Large enough not to be joined with another piece.
    private let bytes = ByteBuffer(repeating: 7, count: 2000)

    /// Receives one message of two pieces.
    private func filled() -> Machine {
        var inbox = Machine(bound: 1 << 20)
        for part in [Machine.Part.head(["a": 1], bodyLength: 4), .body(self.bytes), .body(self.bytes), .end] {
            #expect(inbox.receivedPart(part) == .init())
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
        #expect(inbox.receivedPart(.head([:], bodyLength: 2)).delivery == .message(number: 1, [:], bodyLength: 2))
        #expect(inbox.nextPiece(of: 1) == .init())
        #expect(inbox.receivedPart(.body(self.bytes)).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1) == .init())
        #expect(inbox.receivedPart(.end).delivery == .bodyEnded)
    }

    @Test func anUnreadBodyIsSkipped() {
        var inbox = self.filled()
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.receivedPart(.head([:], bodyLength: 0)).delivery == .message(number: 2, [:], bodyLength: 0))
        guard case .failed(let error)? = inbox.nextPiece(of: 1).delivery else {
            Issue.record("the previous body can still be read")
            return
        }
        #expect(error.code == .invalidUse)
    }

    @Test func aBodyIsSkippedWhileItArrives() {
        var inbox = Machine(bound: 100)
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.receivedPart(.head([:], bodyLength: 4)).delivery != nil)
        #expect(inbox.nextMessage() == .init())
        for _ in 0..<100 { #expect(inbox.receivedPart(.body(self.bytes)) == .init()) }
        #expect(inbox.receivedPart(.end) == .init())
        #expect(inbox.receivedPart(.head([:], bodyLength: 0)).delivery == .message(number: 2, [:], bodyLength: 0))
    }

    @Test func readingPausesAtTheBoundAndResumesAtHalf() {
        var inbox = Machine(bound: 4200)
        #expect(inbox.receivedPart(.head([:], bodyLength: 6000)).pause == nil)  // 288
        #expect(inbox.receivedPart(.body(self.bytes)).pause == nil)  // 2352
        #expect(inbox.receivedPart(.body(self.bytes)).pause == true)  // 4416
        #expect(inbox.receivedPart(.body(self.bytes)).pause == nil)  // 6480: already read from the socket
        #expect(inbox.nextMessage().pause == nil)  // 6192
        #expect(inbox.nextPiece(of: 1).pause == nil)  // 4128
        #expect(inbox.isPaused)
        #expect(inbox.nextPiece(of: 1).pause == false)  // 2064
        #expect(!inbox.isPaused)
    }

    @Test func aMillionEmptyMessagesHaveABound() {
        var inbox = Machine(bound: 1 << 20)
        var count = 0
        while !inbox.isPaused, count < 1_000_000 {
            _ = inbox.receivedPart(.head([:], bodyLength: 0))
            _ = inbox.receivedPart(.end)
            count += 1
        }
        #expect(count < 5000)
    }

    /// A piece retains the memory of its read, at least 2 KiB.
    @Test func smallPiecesAreJoined() {
        var inbox = Machine(bound: 1 << 20)
        _ = inbox.receivedPart(.head([:], bodyLength: 100_000))
        for number in 0..<100_000 { #expect(inbox.receivedPart(.body(ByteBuffer(bytes: [UInt8(truncatingIfNeeded: number)]))) == .init()) }
        _ = inbox.receivedPart(.end)
        _ = inbox.nextMessage()
        var whole = ByteBuffer()
        var count = 0
        while case .piece(let piece)? = inbox.nextPiece(of: 1).delivery {
            whole.writeImmutableBuffer(piece)
            count += 1
        }
        #expect(whole.readableBytesView.elementsEqual((0..<100_000).lazy.map { UInt8(truncatingIfNeeded: $0) }))
        #expect(count == 7)
    }

    /// 64 KiB of numbers become one megabyte of values.
    @Test func headersCountByTheirMemory() {
        var inbox = Machine(bound: 1 << 20)
        #expect(inbox.receivedPart(.head(["a": .array([JSONValue](repeating: 0, count: 32_000))], bodyLength: 0)).pause == nil)
        #expect(inbox.receivedPart(.head(["a": ["b": .string(String(repeating: "x", count: 50_000))]], bodyLength: 0)).pause == true)
    }

    @Test func theEndFollowsTheBufferedParts() {
        var inbox = self.filled()
        #expect(inbox.ended(nil) == .init())
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextMessage().delivery == .finished)
        #expect(inbox.nextMessage().delivery == .finished)
        #expect(inbox.receivedPart(.end) == .init())
    }

    @Test func anErrorFollowsTheBufferedParts() {
        var inbox = Machine(bound: 1000)
        let error = FramedError(.connectionLost, message: "x")
        _ = inbox.receivedPart(.head([:], bodyLength: 4))
        _ = inbox.receivedPart(.body(self.bytes))
        _ = inbox.ended(error)
        _ = inbox.ended(nil)  // the first end counts
        #expect(inbox.nextMessage().delivery != nil)
        #expect(inbox.nextPiece(of: 1).delivery == .piece(self.bytes))
        #expect(inbox.nextPiece(of: 1).delivery == .failed(error))
        #expect(inbox.nextMessage().delivery == .failed(error))
    }

    @Test func aWaitingReaderReceivesTheEnd() {
        var inbox = Machine(bound: 1000)
        #expect(inbox.nextMessage() == .init())
        #expect(inbox.ended(nil).delivery == .finished)
    }

    @Test func closingDiscardsBufferedParts() {
        var inbox = Machine(bound: 10)
        #expect(inbox.receivedPart(.head([:], bodyLength: 4)).pause == true)
        #expect(inbox.closed() == .init(delivery: nil, pause: false))
        #expect(inbox.receivedPart(.body(self.bytes)) == .init())
        #expect(inbox.nextMessage().delivery == .finished)
    }

    /// A reader does not take the part that has arrived for the whole body.
    @Test func closingWithinABodyFailsItsReader() {
        var inbox = Machine(bound: 1000)
        _ = inbox.receivedPart(.head([:], bodyLength: 8))
        _ = inbox.receivedPart(.body(self.bytes))
        #expect(inbox.nextMessage().delivery != nil)
        _ = inbox.closed()
        let error = FramedError(.closed, message: "the connection was closed before the end of the body")
        #expect(inbox.nextPiece(of: 1).delivery == .failed(error))
        #expect(inbox.nextMessage().delivery == .finished)
    }

    @Test func oneReaderAtATime() {
        var inbox = Machine(bound: 1000)
        #expect(inbox.nextMessage() == .init())
        guard case .failed(let error)? = inbox.nextMessage().delivery else {
            Issue.record("a second reader can wait")
            return
        }
        #expect(error.code == .invalidUse)
        #expect(inbox.cancelled() == true)
        #expect(inbox.cancelled() == false)
        #expect(inbox.nextMessage() == .init())
    }
}
