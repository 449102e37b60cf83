import NIOCore
import NIOEmbedded
import Testing

@testable import ApusBench

struct BenchWorkerTests {
    /// A client with one slot.
    private final class Peer: BenchPeer {
        private(set) var sent = 0
        private var isFree = true

        func send(_ count: Int, meantFor time: UInt64) -> Int {
            guard self.isFree, count > 0 else { return 0 }
            self.isFree = false
            self.sent += 1
            return 1
        }

        func takeUnanswered() -> [UInt64] { [] }

        func close() {}

        func receiveAnswer() { self.isFree = true }
    }

    @Test(.timeLimit(.minutes(5))) func aMessageThatWaitedForASlotIsCountedOnce() {
        let loop = EmbeddedEventLoop()
        var plan = BenchPlan(url: "")
        plan.rate = 100_000
        let worker = BenchWorker(plan: plan, loop: 0, eventLoop: loop)
        let peer = Peer()
        worker.opened(peer)
        worker.startSending()
        while worker.statistics.sends < 10 { loop.advanceTime(by: .milliseconds(1)) }
        let due = worker.statistics.sends
        #expect(peer.sent == 1)
        for _ in 0..<5 {
            peer.receiveAnswer()
            worker.answered(1, by: peer, at: BenchWorker.now)
        }
        #expect(peer.sent == 6)
        #expect(worker.statistics.sends == due)
        worker.stopSending()
    }
}
