import Testing

@testable import ApusWebPush

/// The order, the bounds and the delays of pushes, also against a model of the queue.
@Suite struct PushQueueOrderTests {
    private struct Zero: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    private struct Largest: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }

    private func push(_ device: Int64, _ topic: String, _ content: Int = 0, expiresAt: Int64 = 10_000_000) -> PushQueue<Int>.Push {
        .init(device: device, topic: topic, expiresAt: expiresAt, content: content)
    }

    /// A further push of a device with one waiting push replaces it, and the device stays once in
    /// the order.
    @Test func aQueueOfOnePushForADevice() {
        var limits = PushQueue<Int>.Limits()
        limits.waitingOfDevice = 1
        var queue = PushQueue<Int>(limits: limits)
        var zero = Zero()
        for content in 0..<5 { #expect(self.added(&queue, self.push(1, "\(content)", content), at: 0)) }
        #expect(queue.count == 1)
        let first = queue.next(at: 0)
        #expect(first.map(\.content) == [4])
        queue.ended(1, .failed(after: 5_000), at: 0, using: &zero)
        // The newest one also waits for the delay of the device.
        #expect(self.added(&queue, self.push(1, "9", 9), at: 1) && queue.count == 1)
        let early = queue.next(at: 4_999)
        let due = queue.next(at: 5_000)
        #expect(early.isEmpty && due.map(\.content) == [9])
    }

    private func added(_ queue: inout PushQueue<Int>, _ push: PushQueue<Int>.Push, at time: Int64) -> Bool { queue.add(push, at: time) }

    @Test func thePushesOfADeviceStayInOrder() {
        var queue = PushQueue<Int>()
        var zero = Zero()
        for content in 0..<4 { _ = queue.add(self.push(1, "\(content)", content), at: 0) }
        var sent = queue.next(at: 0).map(\.content)
        queue.ended(1, .failed(after: nil), at: 0, using: &zero)
        // The failed push is first again, and the others wait for it.
        let early = queue.next(at: 1_999)
        #expect(early.isEmpty && queue.nextTime(after: 0) == 2_000 && queue.count == 4)
        for _ in 0..<4 {
            sent += queue.next(at: 2_000).map(\.content)
            queue.ended(1, .done, at: 2_000, using: &zero)
        }
        #expect(sent == [0, 0, 1, 2, 3] && queue.count == 0)
    }

    @Test func aNewerPushReplacesTheOneThatFailed() {
        var queue = PushQueue<Int>()
        var zero = Zero()
        _ = queue.add(self.push(1, "a", 1), at: 0)
        _ = queue.next(at: 0)
        _ = queue.add(self.push(1, "a", 2), at: 0)
        _ = queue.add(self.push(1, "b", 3), at: 0)
        queue.ended(1, .failed(after: 7_000), at: 0, using: &zero)
        #expect(queue.count == 2 && queue.nextTime(after: 0) == 7_000)
        let early = queue.next(at: 6_999)
        let due = queue.next(at: 7_000)
        #expect(early.isEmpty && due.map(\.content) == [2])
    }

    @Test(arguments: [(nil, 2_000), (0, 2_000), (-5, 2_000), (2_001, 2_001), (900_000, 900_000), (900_001, 900_000)] as [(Int64?, Int64)])
    func theLongerOfBothDelaysIsTaken(after: Int64?, delay: Int64) {
        for isLargest in [false, true] {
            var queue = PushQueue<Int>()
            _ = queue.add(self.push(1, "a"), at: 100)
            _ = queue.next(at: 100)
            var (zero, largest) = (Zero(), Largest())
            if isLargest {
                queue.ended(1, .failed(after: after), at: 100, using: &largest)
            } else {
                queue.ended(1, .failed(after: after), at: 100, using: &zero)
            }
            // Up to a quarter is added at random, so that the devices of a failed service spread.
            let due = (queue.nextTime(after: 100) ?? 0) - 100
            #expect(isLargest ? (delay...delay + delay / 4).contains(due) : due == delay)
        }
    }

    @Test func attemptsEnd() {
        var limits = PushQueue<Int>.Limits()
        (limits.attempts, limits.firstDelay, limits.longestDelay) = (30, 1, 1 << 40)
        var queue = PushQueue<Int>(limits: limits)
        var zero = Zero()
        _ = queue.add(self.push(1, "a", expiresAt: .max), at: 0)
        var (time, delays) = (Int64(0), [Int64]())
        while !queue.next(at: time).isEmpty {
            queue.ended(1, .failed(after: nil), at: time, using: &zero)
            guard let next = queue.nextTime(after: time) else { break }
            delays.append(next - time)
            time = next
        }
        // The delay doubles at most twenty times.
        #expect(delays == (0..<29).map { Int64(1) << Int64(min($0, 20)) })
    }

    /// A random script against a list of what waits. The list knows no order of devices, so the
    /// sets of sent pushes are compared by their rules.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func aRandomScriptKeepsTheBounds(seed: UInt64) {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
        var limits = PushQueue<Int>.Limits()
        (limits.waiting, limits.waitingOfDevice, limits.underWay, limits.attempts) = (12, 1 + random(4), 1 + random(3), 3)
        var queue = PushQueue<Int>(limits: limits)
        var zero = Zero()
        var running: Set<Int64> = []
        var newest: [String: Int] = [:]
        var (time, content) = (Int64(0), 0)
        for _ in 0..<400 {
            time += Int64(random(3_000))
            switch random(4) {
            case 0, 1:
                content += 1
                let device = Int64(random(5))
                let topic = "\(device)-\(random(6))"
                if queue.add(self.push(device, topic, content, expiresAt: time + Int64(random(60_000))), at: time) {
                    newest[topic] = content
                }
            case 2:
                for push in queue.next(at: time) {
                    #expect(push.expiresAt > time, "an expired push is not sent")
                    #expect(running.insert(push.device).inserted, "one push of a device at a time")
                    #expect(push.content <= newest[push.topic] ?? 0)
                }
                #expect(running.count <= limits.underWay)
            default:
                guard let device = running.sorted().first else { continue }
                running.remove(device)
                switch random(3) {
                case 0: queue.ended(device, .done, at: time, using: &zero)
                case 1: queue.ended(device, .failed(after: Int64(random(5_000))), at: time, using: &zero)
                default: queue.ended(device, .gone, at: time, using: &zero)
                }
            }
            #expect((0...limits.waiting).contains(queue.count))
        }
        // The queue becomes empty, and its count with it.
        for device in running { queue.ended(device, .done, at: time, using: &zero) }
        time += 100_000_000
        let last = queue.next(at: time)
        #expect(last.isEmpty && queue.count == 0 && queue.nextTime(after: time) == nil)
    }
}
