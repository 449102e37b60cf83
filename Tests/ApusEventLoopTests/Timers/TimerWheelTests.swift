import ApusEventLoop
import ApusSeededRandom
import Testing

/// The times are virtual, in nanoseconds.
@Suite struct TimerWheelTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func nothingIsDueInAnEmptyWheel() {
        var wheel = TimerWheel<Int>()
        #expect(wheel.nextDeadline() == nil)
        #expect(wheel.popDue(at: .max) == nil)
    }

    @Test func deadlinesPassInTheirOrderAndAtTheirTime() {
        var wheel = TimerWheel<String>()
        _ = wheel.add("late", at: 3 * Self.second)
        _ = wheel.add("early", at: Self.second)
        _ = wheel.add("early too", at: Self.second)
        #expect(wheel.nextDeadline() == Self.second)
        #expect(wheel.popDue(at: Self.second - 1) == nil)
        #expect(wheel.popDue(at: Self.second) == "early")
        #expect(wheel.popDue(at: Self.second) == "early too")
        #expect(wheel.popDue(at: Self.second) == nil)
        #expect(wheel.nextDeadline() == 3 * Self.second)
        #expect(wheel.popDue(at: 10 * Self.second) == "late")
        #expect(wheel.count == 0)
    }

    @Test func aDeadlineMovesBothWays() {
        var wheel = TimerWheel<String>()
        let token = wheel.add("a", at: 5 * Self.second)
        #expect(wheel.move(token, to: 9 * Self.second) == true)
        #expect(wheel.nextDeadline() == 9 * Self.second)
        #expect(wheel.move(token, to: 2 * Self.second) == true)
        #expect(wheel.popDue(at: 2 * Self.second) == "a")
        #expect(wheel.move(token, to: 3 * Self.second) == false, "it has passed")
        #expect(wheel.count == 0)
    }

    @Test func aCancelledDeadlineDoesNotPassAndItsEntryIsReused() {
        var wheel = TimerWheel<String>()
        let first = wheel.add("a", at: Self.second)
        wheel.cancel(first)
        wheel.cancel(first)
        #expect(wheel.popDue(at: .max) == nil)
        let second = wheel.add("b", at: Self.second)
        wheel.cancel(first)  // no effect: the entry belongs to b
        #expect(wheel.move(first, to: 1) == false)
        #expect(first != second)
        #expect(wheel.popDue(at: Self.second) == "b")
    }

    @Test func aDeadlineInThePastIsDueImmediately() {
        var wheel = TimerWheel<String>()
        _ = wheel.add("now", at: 100 * Self.second)
        #expect(wheel.popDue(at: 100 * Self.second) == "now")
        _ = wheel.add("kept", at: 200 * Self.second)
        _ = wheel.add("past", at: Self.second)
        #expect(wheel.popDue(at: 100 * Self.second) == "past")
        #expect(wheel.nextDeadline() == 200 * Self.second)
    }

    @Test(arguments: [UInt64(69), 138, 3_600, 1_000_000])
    func aDeadlineMoreThanARoundAwayWaitsItsRounds(seconds: UInt64) {
        var wheel = TimerWheel<String>()
        _ = wheel.add("far", at: seconds * Self.second)
        _ = wheel.add("farther", at: (seconds + 500) * Self.second)
        #expect(wheel.nextDeadline() == seconds * Self.second)
        #expect(wheel.popDue(at: seconds * Self.second - 1) == nil)
        #expect(wheel.popDue(at: seconds * Self.second) == "far")
        #expect(wheel.nextDeadline() == (seconds + 500) * Self.second)
    }

    @Test func extremeDeadlinesDoNotTrap() {
        var wheel = TimerWheel<String>()
        _ = wheel.add("never", at: .max)
        _ = wheel.add("zero", at: 0)
        #expect(wheel.popDue(at: 0) == "zero")
        #expect(wheel.nextDeadline() == .max)
    }

    /// Compares random operations with a list that is searched linearly.
    @Test func randomOperationsMatchAPlainList() {
        var generator = SplitMix64(state: 6)
        var wheel = TimerWheel<Int>()
        var list: [Int: (deadline: UInt64, token: TimerWheel<Int>.Token)] = [:]
        var now: UInt64 = 0
        for step in 0..<20_000 {
            let far = UInt64.random(in: 0..<(Bool.random(using: &generator) ? 1 : 200) * Self.second, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                list[step] = (now + far, wheel.add(step, at: now + far))
            case 2:
                guard let some = list.randomElement(using: &generator) else { continue }
                if Bool.random(using: &generator) {
                    wheel.cancel(some.value.token)
                    list[some.key] = nil
                } else {
                    #expect(wheel.move(some.value.token, to: now + far) == true)
                    list[some.key]?.deadline = now + far
                }
            default:
                now += far / 4
                var due: Set<Int> = []
                var last: UInt64 = 0
                while let owner = wheel.popDue(at: now) {
                    let deadline = list[owner]?.deadline ?? .max
                    #expect(last <= deadline)
                    last = deadline
                    due.insert(owner)
                }
                #expect(due == Set(list.filter { $0.value.deadline <= now }.keys))
                for owner in due { list[owner] = nil }
                #expect(wheel.nextDeadline() == list.values.map(\.deadline).min())
            }
            #expect(wheel.count == list.count)
        }
    }
}
