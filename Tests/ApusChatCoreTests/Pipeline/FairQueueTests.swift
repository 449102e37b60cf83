import ApusChatCore
import ApusChatStorage
import Testing

@Suite struct FairQueueTests {
    private let ann = UserKey(1)
    private let bob = UserKey(2)

    private func queue(underWay: Int = 2, waitingOfUser: Int = 3, waiting: Int = 5) -> FairQueue<Int> {
        FairQueue(bounds: .init(underWay: underWay, waitingOfUser: waitingOfUser, waiting: waiting))
    }

    @Test func usersAreServedInTurn() {
        var queue = self.queue(underWay: .max)
        for element in 1...3 { _ = queue.enqueue(element, for: self.ann) }
        _ = queue.enqueue(10, for: self.bob)
        let taken = (1...4).map { _ in queue.next()?.element }
        #expect(taken == [1, 10, 2, 3])
        #expect(queue.next() == nil)
    }

    @Test func theWaitingElementsAreBounded() {
        var queue = self.queue()
        #expect((1...4).map { queue.enqueue($0, for: self.ann) } == [.admitted, .admitted, .admitted, .userFull])
        #expect((1...3).map { queue.enqueue($0, for: self.bob) } == [.admitted, .admitted, .full])
        #expect(queue.count == 5)
    }

    @Test func aUserHasABoundedNumberUnderWay() {
        var queue = self.queue()
        for element in 1...3 { _ = queue.enqueue(element, for: self.ann) }
        #expect(queue.next()?.element == 1)
        #expect(queue.next()?.element == 2)
        #expect(queue.next() == nil)
        _ = queue.enqueue(10, for: self.bob)
        #expect(queue.next()?.element == 10, "others are not concerned")
        queue.finished(self.ann)
        #expect(queue.next()?.element == 3)
    }

    @Test func allWaitingElementsAreRemoved() {
        var queue = self.queue(underWay: 2)
        for element in 1...3 { _ = queue.enqueue(element, for: self.ann) }
        _ = queue.enqueue(10, for: self.bob)
        _ = queue.next()
        _ = queue.next()
        _ = queue.next()  // ann has the maximum number of running elements
        #expect(queue.removeAll() == [3])
        #expect(queue.count == 0 && queue.next() == nil)
        queue.finished(self.ann)
        #expect(queue.next() == nil)
        queue.finished(self.ann)
        queue.finished(self.bob)
        #expect(queue.userCount == 0)
        #expect(queue.enqueue(5, for: self.ann) == .admitted)
        #expect(queue.next()?.element == 5)
    }

    @Test func anIdleUserTakesNoMemory() {
        var queue = self.queue()
        _ = queue.enqueue(1, for: self.ann)
        _ = queue.next()
        queue.finished(self.ann)
        queue.finished(self.ann)
        queue.finished(self.bob)
        #expect(queue.userCount == 0)
        #expect(queue.enqueue(2, for: self.ann) == .admitted)
        #expect(queue.next()?.element == 2)
    }

    @Test func floodingUserDelaysOthersByOneTurn() {
        var queue = self.queue(underWay: .max, waitingOfUser: 1_000, waiting: 10_000)
        for element in 0..<1_000 { _ = queue.enqueue(element, for: self.ann) }
        _ = queue.enqueue(-1, for: self.bob)
        let users = [queue.next()?.user, queue.next()?.user]
        #expect(users.contains(self.bob))
    }
}
