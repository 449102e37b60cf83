package import NIOCore

/// One timer of an event loop for many waits, most of which end long before their deadline: the shell of ``DeadlineQueue``.
///
/// A timer each would cost more than what is waited for: cancelling one is a search through all timers of the event loop. Confined to its event
/// loop.
package final class DeadlineTimer {
    private let eventLoop: any EventLoop
    private let isWaiting: (Int) -> Bool
    private let passed: (Int) -> Void
    private var queue = DeadlineQueue<NIODeadline>()
    private var task: Scheduled<Void>?
    private var firesAt: NIODeadline = .distantFuture

    /// - Parameters:
    ///   - eventLoop: Keeps the time.
    ///   - isWaiting: Whether the wait of this number goes on.
    ///   - passed: Called once for each wait that goes on at its deadline.
    package init(on eventLoop: any EventLoop, isWaiting: @escaping (Int) -> Bool, passed: @escaping (Int) -> Void) {
        self.eventLoop = eventLoop
        self.isWaiting = isWaiting
        self.passed = passed
    }

    /// A wait begins.
    ///
    /// - Parameters:
    ///   - id: Its number, never used again.
    ///   - delay: How long it goes on at most.
    ///   - count: How many waits go on, this one included.
    package func add(_ id: Int, in delay: Duration, amongWaiting count: Int) {
        self.eventLoop.assertInEventLoop()
        self.queue.add(id, at: self.eventLoop.now + TimeAmount(delay), amongWaiting: count, self.isWaiting)
        self.schedule()
    }

    /// Nothing is waited for any more.
    package func cancel() {
        self.task?.cancel()
        self.task = nil
        self.firesAt = .distantFuture
        self.queue = DeadlineQueue()
    }

    private func schedule() {
        guard let next = self.queue.next(self.isWaiting), next < self.firesAt else { return }
        self.task?.cancel()
        self.firesAt = next
        self.task = self.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.fire() }
    }

    private func fire() {
        self.task = nil
        self.firesAt = .distantFuture
        while let id = self.queue.popDue(at: self.eventLoop.now, self.isWaiting) { self.passed(id) }
        self.schedule()
    }
}

@available(*, unavailable)
extension DeadlineTimer: Sendable {}
