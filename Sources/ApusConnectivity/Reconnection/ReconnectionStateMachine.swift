/// Keeps count of the attempts of one connection that is to stay up.
///
/// Pure: the shell owns the timer and the connection, and reports what happens to them. Times are those of any clock that does not go
/// back, as the duration since a moment of the shell's choice. A shell that watches no network never calls the route's methods.
package struct ReconnectionStateMachine: Sendable {
    private enum State: Equatable {
        /// Nobody wants a connection. Leaves to `connecting` (start).
        case idle
        /// An attempt is on its way; 0 is the first, which is no reconnection. Leaves to `open`, `waiting`, `paused`, `idle`.
        case connecting(attempt: Int)
        /// The connection is up since then, after that many attempts. Leaves to `waiting` or `paused` (lost), or `idle`.
        case open(attempt: Int, since: Duration)
        /// A timer runs. Leaves to `connecting` (timer, route), `paused` (no route) or `idle` (stop).
        case waiting(attempt: Int)
        /// There is no way to the server; no timer runs. Leaves to `connecting` (route) or `idle` (stop).
        case paused(attempt: Int)
    }

    private var state = State.idle
    private var hasRoute = true
    private let policy: ReconnectionPolicy

    /// Starts idle.
    package init(policy: ReconnectionPolicy) {
        self.policy = policy
    }

    /// Whether somebody wants the connection.
    package var isActive: Bool { self.state != .idle }

    /// Whether the next attempt waits for the network.
    package var isPaused: Bool { if case .paused = self.state { true } else { false } }

    /// The number of the present attempt after a loss; 0 when it is the first or the connection is up.
    package var attempt: Int {
        switch self.state {
        case .connecting(let attempt), .waiting(let attempt), .paused(let attempt): attempt
        case .idle, .open: 0
        }
    }

    // MARK: The user

    package enum StartAction: Equatable { case connect, waitForRoute, doNothing }

    /// Somebody wants the connection.
    package mutating func start() -> StartAction {
        switch self.state {
        case .idle:
            guard self.hasRoute else {
                self.state = .paused(attempt: 0)
                return .waitForRoute
            }
            self.state = .connecting(attempt: 0)
            return .connect
        case .connecting, .open, .waiting, .paused:
            return .doNothing  // on its way already; a wait is not cut short, else a caller in a loop would defeat it
        }
    }

    /// Nobody wants the connection any more. Nothing is tried again after this, whatever else is reported.
    package mutating func stop() {
        self.state = .idle
    }

    // MARK: The connection

    package enum OpenedAction: Equatable { case connected, reconnected(attempts: Int), doNothing }

    /// The connection is up, in the sense that it proved useful.
    package mutating func opened(at now: Duration = .zero) -> OpenedAction {
        switch self.state {
        case .connecting(let attempt):
            self.state = .open(attempt: attempt, since: now)
            return attempt == 0 ? .connected : .reconnected(attempts: attempt)
        case .idle, .open, .waiting, .paused:
            return .doNothing  // an attempt that was given up, or a second report
        }
    }

    package enum LostAction: Equatable { case retry(after: Duration, attempt: Int), waitForRoute(attempt: Int), giveUp, doNothing }

    /// An attempt failed or the connection broke.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - decision: What the cause says about another attempt.
    ///   - generator: For the jitter.
    package mutating func lost(
        at now: Duration = .zero, decision: RetryDecision = .retry, using generator: inout some RandomNumberGenerator
    ) -> LostAction {
        let next: Int
        switch self.state {
        case .idle, .waiting, .paused: return .doNothing  // already counted
        case .connecting(let attempt): next = attempt + 1
        case .open(let attempt, let since): next = now - since >= self.policy.stableTime ? 1 : attempt + 1
        }
        guard decision != .giveUp, var delay = self.policy.delay(forAttempt: next, using: &generator) else {
            self.state = .idle
            return .giveUp
        }
        if case .retryAfter(let least) = decision { delay = max(delay, min(least, RetryDecision.maximumDelay)) }
        guard self.hasRoute else {
            self.state = .paused(attempt: next)
            return .waitForRoute(attempt: next)
        }
        self.state = .waiting(attempt: next)
        return .retry(after: delay, attempt: next)
    }

    package enum TimerFiredAction: Equatable { case connect(attempt: Int), doNothing }

    /// The wait is over.
    package mutating func timerFired() -> TimerFiredAction {
        switch self.state {
        case .waiting(let attempt):
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open, .paused:
            return .doNothing  // the timer raced with `stop` or with the route
        }
    }

    /// The user does not want to wait, whatever is known of the network.
    package mutating func retryNow() -> TimerFiredAction {
        switch self.state {
        case .waiting(let attempt), .paused(let attempt):
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open:
            return .doNothing  // nobody wants a connection, or it is on its way or there
        }
    }

    // MARK: The network

    package enum RouteLostAction: Equatable { case cancelTimer, doNothing }

    /// There is no way to the server any more.
    package mutating func routeLost() -> RouteLostAction {
        self.hasRoute = false
        switch self.state {
        case .waiting(let attempt):
            self.state = .paused(attempt: attempt)
            return .cancelTimer
        case .idle, .connecting, .open, .paused:
            return .doNothing  // an open connection outlives a short gap, or its heartbeat finds it dead
        }
    }

    package enum RouteFoundAction: Equatable {
        /// Connect now; a timer that runs is cancelled.
        case connect(attempt: Int)
        case doNothing
    }

    /// There is a way to the server again, or another one than before.
    ///
    /// What failed over the old way says nothing about the new one: the attempt is made at once and counted as the first.
    package mutating func routeFound() -> RouteFoundAction {
        self.hasRoute = true
        switch self.state {
        case .waiting(let attempt), .paused(let attempt):
            let attempt = min(attempt, 1)
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open:
            return .doNothing  // an attempt on its way finds out by itself
        }
    }
}
