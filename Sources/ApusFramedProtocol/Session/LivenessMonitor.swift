/// Monitors the deadlines of one connection: the handshake, incomplete heads, stalled writes, and
/// silence of the peer.
///
/// It has no clock and no timer: the caller reports events with their time, and calls
/// ``ticked(canPing:at:)`` periodically. An expired deadline is detected at the next tick.
package struct LivenessMonitor: Sendable {
    /// The deadlines and the ping interval.
    package struct Settings: Hashable, Sendable {
        package var handshakeTimeout: Duration
        package var headTimeout: Duration
        package var stallTimeout: Duration
        /// The time without received bytes before a ping; `nil` disables pings.
        package var pingInterval: Duration?
        package var pingTimeout: Duration

        package init(
            handshakeTimeout: Duration, headTimeout: Duration, stallTimeout: Duration, pingInterval: Duration?, pingTimeout: Duration
        ) {
            self.handshakeTimeout = handshakeTimeout
            self.headTimeout = headTimeout
            self.stallTimeout = stallTimeout
            self.pingInterval = pingInterval
            self.pingTimeout = pingTimeout
        }

        /// The interval between ticks: a quarter of the shortest deadline, between 5 ms and 5 s.
        package var tick: Duration {
            let shortest = min(
                self.handshakeTimeout, self.headTimeout, self.stallTimeout, self.pingInterval ?? self.stallTimeout, self.pingTimeout)
            return min(max(shortest / 4, .milliseconds(5)), .seconds(5))
        }
    }

    private let settings: Settings
    /// The start of the handshake; `nil` once the session is open.
    private var handshakeSince: Duration?
    private var headSince: Duration?
    private var writingSince: Duration?
    private var receivedAt: Duration
    private var pingedAt: Duration?
    private var readingIsPaused = false

    /// Creates a monitor for a transport that was connected at `now`.
    package init(settings: Settings, at now: Duration) {
        self.settings = settings
        self.handshakeSince = now
        self.receivedAt = now
    }

    // MARK: Events

    /// Handles the opening of the session.
    package mutating func opened() {
        self.handshakeSince = nil
    }

    /// Handles received bytes.
    ///
    /// - Parameters:
    ///   - isWithinHead: Whether the bytes ended within a head.
    ///   - isAnotherHead: Whether the bytes completed a head, so that the incomplete head began
    ///     with these bytes.
    package mutating func received(isWithinHead: Bool, isAnotherHead: Bool, at now: Duration) {
        self.receivedAt = now
        self.pingedAt = nil
        if !isWithinHead { self.headSince = nil } else if isAnotherHead || self.headSince == nil { self.headSince = now }
    }

    /// Handles bytes that were passed to the transport. Does not reset the deadline of bytes that
    /// already wait.
    package mutating func wrote(at now: Duration) {
        if self.writingSince == nil { self.writingSince = now }
    }

    /// Handles bytes that the transport has written.
    ///
    /// - Parameter isWaiting: Whether other bytes still wait.
    package mutating func took(isWaiting: Bool, at now: Duration) {
        self.writingSince = isWaiting ? now : nil
    }

    /// Handles a pause or a resumption of reading. While reading is paused, no bytes of the peer
    /// are expected.
    package mutating func reading(isPaused: Bool, at now: Duration) {
        self.readingIsPaused = isPaused
        self.receivedAt = now
        self.pingedAt = nil
        if self.headSince != nil { self.headSince = now }
    }

    package enum TickAction: Equatable {
        case doNothing, sendPing
        case fail(FramedError)
    }

    /// Checks the deadlines.
    ///
    /// - Parameter canPing: Whether the peer supports pings.
    package mutating func ticked(canPing: Bool, at now: Duration) -> TickAction {
        if let since = self.handshakeSince, now - since >= self.settings.handshakeTimeout {
            return .fail(
                FramedError(
                    .timeout, message: "the handshake was not complete within \(self.settings.handshakeTimeout) (`handshakeTimeout`)"))
        }
        if let since = self.writingSince, now - since >= self.settings.stallTimeout {
            return .fail(FramedError(.timeout, message: "the peer read nothing for \(self.settings.stallTimeout) (`stallTimeout`)"))
        }
        // A ping is queued behind other bytes: on a slow connection its deadline starts when it is
        // written.
        if self.writingSince != nil, self.pingedAt != nil { self.pingedAt = now }
        guard !self.readingIsPaused else { return .doNothing }
        if let since = self.headSince, now - since >= self.settings.headTimeout {
            return .fail(FramedError(.timeout, message: "a header was not complete within \(self.settings.headTimeout) (`headerTimeout`)"))
        }
        if let since = self.pingedAt, now - since >= self.settings.pingTimeout {
            return .fail(
                FramedError(.timeout, message: "the peer sent nothing within \(self.settings.pingTimeout) after a ping (`pingTimeout`)"))
        }
        guard canPing, self.handshakeSince == nil, self.pingedAt == nil, let interval = self.settings.pingInterval,
            now - self.receivedAt >= interval
        else { return .doNothing }
        self.pingedAt = now
        return .sendPing
    }
}
