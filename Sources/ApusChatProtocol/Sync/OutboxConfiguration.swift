/// How a client repeats a message that did not get through.
public struct OutboxConfiguration: Sendable, Hashable {
    /// The wait before the first repetition; it doubles from there. Default: 1 s.
    public var firstRetryDelay: Duration = .seconds(1)

    /// The longest wait between two repetitions. Default: 30 s.
    public var maximumRetryDelay: Duration = .seconds(30)

    /// The share of a delay that chance takes away, 0…1, so that the clients of a restarted server do not come back in step. Default: 0.5.
    public var jitter: Double = 0.5

    /// Conversations that may have a message on the wire at the same time. Within one conversation it is always one. Default: 8.
    public var maximumInFlight: Int = 8

    /// The defaults above.
    public init() {}

    package func delay(afterAttempts attempts: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(attempts - 1, 0), 16)
        let delay = min(self.firstRetryDelay * (1 << doublings), self.maximumRetryDelay)
        let jitter = self.jitter.isFinite ? min(max(self.jitter, 0), 1) : 0
        guard jitter > 0 else { return delay }
        return delay * Double.random(in: (1 - jitter)...1, using: &generator)
    }
}
