/// Decides when a server pings, and when a silent client is gone.
///
/// Source: Engine.IO protocol v4, "Heartbeat" (the server pings, the client answers within `pingTimeout`).
package struct EngineIOHeartbeat: Sendable {
    private enum State {
        /// Every ping so far was answered. Leaves to `awaitingPong` (timer) or `stopped`.
        case idle
        /// One ping is on the wire. Leaves to `idle` (pong) or `stopped` (timer, `stop`).
        case awaitingPong
        /// Final.
        case stopped
    }

    private var state: State = .idle
    private let pingInterval: Duration
    private let pingTimeout: Duration

    /// - Parameters:
    ///   - pingInterval: The time from a pong (or the start) to the next ping.
    ///   - pingTimeout: The time a client has to answer a ping.
    package init(pingInterval: Duration, pingTimeout: Duration) {
        self.pingInterval = pingInterval
        self.pingTimeout = pingTimeout
    }

    /// The time from the start to the first `timerFired`.
    package var firstTimer: Duration { self.pingInterval }

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
        case .awaitingPong:
            self.state = .stopped
            return .closeSession(.pingTimeout)
        case .stopped:
            return .doNothing  // the timer raced with `stop`; both orders are legal
        }
    }

    package enum ReceivedPongAction: Equatable {
        case restartTimer(after: Duration)
        case doNothing
    }

    package mutating func receivedPong() -> ReceivedPongAction {
        switch self.state {
        case .awaitingPong:
            self.state = .idle
            return .restartTimer(after: self.pingInterval)
        case .idle, .stopped:
            return .doNothing  // a pong nobody asked for changes nothing
        }
    }

    package mutating func stop() {
        self.state = .stopped
    }
}
