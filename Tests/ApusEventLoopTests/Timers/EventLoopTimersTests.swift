import ApusEventLoop
import NIOCore
import NIOEmbedded
import Testing

@Suite struct EventLoopTimersTests {
    private final class Owner: EventLoopTimerOwner {
        var timer = EventLoopTimer()
        var other = EventLoopTimer()
        var fired: [EventLoopTimer.Name] = []
        var whenFired: (() -> Void)?

        func timerFired(_ name: EventLoopTimer.Name) {
            self.fired.append(name)
            self.whenFired?()
        }
    }

    private let eventLoop = EmbeddedEventLoop()
    private let timers: EventLoopTimers

    init() {
        self.timers = EventLoopTimers(on: self.eventLoop)
    }

    @Test func timersFireAtTheirTime() {
        let owner = Owner()
        self.timers.set(&owner.timer, at: self.timers.now + .seconds(20), for: owner, .init(1))
        self.timers.set(&owner.other, at: self.timers.now + .seconds(5), for: owner, .init(2))
        self.eventLoop.advanceTime(by: .nanoseconds(4_999_999_999))
        #expect(owner.fired.isEmpty)
        self.eventLoop.advanceTime(by: .nanoseconds(1))
        #expect(owner.fired == [.init(2)])
        self.eventLoop.advanceTime(by: .seconds(15))
        #expect(owner.fired == [.init(2), .init(1)])
        #expect(self.timers.count == 0)
    }

    @Test func aMovedTimerFiresOnceAndACancelledOneNever() {
        let (moved, cancelled) = (Owner(), Owner())
        self.timers.set(&moved.timer, at: self.timers.now + .seconds(1), for: moved, .init(0))
        self.timers.set(&cancelled.timer, at: self.timers.now + .seconds(1), for: cancelled, .init(0))
        self.timers.set(&moved.timer, at: self.timers.now + .seconds(3), for: moved, .init(0))
        self.timers.cancel(&cancelled.timer)
        self.eventLoop.advanceTime(by: .seconds(2))
        #expect(moved.fired.isEmpty)
        self.eventLoop.advanceTime(by: .seconds(2))
        #expect(moved.fired.count == 1)
        #expect(cancelled.fired.isEmpty)
    }

    @Test func aTimerIsSetAgainFromItsOwnFiring() {
        let owner = Owner()
        owner.whenFired = { [timers] in timers.set(&owner.timer, at: timers.now + .seconds(25), for: owner, .init(0)) }
        self.timers.set(&owner.timer, at: self.timers.now + .seconds(25), for: owner, .init(0))
        self.eventLoop.advanceTime(by: .seconds(101))
        #expect(owner.fired.count == 4)
        owner.whenFired = nil
        self.timers.cancel(&owner.timer)
    }

    @Test func anOwnerIsHeldWhileATimerIsSet() {
        weak var gone: Owner?
        do {
            let owner = Owner()
            gone = owner
            self.timers.set(&owner.timer, at: self.timers.now + .seconds(1), for: owner, .init(0))
        }
        #expect(gone != nil)
        self.eventLoop.advanceTime(by: .seconds(1))
        #expect(gone == nil)
    }
}
