/// Schedules pings and detects a dead peer, for the side that sends pings and the side that
/// receives them.
///
/// Source: Engine.IO protocol v4, "Heartbeat": the server pings, the client answers within
/// `pingTimeout`. In version 3 the client pings. The receiving side waits for `pingInterval` plus
/// `pingTimeout`.
package struct EngineIOHeartbeatStateMachine: Sendable {
    private enum State {
        /// Every ping so far was answered. Transitions to `awaitingPong` (timer) or `stopped`.
        case idle
        /// One ping is on the wire. Transitions to `idle` (pong) or `stopped` (timer, `stop`).
        case awaitingPong
        /// The peer sends pings. Transitions to `stopped` (timer, `stop`).
        case awaitingPing
        /// Final.
        case stopped
    }

    private var state: State
    private let sendsPings: Bool
    private let pingInterval: Duration
    private let pingTimeout: Duration

    /// - Parameters:
    ///   - sendsPings: Whether this side sends pings; `false` if it receives them.
    ///   - pingInterval: The time from a pong (or the start) to the next ping.
    ///   - pingTimeout: The time for the answer to a ping; on the receiving side, the maximum delay
    ///     of a ping.
    package init(sendsPings: Bool, pingInterval: Duration, pingTimeout: Duration) {
        self.state = sendsPings ? .idle : .awaitingPing
        self.sendsPings = sendsPings
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
    }

    /// The time until the first call of `timerFired`.
    package var firstTimer: Duration {
        switch self.state {
        case .awaitingPing: self.pingInterval + self.pingTimeout
        case .idle, .awaitingPong, .stopped: self.pingInterval
        }
    }

    package enum TimerFiredAction: Equatable {
        case sendPing(thenTimerAfter: Duration)
        case closeSession(EngineIOCloseReason)
        case doNothing
    }

    package mutating func timerFired() -> TimerFiredAction {
        switch self.state {
        case .idle:
            self.state = .awaitingPong
            return .sendPing(thenTimerAfter: self.pingTimeout)
        case .awaitingPong, .awaitingPing:
            self.state = .stopped
            return .closeSession(.pingTimeout)
        case .stopped:
            return .doNothing  // the timer raced with `stop`; both orders are valid
        }
    }

    /// Extends the deadline after ``timerFired()`` has returned `closeSession`. Used while the peer
    /// is still receiving queued data, which delays its pong.
    ///
    /// - Returns: The time until the next call of `timerFired`.
    package mutating func extendDeadline() -> Duration {
        self.state = self.sendsPings ? .awaitingPong : .awaitingPing
        return self.sendsPings ? self.pingTimeout : self.pingInterval + self.pingTimeout
    }

    package enum TimerAction: Equatable {
        case restartTimer(after: Duration)
        case doNothing
    }

    package mutating func receivedPong() -> TimerAction {
        switch self.state {
        case .awaitingPong:
            self.state = .idle
            return .restartTimer(after: self.pingInterval)
        case .idle, .awaitingPing, .stopped:
            return .doNothing  // an unsolicited pong is ignored
        }
    }

    /// Handles a ping of the peer. The caller sends the pong in any case.
    package mutating func receivedPing() -> TimerAction {
        switch self.state {
        case .awaitingPing: .restartTimer(after: self.pingInterval + self.pingTimeout)
        case .idle, .awaitingPong, .stopped: .doNothing
        }
    }

    package mutating func stop() {
        self.state = .stopped
    }
}
