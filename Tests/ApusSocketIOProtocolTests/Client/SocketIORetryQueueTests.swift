import ApusSeededRandom
import ApusSocketIOProtocol
import Testing

@Suite struct SocketIORetryQueueTests {
    private func makeQueue(tries: Int = 3, count: Int = 10) -> SocketIORetryQueue<String> {
        SocketIORetryQueue(maximumTries: tries, maximumCount: count, maximumBytes: 100)
    }

    private func item(_ id: Int, bytes: Int = 1, isAwaited: Bool = true) -> SocketIORetryQueue<String>.Item {
        .init(ackID: id, packet: "packet \(id)", bytes: bytes, timeout: .seconds(5), isAwaited: isAwaited)
    }

    /// Returns a connected queue with events 0 and 1, of which the first is outstanding.
    private func makeWaiting(tries: Int = 3) -> SocketIORetryQueue<String> {
        var queue = self.makeQueue(tries: tries)
        queue.connected()
        #expect(queue.next() == nil)
        for id in 0...1 { #expect(queue.append(self.item(id)) == true) }
        #expect(queue.next()?.packet == "packet 0")
        #expect(queue.next() == nil)  // one at a time
        return queue
    }

    @Test func eventsWaitForTheAckOfThePrecedingOne() {
        var queue = self.makeWaiting()
        #expect(queue.remove(ackID: 0) == true)
        #expect(queue.next()?.packet == "packet 1")
        #expect(queue.remove(ackID: 0) == false)  // duplicate
        #expect(queue.next() == nil)
        #expect(queue.remove(ackID: 1) == true)
        #expect(queue.next() == nil)
        #expect(queue.count == 0)
    }

    @Test func anEventIsSentUntilItsTriesAreExhausted() {
        var queue = self.makeWaiting()
        for _ in 1...2 {
            #expect(queue.tryTimedOut(ackID: 0) == .doNothing)
            #expect(queue.next()?.ackID == 0)
        }
        #expect(queue.tryTimedOut(ackID: 0) == .giveUp(ackID: 0))
        // The next event has all of its tries.
        #expect(queue.next()?.ackID == 1)
        #expect(queue.tryTimedOut(ackID: 0) == .doNothing)  // the timer of the failed event
        #expect(queue.tryTimedOut(ackID: 1) == .doNothing)
        #expect(queue.next()?.ackID == 1)
    }

    @Test func aLateAckOfAnEarlierTryCounts() {
        var queue = self.makeWaiting()
        #expect(queue.tryTimedOut(ackID: 0) == .doNothing)
        #expect(queue.next()?.ackID == 0)
        #expect(queue.remove(ackID: 0) == true)
        #expect(queue.next()?.ackID == 1)
    }

    @Test func aLostConnectionIsALostTry() {
        var queue = self.makeWaiting(tries: 2)
        #expect(queue.disconnected() == .doNothing)
        #expect(queue.next() == nil)
        #expect(queue.tryTimedOut(ackID: 0) == .doNothing)  // raced with the loss of the connection
        #expect(queue.append(self.item(2)) == true)
        queue.connected()
        #expect(queue.next()?.ackID == 0)
        #expect(queue.disconnected() == .giveUp(ackID: 0))
        #expect(queue.disconnected() == .doNothing)
        queue.connected()
        #expect(queue.next()?.ackID == 1)
    }

    @Test func anEventThatWaitsForAConnectionLosesNoTry() {
        var queue = self.makeQueue(tries: 1)
        #expect(queue.append(self.item(0)) == true)
        for _ in 0..<5 { #expect(queue.disconnected() == .doNothing) }
        queue.connected()
        #expect(queue.next()?.ackID == 0)
    }

    @Test func aCancelledEventIsRemoved() {
        var queue = self.makeWaiting()
        #expect(queue.remove(ackID: 1) == false)
        #expect(queue.remove(ackID: 0) == true)
        #expect(queue.next() == nil)
        #expect(queue.remove(ackID: 7) == false)
    }

    @Test func leavingKeepsEventsThatAreNotAwaited() {
        var queue = self.makeQueue()
        queue.connected()
        for id in 0...3 { _ = queue.append(self.item(id, bytes: 25, isAwaited: id.isMultiple(of: 2))) }
        _ = queue.next()
        queue.left()
        #expect(queue.next() == nil)
        #expect(queue.count == 2)
        #expect(queue.append(self.item(4, bytes: 50)) == true)
        queue.connected()
        #expect(queue.next()?.ackID == 1)
    }

    @Test func boundedInNumberAndBytes() {
        var queue = self.makeQueue(count: 2)
        #expect(queue.append(self.item(0, bytes: 101)) == false)
        #expect(queue.append(self.item(1, bytes: 60)) == true)
        #expect(queue.append(self.item(2, bytes: 41)) == false)
        #expect(queue.append(self.item(3, bytes: 40)) == true)
        #expect(queue.append(self.item(4, bytes: 0)) == false)
        #expect(queue.remove(ackID: 1) == false)
        #expect(queue.append(self.item(5, bytes: 60)) == true)
    }

    /// A network that loses events, acks and connections. Each event arrives at least once, and the
    /// first arrivals are in order.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func atLeastOnceAndInOrderOverABadNetwork(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        var queue = self.makeQueue(tries: .max, count: 100)
        var arrivals: [Int] = []
        var acknowledged: Set<Int> = []
        var nextID = 0
        var onItsWay: Int?
        for _ in 0..<5000 {
            switch generator.below(8) {
            case 0:
                if nextID < 50, queue.append(self.item(nextID)) { nextID += 1 }
            case 1:
                #expect(queue.disconnected() == .doNothing)
                onItsWay = nil
            case 2: queue.connected()
            case 3:
                if let id = onItsWay { #expect(queue.tryTimedOut(ackID: id) == .doNothing) }
            case 4, 5:
                // The ack of an event that arrived, possibly late or duplicated.
                if let id = arrivals.last {
                    acknowledged.insert(id)
                    _ = queue.remove(ackID: id)
                }
            default: break
            }
            while let item = queue.next() {
                // No event is sent before the previous one is acknowledged.
                #expect(item.ackID == 0 || acknowledged.contains(item.ackID - 1))
                onItsWay = item.ackID
                if generator.below(3) > 0 { arrivals.append(item.ackID) }
            }
        }
        queue.connected()
        while let item = queue.next() {
            arrivals.append(item.ackID)
            _ = queue.remove(ackID: item.ackID)
        }
        var seen: Set<Int> = []
        #expect(arrivals.filter { seen.insert($0).inserted } == Array(0..<50))
        #expect(queue.count == 0)
    }
}

extension SplitMix64 {
    fileprivate mutating func below(_ count: UInt64) -> UInt64 { self.next() % count }
}
