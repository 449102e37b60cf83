import NIOCore

/// A deadline that moves often and passes rarely. Confined to its event loop.
///
/// Moving it leaves the event loop's timer alone: that finds out, when it fires, that there is time left. Cancelling a timer costs a search through all
/// timers of the event loop, and every pong and every request would cost one.
struct MovableTimer {
    /// When the time is up; in the distant future while nothing is waited for.
    private(set) var deadline: NIODeadline = .distantFuture
    private var task: Scheduled<Void>?
    private var firesAt: NIODeadline = .distantFuture
    /// The timer looks again after this time at the latest: then a deadline that is nearer than the last needs no other timer.
    private var longestSleep: TimeAmount?

    /// Moves the deadline.
    ///
    /// - Parameters:
    ///   - deadline: The new one.
    ///   - longestSleep: The time of the nearest deadline there may be; `nil` when they are all as far.
    ///   - fire: Calls ``fired(on:_:)``. On the event loop.
    mutating func move(
        to deadline: NIODeadline, atMost longestSleep: TimeAmount? = nil, on eventLoop: any EventLoop, _ fire: @escaping () -> Void
    ) {
        self.deadline = deadline
        self.longestSleep = longestSleep
        guard self.task != nil else { return self.schedule(on: eventLoop, fire) }
        guard deadline < self.firesAt else { return }
        self.task?.cancel()
        self.schedule(on: eventLoop, fire)
    }

    /// The timer fired. `true`: the time is up.
    mutating func fired(on eventLoop: any EventLoop, _ fire: @escaping () -> Void) -> Bool {
        self.task = nil
        guard self.deadline > self.firesAt else { return true }
        if self.deadline != .distantFuture { self.schedule(on: eventLoop, fire) }
        return false
    }

    /// Nothing is waited for any more, for the time being.
    mutating func stop() { self.deadline = .distantFuture }

    /// Lets go of the timer.
    mutating func cancel() {
        self.task?.cancel()
        self.task = nil
    }

    private mutating func schedule(on eventLoop: any EventLoop, _ fire: @escaping () -> Void) {
        self.firesAt = self.longestSleep.map { min(self.deadline, eventLoop.now + $0) } ?? self.deadline
        self.task = eventLoop.assumeIsolated().scheduleTask(deadline: self.firesAt, fire)
    }
}
