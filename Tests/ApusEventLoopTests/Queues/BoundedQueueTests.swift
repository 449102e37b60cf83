import Testing

@testable import ApusEventLoop

@Suite struct BoundedQueueTests {
    /// The queue after `sizes` were appended within limits of 2 elements and 10 bytes.
    private func queue(
        _ sizes: [Int], otherwise overflow: BoundedQueue<Int>.Overflow
    ) -> (elements: [Int], refused: Int, dropped: Int) {
        var queue = BoundedQueue<Int>(maximumCount: 2, maximumBytes: 10)
        let refused = sizes.count { !queue.append($0, bytes: $0, otherwise: overflow) }
        let dropped = queue.dropped
        return (queue.takeAll(), refused, dropped)
    }

    @Test func thePolicyDecidesAboutAnOverflow() {
        #expect(self.queue([1, 2, 3], otherwise: .refuse) == ([1, 2], 1, 0))
        #expect(self.queue([1, 2, 3], otherwise: .dropNewest) == ([1, 2], 0, 1))
        #expect(self.queue([1, 2, 3], otherwise: .dropOldest) == ([2, 3], 0, 1))
        #expect(self.queue([6, 5], otherwise: .refuse) == ([6], 1, 0))
        #expect(self.queue([6, 5], otherwise: .dropOldest) == ([5], 0, 1))
        #expect(self.queue([6, 4], otherwise: .refuse) == ([6, 4], 0, 0))
        // Too large for the empty queue.
        #expect(self.queue([1, 11], otherwise: .dropOldest) == ([], 0, 2))
        #expect(self.queue([1, 11], otherwise: .dropNewest) == ([1], 0, 1))
    }

    @Test func aQueueWithoutRoomTakesNothing() {
        var queue = BoundedQueue<Int>(maximumCount: 0, maximumBytes: 10)
        #expect(queue.append(1, bytes: 1, otherwise: .refuse) == false)
        #expect(queue.append(1, bytes: 1, otherwise: .dropOldest) == true)
        #expect(queue.isEmpty && queue.dropped == 1)
    }

    @Test func theSourcePausesFromFullToHalfEmpty() {
        var queue = BoundedQueue<Int>(maximumCount: 4, maximumBytes: 100)
        for number in 1...3 { queue.append(number, bytes: 1) }
        #expect(!queue.isPaused)
        for number in 4...6 { queue.append(number, bytes: 1) }
        #expect(queue.isPaused && queue.count == 6 && queue.bytes == 6)
        for number in 1...3 { #expect(queue.popFirst() == number) }
        #expect(queue.isPaused)
        #expect(queue.popLast() == 6)
        #expect(!queue.isPaused && queue.bytes == 2)
        queue.append(7, bytes: 98)
        #expect(queue.isPaused)
        #expect(queue.takeAll() == [4, 5, 7])
        #expect(!queue.isPaused && queue.bytes == 0)
        #expect(queue.popFirst() == nil)
    }
}
