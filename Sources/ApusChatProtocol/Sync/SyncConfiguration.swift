/// Configures how a client follows the log of a conversation.
public struct SyncConfiguration: Sendable, Hashable {
    /// The time that the client waits for the missing events before it pulls them. Default: 0.5 s
    /// (docs/chat-rules.md, 2). The pushes of two senders can arrive in reverse order; a pull for
    /// each of them would double the traffic.
    public var holePatience: Duration = .milliseconds(500)

    /// The number of events requested in one page. Default: 200, the maximum that a server grants.
    public var pageLimit: Int = 200

    /// The number of events in a new window. Default: 50, about two screens.
    public var windowLimit: Int = 50

    /// The maximum number of events a client reads to catch up. A client that is further behind
    /// requests a new window and marks a gap. Default: 1,000, five pages.
    public var maximumCatchUp: Int = 1_000

    /// The maximum number of events held behind a hole, for each conversation. Further events are
    /// dropped and pulled later. Default: 500.
    public var maximumHeld: Int = 500

    /// The maximum delay between two attempts to close the same hole. Default: 30 s.
    public var maximumRetryDelay: Duration = .seconds(30)

    /// Creates a configuration with the default values.
    public init() {}

    /// Returns a delay that doubles with every attempt, from `holePatience` to `maximumRetryDelay`.
    package func retryDelay(afterAttempts attempts: Int) -> Duration {
        let doublings = min(max(attempts, 0), 16)  // 2^16 × 0.5 s exceeds any reasonable maximum and does not overflow
        return min(self.holePatience * (1 << doublings), self.maximumRetryDelay)
    }
}
