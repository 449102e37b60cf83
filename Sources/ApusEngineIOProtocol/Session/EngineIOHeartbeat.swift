/// Decides when to ping, and when a silent peer is gone; for the side that pings and for the side that listens.
///
/// Source: Engine.IO protocol v4, "Heartbeat" (the server pings, the client answers within `pingTimeout`); in v3 it is the client that pings. Who
/// listens waits for `pingInterval` and `pingTimeout` together.
package struct EngineIOHeartbeat: Sendable {
    private enum State {
        /// Every ping so far was answered. Leaves to `awaitingPong` (timer) or `stopped`.
        case idle
        /// One ping is on the wire. Leaves to `idle` (pong) or `stopped` (timer, `stop`).
        case awaitingPong
        /// The peer pings, we listen. Leaves to `stopped` (timer, `stop`).
        case awaitingPing
        /// Final.
        case stopped
    }

    private var state: State
    private let sendsPings: Bool
    private let pingInterval: Duration
    private let pingTimeout: Duration

    /// - Parameters:
    ///   - sendsPings: Whether we ping; otherwise we listen.
    ///   - pingInterval: The time from a pong (or the start) to the next ping.
    ///   - pingTimeout: The time for the answer to a ping; for a listener, how late a ping may be.
    package init(sendsPings: Bool, pingInterval: Duration, pingTimeout: Duration) {
        self.state = sendsPings ? .idle : .awaitingPing
        self.sendsPings = sendsPings
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
    }

    /// The time from the start to the first `timerFired`.
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
            return .doNothing  // the timer raced with `stop`; both orders are legal
        }
    }

    /// The peer still takes what is queued for it, and what it says has to wait until then: in place of the end that ``timerFired()`` called for it has as
    /// much time again.
    ///
    /// - Returns: The time to the next `timerFired`.
    package mutating func peerIsDraining() -> Duration {
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
            return .doNothing  // a pong nobody asked for changes nothing
        }
    }

    /// The peer pinged. (Its pong is sent in any case.)
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
