package import NIOCore

/// Decides when to ask the peer for a sign of life, and when it is given up.
///
/// Has no clock: `now` is the time since any fixed point, the same for all calls. One timer is enough; every answer says when it
/// is to fire next. Pings of the user are counted elsewhere; their Pongs are signs of life here and no answers.
package struct WebSocketHeartbeatStateMachine {
    private enum State {
        /// Nothing is asked. Leaves to `awaiting` (timer) or `stopped`.
        case quiet(nextSignalAt: Duration)
        /// A signal is on its way. Leaves to `quiet` (its answer) or `stopped` (timer).
        case awaiting(sentAt: Duration)
        /// Final.
        case stopped
    }

    private let configuration: WebSocketHeartbeat
    private var state: State
    private var lastReceivedAt: Duration
    private var pings = PendingPings<Void>()

    /// - Parameters:
    ///   - configuration: What is asked, and how often.
    ///   - now: When the connection opened.
    package init(_ configuration: WebSocketHeartbeat, openedAt now: Duration) {
        self.configuration = configuration
        self.lastReceivedAt = now
        self.state = .quiet(nextSignalAt: now + configuration.interval)
    }

    /// When the timer is to fire first; `nil`: never, there is nothing to watch.
    package func firstTimer(at now: Duration) -> Duration? {
        guard self.configuration.signal != nil || self.configuration.idleTimeout != nil else { return nil }
        return self.nextTimer(at: now)
    }

    // MARK: Timer

    package enum GiveUpReason: Equatable, Sendable {
        /// A signal was not answered in time.
        case unanswered
        /// Nothing came for ``WebSocketHeartbeat/idleTimeout``.
        case idle
    }

    package enum TimerAction: Equatable {
        /// Send a Ping with this payload, and start the timer.
        case sendPing(ByteBuffer, thenTimerAfter: Duration)
        /// Send this text, and start the timer.
        case sendText(String, thenTimerAfter: Duration)
        /// It is too early; start the timer.
        case wait(Duration)
        /// The peer is gone: end the connection without waiting for it.
        case giveUp(GiveUpReason)
        case doNothing
    }

    /// The timer fired.
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
            guard let ping = self.pings.begin((), at: now) else {
                // So many Pings without an answer while other bytes came: the peer does not speak WebSocket any more.
                return self.giveUp(.unanswered)
            }
            return .sendPing(ping.payload, thenTimerAfter: self.nextTimer(at: now))
        }
    }

    private mutating func giveUp(_ reason: GiveUpReason) -> TimerAction {
        if case .stopped = self.state { return .doNothing }
        self.state = .stopped
        return .giveUp(reason)
    }

    /// Time to whatever is due first; never zero, so that a clock that stands still cannot spin.
    private func nextTimer(at now: Duration) -> Duration {
        var due: [Duration] = []
        switch self.state {
        case .quiet(let nextSignalAt):
            if self.configuration.signal != nil { due.append(nextSignalAt - now) }
        case .awaiting(let sentAt):
            // Also once an interval: when the answer comes the next signal must not wait for the deadline of this one.
            due.append(self.configuration.interval)
            if let timeout = self.configuration.answerTimeout { due.append(max(sentAt, self.lastReceivedAt) + timeout - now) }
        case .stopped: break
        }
        if let idleTimeout = self.configuration.idleTimeout { due.append(self.lastReceivedAt + idleTimeout - now) }
        return max(due.min() ?? self.configuration.interval, .milliseconds(1))
    }

    // MARK: Signs of life

    /// Bytes came.
    package mutating func received(at now: Duration) {
        self.lastReceivedAt = max(self.lastReceivedAt, now)
    }

    /// A message came: the answer to a text.
    package mutating func receivedMessage(at now: Duration) {
        self.received(at: now)
        if case .text = self.configuration.signal { self.answered(at: now) }
    }

    /// A Pong came. Answers the round trip of the Ping it names; `nil` when that is none of the heartbeat's.
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

    /// The connection closes: nothing is asked any more.
    package mutating func stop() {
        self.state = .stopped
    }
}
