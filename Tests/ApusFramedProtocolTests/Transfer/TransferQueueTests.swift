import ApusFramedProtocol
import Testing

@Suite struct TransferQueueTests {
    private typealias Queue = TransferQueue<Int>

    /// Returns the steps until the queue waits: `-1` for a fetch, `-2` for the end.
    private func steps(_ queue: inout Queue) -> [Int] {
        var steps: [Int] = []
        while true {
            switch queue.next() {
            case .fetch: steps.append(-1)
            case .begin(let file): steps.append(file)
            case .wait: return steps
            case .finish: return steps + [-2]
            }
        }
    }

    @Test func theListIsReadAheadOfNeed() {
        var queue = Queue(wholes: 2, others: 1)
        #expect(self.steps(&queue) == [-1])
        queue.fetched(wholes: [1, 2, 3], others: [100], isLast: false)
        // File 3 waits and one more may: the queue fetches while the others are sent.
        #expect(self.steps(&queue) == [1, 2, 100, -1])
        queue.fetched(wholes: [4, 5], others: [], isLast: false)
        #expect(self.steps(&queue) == [])
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [3])
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [4, -1])
        queue.fetched(wholes: [], others: [], isLast: true)
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [5])
        queue.ended(isWhole: true)
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [])
        queue.ended(isWhole: false)
        #expect(self.steps(&queue) == [-2])
    }

    @Test func waitingFilesAreBounded() {
        var queue = Queue(wholes: 64, others: 2)
        _ = self.steps(&queue)
        queue.fetched(wholes: [], others: [1, 2, 3, 4], isLast: false)
        #expect(self.steps(&queue) == [1, 2])  // two files wait
        queue.ended(isWhole: false)
        #expect(self.steps(&queue) == [3, -1])
    }

    @Test func smallOnesDoNotWaitForLargeOnes() {
        var queue = Queue(wholes: 1, others: 1)
        _ = self.steps(&queue)
        queue.fetched(wholes: [1], others: [100, 101], isLast: true)
        #expect(self.steps(&queue) == [1, 100])
        queue.ended(isWhole: true)
        queue.ended(isWhole: false)
        #expect(self.steps(&queue) == [101])
    }

    @Test func anEmptyListIsFinished() {
        var queue = Queue(wholes: 1, others: 1)
        _ = self.steps(&queue)
        queue.fetched(wholes: [], others: [], isLast: true)
        #expect(self.steps(&queue) == [-2])
    }

    @Test func aStoppedQueueBeginsNothing() {
        var queue = Queue(wholes: 2, others: 2)
        _ = self.steps(&queue)
        queue.fetched(wholes: [1, 2, 3, 4], others: [], isLast: false)
        #expect(self.steps(&queue) == [1, 2])
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [3, -1])
        queue.stop()
        queue.ended(isWhole: true)
        queue.ended(isWhole: true)
        #expect(self.steps(&queue) == [])  // the fetch has not completed
        queue.fetched(wholes: [9], others: [9], isLast: false)
        #expect(self.steps(&queue) == [-2])
    }
}
