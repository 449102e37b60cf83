/// Watches the time of one connection: the handshake, heads that do not end, writes that do not leave, and silence.
///
/// Pure. The shell reports what happens with the time, and ticks; nothing is to be done for a byte but to remember the time. A deadline is
/// noticed at the first tick after it.
package struct LivenessMonitor: Sendable {
    /// The deadlines.
    package struct Settings: Hashable, Sendable {
        package var handshakeTimeout: Duration
        package var headTimeout: Duration
        package var stallTimeout: Duration
        /// `nil`: no pings.
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

        /// How often to tick: often enough that no deadline is missed by more than a quarter of it, not oftener than every 5 ms.
        package var tick: Duration {
            let shortest = min(
                self.handshakeTimeout, self.headTimeout, self.stallTimeout, self.pingInterval ?? self.stallTimeout, self.pingTimeout)
            return min(max(shortest / 4, .milliseconds(5)), .seconds(5))
        }
    }

    private let settings: Settings
    /// `nil` once the session is open.
    private var handshakeSince: Duration?
    private var headSince: Duration?
    private var writingSince: Duration?
    private var receivedAt: Duration
    private var pingedAt: Duration?
    private var readingIsPaused = false

    /// The transport stands since `now`.
    package init(settings: Settings, at now: Duration) {
        self.settings = settings
        self.handshakeSince = now
        self.receivedAt = now
    }

    // MARK: Events

    /// The session is open.
    package mutating func opened() {
        self.handshakeSince = nil
    }

    /// Bytes came.
    ///
    /// - Parameters:
    ///   - isWithinHead: Whether they ended within a head.
    ///   - isAnotherHead: Whether a head was completed on the way: the one that is open now began with these bytes.
    package mutating func received(isWithinHead: Bool, isAnotherHead: Bool, at now: Duration) {
        self.receivedAt = now
        self.pingedAt = nil
        if !isWithinHead { self.headSince = nil } else if isAnotherHead || self.headSince == nil { self.headSince = now }
    }

    /// Bytes are on their way to the transport. Those that wait already are not made younger by it.
    package mutating func wrote(at now: Duration) {
        if self.writingSince == nil { self.writingSince = now }
    }

    /// The transport has taken some of them.
    ///
    /// - Parameter isWaiting: Whether others wait.
    package mutating func took(isWaiting: Bool, at now: Duration) {
        self.writingSince = isWaiting ? now : nil
    }

    /// We do not read: the peer's silence, and the rest of its heads, are ours.
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

    /// Time has passed.
    ///
    /// - Parameter canPing: Whether the peer would understand.
    package mutating func ticked(canPing: Bool, at now: Duration) -> TickAction {
        if let since = self.handshakeSince, now - since >= self.settings.handshakeTimeout {
            return .fail(FramedError(.timeout, message: "the handshake took more than \(self.settings.handshakeTimeout)"))
        }
        if let since = self.writingSince, now - since >= self.settings.stallTimeout {
            return .fail(FramedError(.timeout, message: "the peer took nothing for \(self.settings.stallTimeout)"))
        }
        // The ping waits behind what waits: on a slow line its time begins when it has left.
        if self.writingSince != nil, self.pingedAt != nil { self.pingedAt = now }
        guard !self.readingIsPaused else { return .doNothing }
        if let since = self.headSince, now - since >= self.settings.headTimeout {
            return .fail(FramedError(.timeout, message: "a header took more than \(self.settings.headTimeout)"))
        }
        if let since = self.pingedAt, now - since >= self.settings.pingTimeout {
            return .fail(FramedError(.timeout, message: "no answer to a ping within \(self.settings.pingTimeout)"))
        }
        guard canPing, self.handshakeSince == nil, self.pingedAt == nil, let interval = self.settings.pingInterval,
            now - self.receivedAt >= interval
        else { return .doNothing }
        self.pingedAt = now
        return .sendPing
    }
}
