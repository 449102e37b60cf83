/// When, and how often, a lost connection is opened again.
///
/// A policy is a pure value: it holds no counter and rolls no dice of its own. A client asks it after every failed attempt.
/// Nonsense is pulled into range rather than refused: a negative delay counts as zero, a factor below one as one,
/// a jitter outside 0…1 as the nearer end.
public struct ReconnectionPolicy: Sendable, Hashable {
    private enum Kind: Hashable {
        case none
        case backoff(from: Duration, to: Duration, factor: Double, jitter: Double)
        /// One after another, the last again and again. Not empty.
        case listed([Duration], jitter: Double)
    }

    private let kind: Kind

    /// The number of attempts after which the policy gives up; `nil` means never.
    public let maximumAttempts: Int?

    /// How long a connection must have stood before its loss counts as the first again. Until then the delays go on growing, and the
    /// attempts are counted on, so that a server which accepts and hangs up at once is not asked every instant.
    ///
    /// Default: 5 seconds; zero for ``socketIO`` and ``doubling``, whose models forget their failures as soon as a connection stands.
    public var stableTime: Duration

    /// Never connect again: a lost connection stays lost.
    public static let none = Self(kind: .none, maximumAttempts: 0, stableTime: .zero)

    /// What the JavaScript Socket.IO client does: one second, doubling to five, each delay varied by up to half either way,
    /// without end (`reconnectionDelay`, `reconnectionDelayMax`, `randomizationFactor` of its options).
    public static let socketIO = Self.exponential(from: .seconds(1), to: .seconds(5), factor: 2, jitter: 0.5, stableTime: .zero)

    /// What clients on SocketRocket do by habit: at once, then after 2, 4, 8, 16, 32 and every 60 seconds, without end.
    public static let doubling = Self.delays(
        [.zero, .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(32), .seconds(60)], jitter: 0, stableTime: .zero)

    /// Every second, five times, as FLSocketManager does.
    public static let fiveTimes = Self.fixed(.seconds(1), maximumAttempts: 5)

    /// The same delay before each attempt.
    ///
    /// - Parameters:
    ///   - delay: The pause before each attempt.
    ///   - maximumAttempts: Gives up after that many failed attempts; `nil` goes on for ever.
    ///   - stableTime: See ``stableTime``.
    public static func fixed(_ delay: Duration, maximumAttempts: Int? = nil, stableTime: Duration = .seconds(5)) -> Self {
        let delay = max(delay, .zero)
        return Self(
            kind: .backoff(from: delay, to: delay, factor: 1, jitter: 0), maximumAttempts: maximumAttempts.map { max(0, $0) },
            stableTime: stableTime)
    }

    /// A delay that grows by a factor up to a bound.
    ///
    /// - Parameters:
    ///   - first: The delay before the first attempt.
    ///   - last: The bound of the growth. Jitter is applied after it, so one delay may exceed it by `jitter`.
    ///   - factor: What each delay is multiplied with to get the next.
    ///   - jitter: The share of the delay that chance may add or take away, 0…1. Without it, all clients of a
    ///     restarted server come back in the same instant.
    ///   - maximumAttempts: Gives up after that many failed attempts; `nil` goes on for ever.
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

    /// Delays of the caller's choice, the last of them again and again.
    ///
    /// - Parameters:
    ///   - delays: The pause before the first attempt, the second, and so on. An empty list is ``none``.
    ///   - jitter: As for ``exponential(from:to:factor:jitter:maximumAttempts:stableTime:)``.
    ///   - maximumAttempts: Gives up after that many failed attempts; `nil` goes on for ever.
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

    /// The pause before an attempt, or `nil` when it is time to give up.
    ///
    /// - Parameters:
    ///   - attempt: The number of the coming attempt since the connection was lost, starting at 1.
    ///   - generator: Where the jitter comes from.
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
        // One roll, 53 bits of it: `Double.random(in:using:)` may ask again and again, and never returns with a generator that repeats itself.
        let unit = Double(generator.next() >> 11) / Double((UInt64(1) << 53) - 1)
        return delay * (1 - jitter + 2 * jitter * unit)
    }

    /// `first * factor^steps`, at most `last`; stops multiplying at the bound, so that no exponent can overflow.
    private static func grown(_ first: Duration, to last: Duration, factor: Double, steps: Int) -> Duration {
        guard factor > 1, first > .zero else { return first }
        var delay = first
        var step = 0
        while step < steps, delay < last {
            // Compared by division: the product could leave the range of `Duration`.
            guard last / delay > factor else { return last }
            delay = delay * factor
            step += 1
        }
        return min(delay, last)
    }
}
