package import NIOCore

/// Decides when to send a heartbeat signal, and when the peer is considered dead.
///
/// `now` is the time since any fixed point, which must be the same for all calls. One timer
/// suffices: each action that continues the heartbeat includes the next delay. The connection
/// tracks the Pings that the application sends; their Pongs count as received bytes, not as
/// answers.
package struct WebSocketHeartbeatStateMachine {
    private enum State {
        /// No answer is pending. Transitions to `awaiting` (timer) or `stopped`.
        case quiet(nextSignalAt: Duration)
        /// A signal was sent. Transitions to `quiet` (answer) or `stopped` (timer).
        case awaiting(sentAt: Duration)
        /// Final.
        case stopped
    }

    package let configuration: WebSocketHeartbeat
    private var state: State
    private var lastReceivedAt: Duration
    private var pings = PendingPings<Void>()

    /// Creates the state machine of an open connection.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - now: The time at which the connection opened.
    package init(_ configuration: WebSocketHeartbeat, openedAt now: Duration) {
        self.configuration = configuration
        self.lastReceivedAt = now
        self.state = .quiet(nextSignalAt: now + configuration.interval)
    }

    /// Returns the delay of the first timer, or `nil` if no timer is needed.
    package func firstTimer(at now: Duration) -> Duration? {
        guard self.configuration.signal != nil || self.configuration.idleTimeout != nil else { return nil }
        return self.nextTimer(at: now)
    }

    // MARK: Timer

    package enum DeadPeerReason: Equatable, Sendable {
        /// A signal was not answered in time.
        case unanswered
        /// No bytes were received for ``WebSocketHeartbeat/idleTimeout``.
        case idle
    }

    package enum TimerAction: Equatable {
        /// Send a Ping with this payload, and start the timer.
        case sendPing(ByteBuffer, thenTimerAfter: Duration)
        /// Send this text, and start the timer.
        case sendText(String, thenTimerAfter: Duration)
        /// No deadline has expired: start the timer again.
        case wait(Duration)
        /// Abort the connection: the peer is considered dead.
        case giveUp(DeadPeerReason)
        case doNothing
    }

    /// Handles the timer.
    package mutating func timerFired(at now: Duration) -> TimerAction {
        if let idleTimeout = self.configuration.idleTimeout, now - self.lastReceivedAt >= idleTimeout {
            return self.giveUp(.idle)
        }
        switch self.state {
        case .quiet(let nextSignalAt):
            guard let signal = self.configuration.signal, now >= nextSignalAt else { return .wait(self.nextTimer(at: now)) }
            return self.send(signal, at: now)
        case .awaiting(let sentAt):
            guard let timeout = self.configuration.answerTimeout, now - max(sentAt, self.lastReceivedAt) >= timeout else {
                return .wait(self.nextTimer(at: now))
            }
            return self.giveUp(.unanswered)
        case .stopped:
            return .doNothing  // the timer raced with `stop`
        }
    }

    private mutating func send(_ signal: WebSocketHeartbeat.Signal, at now: Duration) -> TimerAction {
        switch self.configuration.answerTimeout {
        case .some: self.state = .awaiting(sentAt: now)
        case nil: self.state = .quiet(nextSignalAt: now + self.configuration.interval)
        }
        switch signal {
        case .text(let text):
            return .sendText(text, thenTimerAfter: self.nextTimer(at: now))
        case .ping:
            // Without `answerTimeout`, any number of Pings may be unanswered.
            let ping = self.pings.beginDroppingOldest((), at: now)
            return .sendPing(ping.payload, thenTimerAfter: self.nextTimer(at: now))
        }
    }

    private mutating func giveUp(_ reason: DeadPeerReason) -> TimerAction {
        if case .stopped = self.state { return .doNothing }
        self.state = .stopped
        return .giveUp(reason)
    }

    /// Returns the time to the next deadline. It is never zero, so that a stopped clock causes no
    /// busy loop.
    private func nextTimer(at now: Duration) -> Duration {
        var due: [Duration] = []
        switch self.state {
        case .quiet(let nextSignalAt):
            if self.configuration.signal != nil { due.append(nextSignalAt - now) }
        case .awaiting(let sentAt):
            // At most one interval: if the answer arrives, the next signal must not wait for the
            // deadline of the answer.
            due.append(self.configuration.interval)
            if let timeout = self.configuration.answerTimeout { due.append(max(sentAt, self.lastReceivedAt) + timeout - now) }
        case .stopped: break
        }
        if let idleTimeout = self.configuration.idleTimeout { due.append(self.lastReceivedAt + idleTimeout - now) }
        return max(due.min() ?? self.configuration.interval, .milliseconds(1))
    }

    // MARK: Received data

    /// Records received bytes.
    package mutating func received(at now: Duration) {
        self.lastReceivedAt = max(self.lastReceivedAt, now)
    }

    /// Records a received message, which answers a text signal.
    package mutating func receivedMessage(at now: Duration) {
        self.received(at: now)
        if case .text = self.configuration.signal { self.answered(at: now) }
    }

    /// Records a Pong. Returns the round-trip time of the Ping that it answers, or `nil` if the
    /// heartbeat did not send that Ping.
    package mutating func receivedPong(_ payload: ByteBuffer, at now: Duration) -> Duration? {
        self.received(at: now)
        guard let ping = self.pings.receivedPong(payload).last else { return nil }
        self.answered(at: now)
        return now - ping.sentAt
    }

    private mutating func answered(at now: Duration) {
        guard case .awaiting(let sentAt) = self.state else { return }
        self.state = .quiet(nextSignalAt: max(sentAt + self.configuration.interval, now))
    }

    /// Stops the heartbeat when the connection closes.
    package mutating func stop() {
        self.state = .stopped
    }
}
