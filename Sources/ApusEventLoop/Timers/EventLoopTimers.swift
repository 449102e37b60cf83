package import NIOCore

/// The owner of deadlines in an ``EventLoopTimers``.
package protocol EventLoopTimerOwner: AnyObject {
    /// Called when a deadline has passed. The timer is no longer set.
    ///
    /// - Parameter name: The name that the owner gave to the timer.
    func timerFired(_ name: EventLoopTimer.Name)
}

/// The handle with which an owner moves or cancels one of its deadlines.
package struct EventLoopTimer {
    /// The name of a deadline, unique within its owner.
    package struct Name: Hashable, Sendable {
        let number: UInt8

        package init(_ number: UInt8) {
            self.number = number
        }
    }

    fileprivate var token: TimerWheel<EventLoopTimers.Waiter>.Token?

    /// Creates a timer that is not set.
    package init() {}
}

/// The deadlines of all connections of an event loop, on one scheduled task.
///
/// Confined to its event loop. Retains an owner while one of its timers is set.
package final class EventLoopTimers {
    fileprivate struct Waiter {
        let owner: any EventLoopTimerOwner
        let name: EventLoopTimer.Name
    }

    private let eventLoop: any EventLoop
    private var wheel = TimerWheel<Waiter>()
    private var task: Scheduled<Void>?
    private var wakesAt: NIODeadline = .distantFuture

    /// Creates the timers of an event loop.
    package init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The current time of the event loop.
    package var now: NIODeadline { self.eventLoop.now }

    /// The number of timers that are set.
    package var count: Int { self.wheel.count }

    /// Sets a timer, or moves it if it is set.
    package func set(
        _ timer: inout EventLoopTimer, at deadline: NIODeadline, for owner: any EventLoopTimerOwner, _ name: EventLoopTimer.Name
    ) {
        self.eventLoop.assertInEventLoop()
        if let token = timer.token, self.wheel.move(token, to: deadline.uptimeNanoseconds) {
        } else {
            timer.token = self.wheel.add(Waiter(owner: owner, name: name), at: deadline.uptimeNanoseconds)
        }
        if deadline < self.wakesAt { self.wake(at: deadline) }
    }

    /// Cancels a timer. The scheduled task stays and is rescheduled when it fires.
    package func cancel(_ timer: inout EventLoopTimer) {
        guard let token = timer.token.take() else { return }
        self.eventLoop.assertInEventLoop()
        self.wheel.cancel(token)
    }

    private func wake(at deadline: NIODeadline) {
        self.task?.cancel()
        self.wakesAt = deadline
        self.task = self.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in self?.fire() }
    }

    private func fire() {
        self.task = nil
        self.wakesAt = .distantFuture
        let now = self.eventLoop.now.uptimeNanoseconds
        while let waiter = self.wheel.popDue(at: now) { waiter.owner.timerFired(waiter.name) }
        guard let next = self.wheel.nextDeadline() else { return }
        let deadline = NIODeadline.uptimeNanoseconds(next)
        if deadline < self.wakesAt { self.wake(at: deadline) }
    }
}

@available(*, unavailable)
extension EventLoopTimers: Sendable {}
