public import NIOCore

/// One scheduled task of an event loop for many waits: the shell of ``DeadlineQueue``, and the base
/// of ``PendingTable``, which has the waits.
///
/// A scheduled task for each wait would cost more than the work itself, because cancelling one
/// searches all tasks of the event loop. Confined to its event loop.
@usableFromInline
package class DeadlineTimer {
    private let eventLoop: any EventLoop
    private var queue = DeadlineQueue<NIODeadline>()
    private var task: Scheduled<Void>?
    private var firesAt: NIODeadline = .distantFuture

    @usableFromInline init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Returns whether the wait with this number is active.
    @usableFromInline func isWaiting(_ id: Int) -> Bool { false }

    /// Ends a wait that is active at its deadline.
    @usableFromInline func deadlinePassed(_ id: Int) {}

    /// Starts the deadline of a wait.
    ///
    /// - Parameters:
    ///   - id: The number of the wait, never reused.
    ///   - delay: The maximum length of the wait.
    ///   - count: The number of active waits, including this one.
    @usableFromInline final func startDeadline(of id: Int, in delay: Duration, amongWaiting count: Int) {
        self.eventLoop.assertInEventLoop()
        self.queue.add(id, at: self.eventLoop.now + TimeAmount(delay), amongWaiting: count) { self.isWaiting($0) }
        self.schedule()
    }

    /// Removes all deadlines and cancels the scheduled task.
    @usableFromInline final func cancelDeadlines() {
        self.task?.cancel()
        self.task = nil
        self.firesAt = .distantFuture
        self.queue = DeadlineQueue()
    }

    private func schedule() {
        guard let next = self.queue.next({ self.isWaiting($0) }), next < self.firesAt else { return }
        self.task?.cancel()
        self.firesAt = next
        self.task = self.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.fire() }
    }

    private func fire() {
        self.task = nil
        self.firesAt = .distantFuture
        while let id = self.queue.popDue(at: self.eventLoop.now, { self.isWaiting($0) }) { self.deadlinePassed(id) }
        self.schedule()
    }
}

@available(*, unavailable)
extension DeadlineTimer: Sendable {}
