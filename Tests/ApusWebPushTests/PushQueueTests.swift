import Testing

@testable import ApusWebPush

@Suite struct PushQueueTests {
    /// A queue whose methods `#expect` can call.
    private final class Queue {
        private var queue: PushQueue<Int>
        private var generator = SeededGenerator()

        init(limits: PushQueue<Int>.Limits = .init()) { self.queue = PushQueue(limits: limits) }

        var count: Int { self.queue.count }
        func add(_ push: PushQueue<Int>.Push, at time: Int64) -> Bool { self.queue.add(push, at: time) }
        func next(at time: Int64) -> [PushQueue<Int>.Push] { self.queue.next(at: time) }
        func nextTime(after time: Int64) -> Int64? { self.queue.nextTime(after: time) }
        func remove(_ device: Int64) { self.queue.remove(device) }
        func ended(_ device: Int64, _ outcome: PushQueue<Int>.Outcome, at time: Int64) {
            self.queue.ended(device, outcome, at: time, using: &self.generator)
        }
    }

    private struct SeededGenerator: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    private func push(_ device: Int64, _ topic: String, _ content: Int, expiresAt: Int64 = 1_000_000) -> PushQueue<Int>.Push {
        .init(device: device, topic: topic, expiresAt: expiresAt, content: content)
    }

    @Test func aNewerPushReplacesTheOneOfItsTopic() {
        let queue = Queue()
        #expect(queue.add(self.push(1, "a", 1), at: 0))
        #expect(queue.add(self.push(1, "b", 2), at: 0))
        #expect(queue.add(self.push(1, "a", 3), at: 0))
        #expect(queue.count == 2)
        #expect(queue.next(at: 0).map(\.content) == [3])
    }

    @Test func aDeviceHasOnePushAtATime() {
        let queue = Queue()
        for (device, content) in [(1, 1), (1, 2), (2, 3)] as [(Int64, Int)] {
            _ = queue.add(self.push(device, "\(content)", content), at: 0)
        }
        #expect(queue.next(at: 0).map(\.content) == [1, 3])
        #expect(queue.next(at: 0).isEmpty)
        queue.ended(1, .done, at: 0)
        #expect(queue.next(at: 0).map(\.content) == [2])
        #expect(queue.count == 0)
    }

    @Test func failuresAreRetriedLater() {
        let queue = Queue()
        _ = queue.add(self.push(1, "a", 1), at: 0)
        var time: Int64 = 0
        var delays: [Int64] = []
        while !queue.next(at: time).isEmpty {
            queue.ended(1, .failed(after: nil), at: time)
            guard let next = queue.nextTime(after: time) else { break }
            #expect(queue.next(at: next - 1).isEmpty)
            delays.append(next - time)
            time = next
        }
        #expect(delays == [2_000, 4_000, 8_000, 16_000, 32_000])
        #expect(queue.count == 0)
    }

    @Test func theServiceSaysWhen() {
        let queue = Queue()
        _ = queue.add(self.push(1, "a", 1), at: 0)
        _ = queue.next(at: 0)
        queue.ended(1, .failed(after: 60_000), at: 0)
        #expect(queue.nextTime(after: 0) == 60_000)
        // A newer push of the conversation waits as long.
        _ = queue.add(self.push(1, "a", 2), at: 10)
        _ = queue.add(self.push(1, "b", 3), at: 10)
        #expect(queue.next(at: 59_999).isEmpty)
        #expect(queue.next(at: 60_000).map(\.content) == [2])
    }

    @Test func anUnreasonableTimeIsBounded() {
        let queue = Queue()
        _ = queue.add(self.push(1, "a", 1, expiresAt: .max), at: 0)
        _ = queue.next(at: 0)
        queue.ended(1, .failed(after: .max), at: 0)
        #expect(queue.nextTime(after: 0) == 900_000)
    }

    @Test func expiredPushesAreDropped() {
        let queue = Queue()
        _ = queue.add(self.push(1, "a", 1, expiresAt: 100), at: 0)
        #expect(queue.next(at: 100).isEmpty)
        #expect(queue.count == 0)
        _ = queue.add(self.push(1, "a", 1, expiresAt: 1_000), at: 0)
        _ = queue.next(at: 0)
        queue.ended(1, .failed(after: nil), at: 0)
        #expect(queue.count == 0 && queue.nextTime(after: 0) == nil)
    }

    @Test func anUnknownSubscriptionDropsWaitingPushes() {
        let queue = Queue()
        for content in 0..<3 { _ = queue.add(self.push(1, "\(content)", content), at: 0) }
        _ = queue.next(at: 0)
        queue.ended(1, .gone, at: 0)
        #expect(queue.count == 0)
        #expect(queue.next(at: 1_000_000).isEmpty)
    }

    @Test func everythingIsBounded() {
        var limits = PushQueue<Int>.Limits()
        (limits.waiting, limits.waitingOfDevice, limits.underWay) = (5, 2, 2)
        let queue = Queue(limits: limits)
        for content in 0..<3 { #expect(queue.add(self.push(1, "\(content)", content), at: 0)) }
        #expect(queue.count == 2)
        for device in 2...4 as ClosedRange<Int64> { #expect(queue.add(self.push(device, "x", 9), at: 0)) }
        #expect(!queue.add(self.push(5, "x", 9), at: 0))
        #expect(queue.next(at: 0).map(\.content) == [1, 9])
        #expect(queue.next(at: 0).isEmpty)
    }

    @Test func endsOfNothingHaveNoEffect() {
        let queue = Queue()
        queue.ended(1, .failed(after: nil), at: 0)
        queue.remove(1)
        #expect(queue.count == 0 && queue.next(at: 0).isEmpty && queue.nextTime(after: 0) == nil)
    }
}
