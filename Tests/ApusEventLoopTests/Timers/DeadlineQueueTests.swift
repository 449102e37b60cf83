import ApusEventLoop
import Testing

@Suite struct DeadlineQueueTests {
    @Test func deadlinesComeInTheirOrder() {
        var queue = DeadlineQueue<Int>()
        let deadlines = [5: 20, 6: 10, 7: 20, 8: 30, 9: 10]
        for id in 5...9 { queue.add(id, at: deadlines[id] ?? 0, amongWaiting: id - 4) { _ in true } }
        #expect(queue.next { _ in true } == 10)
        #expect(queue.popDue(at: 9) { _ in true } == nil)
        var passed: [Int] = []
        while let id = queue.popDue(at: 20, { $0 != 9 }) { passed.append(id) }
        #expect(passed == [6, 5, 7])
        #expect(queue.next { _ in true } == 30)
        #expect(queue.next { _ in false } == nil)
        #expect(queue.count == 0)
    }

    @Test func endedWaitsDoNotAccumulate() {
        var queue = DeadlineQueue<Int>()
        queue.add(0, at: 1, amongWaiting: 1) { _ in true }
        for id in 1...10_000 { queue.add(id, at: 2, amongWaiting: 2) { $0 == 0 || $0 == id } }
        #expect(queue.count < 100)
        #expect(queue.popDue(at: 2) { $0 == 0 } == 0)
    }
}
