import Testing

@testable import ApusBench

struct BenchScheduleTests {
    @Test func timesDependOnTheStartAndTheRateAlone() {
        var schedule = BenchSchedule(start: 1_000, rate: 1_000_000)  // one per microsecond
        #expect(schedule.due(at: 999) == nil)
        #expect(schedule.due(at: 1_000) == 1_000)
        #expect(schedule.due(at: 1_000) == nil)
        // A late call: the messages due in the meantime keep their scheduled times.
        #expect(schedule.due(at: 4_500) == 2_000)
        #expect(schedule.due(at: 4_500) == 3_000)
        #expect(schedule.due(at: 4_500) == 4_000)
        #expect(schedule.due(at: 4_500) == nil)
        #expect(schedule.next == 5_000)
    }

    @Test func oddRatesDoNotDrift() {
        var schedule = BenchSchedule(start: 0, rate: 3)
        var last: UInt64 = 0
        for _ in 0...3_000 { last = schedule.due(at: .max) ?? 0 }
        #expect(last == 1_000_000_000_000)
    }
}

struct BenchWindowTests {
    @Test func echoesAnswerTheOldest() {
        var window = BenchWindow(capacity: 2, isNumbered: false)
        #expect(window.answered() == nil)
        #expect(window.sent(at: 10) == 0)
        #expect(window.sent(at: 20) == 1)
        #expect(window.sent(at: 30) == nil)
        #expect(window.answered() == 10)
        #expect(window.sent(at: 30) == 0)
        #expect(window.answered() == 20)
        #expect(window.takeUnanswered() == [30])
        #expect(window.count == 0)
    }

    @Test func acksAnswerTheirEvents() {
        var window = BenchWindow(capacity: 2, isNumbered: true)
        #expect(window.sent(at: 10) == 0)
        #expect(window.sent(at: 20) == 1)
        #expect(window.isFull)
        #expect(window.answered(place: 1) == 20)
        #expect(window.answered(place: 1) == nil)  // a duplicate ack
        #expect(window.answered(place: 7) == nil)  // an unexpected ack
        #expect(window.sent(at: 30) == 1)
        #expect(window.takeUnanswered() == [10, 30])
    }
}

struct BenchBroadcastsTests {
    @Test func theCountOfDeliveriesIdentifiesTheBroadcast() {
        var broadcasts = BenchBroadcasts()
        #expect(broadcasts.sentTime(0) == nil)
        broadcasts.sent(at: 5)
        broadcasts.sent(at: 6)
        #expect(broadcasts.sentTime(0) == 5)
        #expect(broadcasts.sentTime(1) == 6)
        #expect(broadcasts.sentTime(2) == nil)
        for time in 0..<UInt64(1 << 14) { broadcasts.sent(at: 100 + time) }
        #expect(broadcasts.sentTime(1) == nil)  // too old
        #expect(broadcasts.sentTime(2) == 100)
    }
}
