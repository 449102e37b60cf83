/// Decides when a lost connection to another device is repaired, and when it is abandoned.
package struct PeerPatience: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// Call `timerFired` after this time. Replaces the previous timer.
        case startTimer(Duration)
        case cancelTimer
        /// Repair the connection, and call `timerFired` after this time.
        case repair(thenTimerAfter: Duration)
        case giveUp
        case doNothing
    }

    package enum Connection: Sendable, Equatable {
        case connecting, connected, disconnected, failed
    }

    /// The time for which a disconnected connection may recover by itself.
    package static let patience = Duration.milliseconds(2_500)
    package static let retryInterval = Duration.seconds(8)
    /// The time without a connection after which the repair is abandoned, in milliseconds.
    package static let limit: Int64 = 30_000

    /// The time since which there is no connection, in milliseconds; nil while there is one.
    private var lostAt: Int64?

    package init() {}

    /// Starts the timer for a connection that is being established.
    package mutating func began(at time: Int64) -> Action {
        self.lostAt = time
        return .startTimer(Self.retryInterval)
    }

    package mutating func changed(to connection: Connection, at time: Int64) -> Action {
        switch connection {
        case .connected:
            self.lostAt = nil
            return .cancelTimer
        case .disconnected, .failed:
            if self.lostAt == nil { self.lostAt = time }
            return .startTimer(connection == .failed ? .zero : Self.patience)
        case .connecting: return .doNothing
        }
    }

    /// - Parameter isChatOnline: Whether signals can be sent. If not, no negotiation is possible,
    ///   so the time limit restarts.
    package mutating func timerFired(at time: Int64, isChatOnline: Bool) -> Action {
        guard let lostAt else { return .doNothing }
        guard time - lostAt >= Self.limit else { return .repair(thenTimerAfter: Self.retryInterval) }
        guard !isChatOnline else { return .giveUp }
        self.lostAt = time
        return .startTimer(Self.retryInterval)
    }
}
