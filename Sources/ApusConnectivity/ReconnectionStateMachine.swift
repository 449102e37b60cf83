/// Keeps count of the attempts of one connection that is to stay up.
///
/// Pure: the shell owns the timer and the connection, and reports what happens to them.
package struct ReconnectionStateMachine: Sendable {
    private enum State: Equatable {
        /// Nobody wants a connection. Leaves to `connecting` (start).
        case idle
        /// An attempt is on its way; 0 is the first, which is no reconnection. Leaves to `open`, `waiting`, `idle`.
        case connecting(attempt: Int)
        /// The connection is up. Leaves to `waiting` (lost) or `idle`.
        case open
        /// A timer runs. Leaves to `connecting` (timer) or `idle` (stop).
        case waiting(attempt: Int)
    }

    private var state = State.idle
    private let policy: ReconnectionPolicy

    /// Starts idle.
    package init(policy: ReconnectionPolicy) {
        self.policy = policy
    }

    /// Whether somebody wants the connection.
    package var isActive: Bool { self.state != .idle }

    /// The number of the present attempt after a loss; 0 when it is the first or the connection is up.
    package var attempt: Int {
        switch self.state {
        case .connecting(let attempt), .waiting(let attempt): attempt
        case .idle, .open: 0
        }
    }

    package enum StartAction: Equatable { case connect, doNothing }

    /// Somebody wants the connection.
    package mutating func start() -> StartAction {
        switch self.state {
        case .idle:
            self.state = .connecting(attempt: 0)
            return .connect
        case .connecting, .open, .waiting:
            return .doNothing  // on its way already; a wait is not cut short, else a caller in a loop would defeat it
        }
    }

    package enum OpenedAction: Equatable { case connected, reconnected(attempts: Int), doNothing }

    /// The connection is up, in the sense that it proved useful.
    package mutating func opened() -> OpenedAction {
        guard case .connecting(let attempt) = self.state else { return .doNothing }
        self.state = .open
        return attempt == 0 ? .connected : .reconnected(attempts: attempt)
    }

    package enum LostAction: Equatable { case retry(after: Duration, attempt: Int), giveUp, doNothing }

    /// An attempt failed or the connection broke.
    package mutating func lost(using generator: inout some RandomNumberGenerator) -> LostAction {
        let next: Int
        switch self.state {
        case .idle, .waiting: return .doNothing  // already counted
        case .connecting(let attempt): next = attempt + 1
        case .open: next = 1
        }
        guard let delay = self.policy.delay(forAttempt: next, using: &generator) else {
            self.state = .idle
            return .giveUp
        }
        self.state = .waiting(attempt: next)
        return .retry(after: delay, attempt: next)
    }

    package enum TimerFiredAction: Equatable { case connect(attempt: Int), doNothing }

    /// The wait is over.
    package mutating func timerFired() -> TimerFiredAction {
        guard case .waiting(let attempt) = self.state else { return .doNothing }  // the timer raced with `stop`
        self.state = .connecting(attempt: attempt)
        return .connect(attempt: attempt)
    }

    /// Nobody wants the connection any more.
    package mutating func stop() {
        self.state = .idle
    }
}
