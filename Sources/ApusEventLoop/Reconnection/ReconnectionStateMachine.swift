/// Counts the attempts of one persistent connection.
///
/// Pure: the shell owns the timer and the connection and reports their events. Times are durations
/// since any fixed point of a monotonic clock. A shell that does not monitor the network never
/// calls ``routeLost()`` and ``routeFound()``.
package struct ReconnectionStateMachine: Sendable {
    private enum State: Equatable {
        /// No connection is requested. Transitions to `connecting` (start) or `paused` (start
        /// without a route).
        case idle
        /// An attempt is in progress. Attempt 0 is the first connection, not a reconnection.
        /// Transitions to `open`, `waiting`, `paused` or `idle`.
        case connecting(attempt: Int)
        /// The connection is open. Transitions to `waiting` or `paused` (lost), or `idle`.
        case open(attempt: Int, since: Duration)
        /// A timer runs. Transitions to `connecting` (timer, route, `retryNow`), `paused` (no
        /// route) or `idle` (stop).
        case waiting(attempt: Int)
        /// There is no route to the server and no timer runs. Transitions to `connecting` (route,
        /// `retryNow`) or `idle` (stop).
        case paused(attempt: Int)
    }

    private var state = State.idle
    private var hasRoute = true
    private let policy: ReconnectionPolicy

    /// Creates an idle machine.
    package init(policy: ReconnectionPolicy) {
        self.policy = policy
    }

    /// Whether a connection is requested.
    package var isActive: Bool { self.state != .idle }

    /// Whether the next attempt waits for a route.
    package var isPaused: Bool { if case .paused = self.state { true } else { false } }

    /// The number of the current attempt after a loss; 0 for the first connection or an open one.
    package var attempt: Int {
        switch self.state {
        case .connecting(let attempt), .waiting(let attempt), .paused(let attempt): attempt
        case .idle, .open: 0
        }
    }

    // MARK: The user

    package enum StartAction: Equatable { case connect, waitForRoute, doNothing }

    /// Requests a connection.
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
            return .doNothing  // already active; a wait is not shortened, so that repeated calls do not bypass it
        }
    }

    /// Ends the request for a connection. No attempt follows, regardless of later events.
    package mutating func stop() {
        self.state = .idle
    }

    // MARK: The connection

    package enum OpenedAction: Equatable { case connected, reconnected(attempts: Int), doNothing }

    /// Handles a connection that is open and ready for use.
    package mutating func opened(at now: Duration = .zero) -> OpenedAction {
        switch self.state {
        case .connecting(let attempt):
            self.state = .open(attempt: attempt, since: now)
            return attempt == 0 ? .connected : .reconnected(attempts: attempt)
        case .idle, .open, .waiting, .paused:
            return .doNothing  // a cancelled attempt, or a second report
        }
    }

    package enum LostAction: Equatable { case retry(after: Duration, attempt: Int), waitForRoute(attempt: Int), giveUp, doNothing }

    /// Handles a failed attempt or the loss of the connection.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - decision: The retry decision for the cause.
    ///   - generator: The source of the jitter.
    package mutating func lost(
        at now: Duration = .zero, decision: RetryDecision = .retry, using generator: inout some RandomNumberGenerator
    ) -> LostAction {
        let next: Int
        switch self.state {
        case .idle, .waiting, .paused: return .doNothing  // stopped, or already counted
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

    /// Handles the end of the wait.
    package mutating func timerFired() -> TimerFiredAction {
        switch self.state {
        case .waiting(let attempt):
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open, .paused:
            return .doNothing  // the timer raced with `stop` or with the route
        }
    }

    /// Ends a wait at the user's request, regardless of the network.
    package mutating func retryNow() -> TimerFiredAction {
        switch self.state {
        case .waiting(let attempt), .paused(let attempt):
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open:
            return .doNothing  // no connection is requested, or an attempt is in progress or has succeeded
        }
    }

    // MARK: The network

    package enum RouteLostAction: Equatable { case cancelTimer, doNothing }

    /// Handles the loss of the route to the server.
    package mutating func routeLost() -> RouteLostAction {
        self.hasRoute = false
        switch self.state {
        case .waiting(let attempt):
            self.state = .paused(attempt: attempt)
            return .cancelTimer
        case .idle, .connecting, .open, .paused:
            return .doNothing  // no timer runs; an open connection survives a short gap, or its heartbeat times out
        }
    }

    package enum RouteFoundAction: Equatable {
        /// Cancel a running timer and connect now.
        case connect(attempt: Int)
        case doNothing
    }

    /// Handles a new or changed route to the server.
    ///
    /// Connects immediately and resets the count of attempts, because earlier failures do not apply
    /// to the new route.
    package mutating func routeFound() -> RouteFoundAction {
        self.hasRoute = true
        switch self.state {
        case .waiting(let attempt), .paused(let attempt):
            let attempt = min(attempt, 1)
            self.state = .connecting(attempt: attempt)
            return .connect(attempt: attempt)
        case .idle, .connecting, .open:
            return .doNothing  // no attempt waits; a running attempt uses the new route or fails
        }
    }
}
