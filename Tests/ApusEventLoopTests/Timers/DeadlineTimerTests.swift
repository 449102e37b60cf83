import ApusEventLoop
import NIOCore
import NIOEmbedded
import Testing

@Suite struct DeadlineTimerTests {
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

    @Test func allWaitsShareOneTimer() {
        let eventLoop = EmbeddedEventLoop()
        var waiting: Set<Int> = []
        var passed: [Int] = []
        let timer = DeadlineTimer(on: eventLoop) {
            waiting.contains($0)
        } passed: {
            passed.append($0)
        }
        func wait(_ id: Int, _ delay: Duration) {
            waiting.insert(id)
            timer.add(id, in: delay, amongWaiting: waiting.count)
        }
        wait(1, .seconds(20))
        eventLoop.advanceTime(by: .seconds(5))
        wait(2, .seconds(20))
        wait(3, .seconds(1))
        eventLoop.advanceTime(by: .milliseconds(999))
        #expect(passed == [])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passed == [3])
        waiting = [2]
        eventLoop.advanceTime(by: .milliseconds(18_999))
        #expect(passed == [3])
        eventLoop.advanceTime(by: .milliseconds(1))
        #expect(passed == [3, 2])
        wait(4, .seconds(1))
        timer.cancel()
        eventLoop.advanceTime(by: .seconds(60))
        #expect(passed == [3, 2])
        wait(5, .seconds(1))
        eventLoop.advanceTime(by: .seconds(1))
        #expect(passed == [3, 2, 5])
        timer.cancel()
    }
}
