package import NIOCore

/// One scheduled task of an event loop for many waits: the shell of ``DeadlineQueue``.
///
/// A scheduled task for each wait would cost more than the work itself, because cancelling one
/// searches all tasks of the event loop. Confined to its event loop.
package final class DeadlineTimer {
    private let eventLoop: any EventLoop
    private let isWaiting: (Int) -> Bool
    private let passed: (Int) -> Void
    private var queue = DeadlineQueue<NIODeadline>()
    private var task: Scheduled<Void>?
    private var firesAt: NIODeadline = .distantFuture

    /// - Parameters:
    ///   - eventLoop: The event loop that schedules the task.
    ///   - isWaiting: Returns whether the wait with this number is active.
    ///   - passed: Called once for each wait that is still active at its deadline.
    package init(on eventLoop: any EventLoop, isWaiting: @escaping (Int) -> Bool, passed: @escaping (Int) -> Void) {
        self.eventLoop = eventLoop
        self.isWaiting = isWaiting
        self.passed = passed
    }

    /// Adds a wait.
    ///
    /// - Parameters:
    ///   - id: The number of the wait, never reused.
    ///   - delay: The maximum length of the wait.
    ///   - count: The number of active waits, including this one.
    package func add(_ id: Int, in delay: Duration, amongWaiting count: Int) {
        self.eventLoop.assertInEventLoop()
        self.queue.add(id, at: self.eventLoop.now + TimeAmount(delay), amongWaiting: count, self.isWaiting)
        self.schedule()
    }

    /// Removes all waits and cancels the scheduled task.
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
