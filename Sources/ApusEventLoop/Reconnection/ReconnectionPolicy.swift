/// The delays and the number of attempts with which a client reconnects.
///
/// A policy is a pure value without a counter or a random number generator. Out-of-range values are
/// clamped: a negative delay to zero, a factor below one to one, and a jitter to 0…1.
public struct ReconnectionPolicy: Sendable, Hashable {
    private enum Kind: Hashable {
        case none
        case backoff(from: Duration, to: Duration, factor: Double, jitter: Double)
        /// The delays in order; the last one is repeated. Not empty.
        case listed([Duration], jitter: Double)
    }

    private let kind: Kind

    /// The number of failed attempts after which the client makes no further one; `nil` for no
    /// limit.
    public let maximumAttempts: Int?

    /// The time for which a connection must be open before its loss resets the count of attempts.
    ///
    /// A connection lost earlier counts as a failed attempt, and the delays continue to grow. This
    /// avoids rapid reconnection to a server that accepts connections and closes them immediately.
    ///
    /// Default: 5 seconds. Zero for ``none``, and for ``socketIO`` and ``doubling``, because the
    /// clients that these two imitate reset the count when a connection opens.
    public var stableTime: Duration

    /// Never reconnects.
    public static let none = Self(kind: .none, maximumAttempts: 0, stableTime: .zero)

    /// The default of the JavaScript Socket.IO client: a delay of one second that doubles up to
    /// five seconds, with a jitter of 0.5 and without a limit of attempts. The options of that
    /// client are `reconnectionDelay`, `reconnectionDelayMax` and `randomizationFactor`.
    public static let socketIO = Self.exponential(from: .seconds(1), to: .seconds(5), factor: 2, jitter: 0.5, stableTime: .zero)

    /// A scheme common in clients based on SocketRocket: immediately, then after 2, 4, 8, 16, 32
    /// and every 60 seconds, without a limit of attempts.
    public static let doubling = Self.delays(
        [.zero, .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60)], jitter: 0, stableTime: .zero)

    /// Five attempts, one per second, as in FLSocketManager.
    public static let fiveTimes = Self.fixed(.seconds(1), maximumAttempts: 5)

    /// Returns a policy with a constant delay.
    ///
    /// - Parameters:
    ///   - delay: The delay before each attempt.
    ///   - maximumAttempts: The number of failed attempts after which the client makes no further
    ///     one; `nil` for no limit.
    ///   - stableTime: See ``stableTime``.
    public static func fixed(_ delay: Duration, maximumAttempts: Int? = nil, stableTime: Duration = .seconds(5)) -> Self {
        let delay = max(delay, .zero)
        return Self(
            kind: .backoff(from: delay, to: delay, factor: 1, jitter: 0), maximumAttempts: maximumAttempts.map { max(0, $0) },
            stableTime: stableTime)
    }

    /// Returns a policy with a delay that grows by a factor up to a maximum.
    ///
    /// - Parameters:
    ///   - first: The delay before the first attempt.
    ///   - last: The maximum delay. Jitter is applied afterwards, so a delay may exceed it by
    ///     `jitter`.
    ///   - factor: The factor between two consecutive delays.
    ///   - jitter: The maximum random deviation, as a fraction of the delay, 0…1. Without jitter,
    ///     all clients of a restarted server reconnect at the same moment.
    ///   - maximumAttempts: The number of failed attempts after which the client makes no further
    ///     one; `nil` for no limit.
    ///   - stableTime: See ``stableTime``.
    public static func exponential(
        from first: Duration, to last: Duration, factor: Double = 2, jitter: Double = 0.5, maximumAttempts: Int? = nil,
        stableTime: Duration = .seconds(5)
    ) -> Self {
        let first = max(first, .zero)
        return Self(
            kind: .backoff(
                from: first, to: max(first, last), factor: factor.isFinite ? max(1, factor) : 1, jitter: Self.share(jitter)),
            maximumAttempts: maximumAttempts.map { max(0, $0) }, stableTime: stableTime)
    }

    /// Returns a policy with a list of delays, the last of which repeats.
    ///
    /// - Parameters:
    ///   - delays: The delays before the first attempt, the second, and so on. An empty list
    ///     results in ``none``.
    ///   - jitter: See ``exponential(from:to:factor:jitter:maximumAttempts:stableTime:)``.
    ///   - maximumAttempts: The number of failed attempts after which the client makes no further
    ///     one; `nil` for no limit.
    ///   - stableTime: See ``stableTime``.
    public static func delays(
        _ delays: [Duration], jitter: Double = 0.5, maximumAttempts: Int? = nil, stableTime: Duration = .seconds(5)
    ) -> Self {
        guard !delays.isEmpty else { return .none }
        return Self(
            kind: .listed(delays.map { max($0, .zero) }, jitter: Self.share(jitter)),
            maximumAttempts: maximumAttempts.map { max(0, $0) }, stableTime: stableTime)
    }

    private init(kind: Kind, maximumAttempts: Int?, stableTime: Duration) {
        self.kind = kind
        self.maximumAttempts = maximumAttempts
        self.stableTime = max(stableTime, .zero)
    }

    private static func share(_ jitter: Double) -> Double { jitter.isFinite ? min(max(0, jitter), 1) : 0 }

    /// Returns the delay before an attempt, or `nil` if no further attempt is permitted.
    ///
    /// - Parameters:
    ///   - attempt: The number of the next attempt since the connection was lost, starting at 1.
    ///   - generator: The source of the jitter.
    public func delay(forAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
        if let maximumAttempts, attempt > maximumAttempts { return nil }
        let step = max(0, attempt - 1)
        switch self.kind {
        case .none:
            return nil
        case .backoff(let first, let last, let factor, let jitter):
            return Self.varied(Self.grown(first, to: last, factor: factor, steps: step), by: jitter, using: &generator)
        case .listed(let delays, let jitter):
            return Self.varied(delays[min(step, delays.count - 1)], by: jitter, using: &generator)
        }
    }

    private static func varied(_ delay: Duration, by jitter: Double, using generator: inout some RandomNumberGenerator) -> Duration {
        guard jitter > 0 else { return delay }
        // Uses 53 bits of one random number: `Double.random(in:using:)` may draw several and would
        // not return with a generator that always returns the same value.
        let unit = Double(generator.next() >> 11) / Double((UInt64(1) << 53) - 1)
        return delay * (1 - jitter + 2 * jitter * unit)
    }

    /// Returns `first * factor^steps`, at most `last`. Stops at the maximum to avoid an overflow.
    private static func grown(_ first: Duration, to last: Duration, factor: Double, steps: Int) -> Duration {
        guard factor > 1, first > .zero else { return first }
        var delay = first
        var step = 0
        while step < steps, delay < last {
            // The comparison uses division, because the product could exceed the range of
            // `Duration`.
            guard last / delay > factor else { return last }
            delay = delay * factor
            step += 1
        }
        return min(delay, last)
    }
}
