import ApusEngineIOProtocol
import NIOCore

/// The timer of a session's heartbeat.
///
/// A pong moves the deadline and leaves the timer: it finds out, when it fires, that there is time left. Cancelling a timer costs a search through
/// all timers of the event loop, and every client would cost one with every pong.
struct EngineIOHeartbeatTimer {
    private(set) var deadline: NIODeadline = .distantFuture
    private var task: Scheduled<Void>?
    private var firesAt: NIODeadline = .distantFuture

    /// Moves the deadline.
    mutating func move(to deadline: NIODeadline, on eventLoop: any EventLoop, _ fire: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        guard self.task != nil else { return self.schedule(at: deadline, on: eventLoop, fire) }
        guard deadline < self.firesAt else { return }
        self.task?.cancel()
        self.schedule(at: deadline, on: eventLoop, fire)
    }

    /// The timer fired. `false`: the deadline has moved; it is set again.
    mutating func fired(on eventLoop: any EventLoop, _ fire: @escaping @Sendable () -> Void) -> Bool {
        self.task = nil
        guard self.deadline > self.firesAt else { return true }
        self.schedule(at: self.deadline, on: eventLoop, fire)
        return false
    }

    mutating func cancel() {
        self.task?.cancel()
        self.task = nil
    }

    private mutating func schedule(at deadline: NIODeadline, on eventLoop: any EventLoop, _ fire: @escaping @Sendable () -> Void) {
        self.firesAt = deadline
        self.task = eventLoop.scheduleTask(deadline: deadline, fire)
    }
}
