/// How a client follows the log of a conversation.
public struct SyncConfiguration: Sendable, Hashable {
    /// How long a hole in front of an event may stay open before the missing part is pulled. Default: 0.5 s (chat rule 2): pushes of two
    /// senders can overtake each other by a network turn, and a pull for each of those would double the traffic.
    public var holePatience: Duration = .milliseconds(500)

    /// Events asked for in one page. Default: 200, the most a server grants.
    public var pageLimit: Int = 200

    /// Events in a fresh window. Default: 50, about two screens.
    public var windowLimit: Int = 50

    /// How many events a client reads to catch up. Farther behind, it takes a fresh window and marks a gap. Default: 1,000 events, five pages.
    public var maximumCatchUp: Int = 1_000

    /// Events kept waiting behind a hole, a conversation. What does not fit is dropped and pulled later. Default: 500.
    public var maximumHeld: Int = 500

    /// The longest wait between two attempts to close a hole the server does not close. Default: 30 s.
    public var maximumRetryDelay: Duration = .seconds(30)

    /// The defaults above.
    public init() {}

    /// Doubles with every attempt from `holePatience` to `maximumRetryDelay`.
    package func retryDelay(afterAttempts attempts: Int) -> Duration {
        let doublings = min(max(attempts, 0), 16)  // 2^16 × 0.5 s is far above any sensible maximum and below any overflow
        return min(self.holePatience * (1 << doublings), self.maximumRetryDelay)
    }
}
