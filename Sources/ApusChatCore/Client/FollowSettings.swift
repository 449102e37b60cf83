/// How a client follows the log of a conversation.
package struct FollowSettings: Sendable, Hashable {
    /// The time that the client waits for missing events before it requests them. The pushes of two
    /// senders can arrive in reverse order; a request for each of them would double the traffic.
    package var holePatience: Duration = .milliseconds(500)
    /// The number of events of one `history` request.
    package var pageLimit = 200
    /// The number of events of a new window: about two screens.
    package var windowLimit = 50
    /// The number of events that a client reads to catch up. A client that is further behind
    /// requests a new window and marks a gap.
    package var maximumCatchUp: Int64 = 1_000
    /// The number of events held behind a hole. Further ones are dropped and requested later.
    package var maximumHeld = 500
    /// The longest delay between two attempts to close the same hole.
    package var maximumRetryDelay: Duration = .seconds(30)

    package init() {}

    /// Returns a delay that doubles with every attempt.
    func retryDelay(afterAttempts attempts: Int) -> Duration {
        // 2^16 × 0.5 s exceeds every sensible maximum and does not overflow.
        min(self.holePatience * (1 << min(max(attempts, 0), 16)), self.maximumRetryDelay)
    }
}
