/// The settings for a client that follows the log of a conversation.
package struct FollowSettings: Sendable, Hashable {
    /// The time for which the client waits for missing events before it requests them. It is also
    /// the delay before the first retry of a failed request. The pushes of two senders can arrive
    /// in reverse order, and an immediate request would then double the traffic.
    package var holePatience: Duration = .milliseconds(500)
    /// The maximum number of events of one `history` request.
    package var pageLimit = 200
    /// The number of events that are requested for a conversation without stored events: about two
    /// screens.
    package var windowLimit = 50
    /// The maximum number of missed events that a client requests. A client that missed more
    /// requests the newest events and records a gap.
    package var maximumCatchUp: Int64 = 1_000
    /// The maximum number of events that wait for a missing event. Further events are dropped and
    /// requested later.
    package var maximumHeld = 500
    /// The maximum delay before a failed request is sent again.
    package var maximumRetryDelay: Duration = .seconds(30)

    package init() {}

    /// Returns the delay before the next attempt, which doubles with each attempt.
    func retryDelay(afterAttempts attempts: Int) -> Duration {
        // The exponent is bounded, so that the product does not overflow.
        min(self.holePatience * (1 << min(max(attempts, 0), 16)), self.maximumRetryDelay)
    }
}
