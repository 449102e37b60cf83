/// When, and how often, a lost connection is opened again.
///
/// A policy is a pure value: it holds no counter and rolls no dice of its own. A client asks it after every failed attempt.
/// Nonsense is pulled into range rather than refused: a negative delay counts as zero, a factor below one as one,
/// a jitter outside 0…1 as the nearer end.
public struct ReconnectionPolicy: Sendable, Hashable {
    private enum Kind: Hashable {
        case none
        case backoff(from: Duration, to: Duration, factor: Double, jitter: Double)
    }

    private let kind: Kind

    /// The number of attempts after which the policy gives up; `nil` means never.
    public let maximumAttempts: Int?

    /// Never connect again: a lost connection stays lost.
    public static let none = Self(kind: .none, maximumAttempts: 0)

    /// What the JavaScript Socket.IO client does: one second, doubling to five, each delay varied by up to half either way,
    /// without end (`reconnectionDelay`, `reconnectionDelayMax`, `randomizationFactor` of its options).
    public static let socketIO = Self.exponential(from: .seconds(1), to: .seconds(5), factor: 2, jitter: 0.5)

    /// The same delay before each attempt.
    ///
    /// - Parameters:
    ///   - delay: The pause before each attempt.
    ///   - maximumAttempts: Gives up after that many failed attempts; `nil` goes on for ever.
    public static func fixed(_ delay: Duration, maximumAttempts: Int? = nil) -> Self {
        let delay = max(delay, .zero)
        return Self(kind: .backoff(from: delay, to: delay, factor: 1, jitter: 0), maximumAttempts: maximumAttempts.map { max(0, $0) })
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
    public static func exponential(
        from first: Duration, to last: Duration, factor: Double = 2, jitter: Double = 0.5, maximumAttempts: Int? = nil
    ) -> Self {
        let first = max(first, .zero)
        return Self(
            kind: .backoff(
                from: first, to: max(first, last), factor: factor.isFinite ? max(1, factor) : 1,
                jitter: jitter.isFinite ? min(max(0, jitter), 1) : 0),
            maximumAttempts: maximumAttempts.map { max(0, $0) })
    }

    private init(kind: Kind, maximumAttempts: Int?) {
        self.kind = kind
        self.maximumAttempts = maximumAttempts
    }

    /// The pause before an attempt, or `nil` when it is time to give up.
    ///
    /// - Parameters:
    ///   - attempt: The number of the coming attempt since the connection was lost, starting at 1.
    ///   - generator: Where the jitter comes from.
    public func delay(forAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
        guard case .backoff(let first, let last, let factor, let jitter) = self.kind else { return nil }
        if let maximumAttempts, attempt > maximumAttempts { return nil }
        let base = Self.grown(first, to: last, factor: factor, steps: max(0, attempt - 1))
        guard jitter > 0 else { return base }
        // One roll, 53 bits of it: `Double.random(in:using:)` may ask again and again, and never returns with a generator that repeats itself.
        let unit = Double(generator.next() >> 11) / Double((UInt64(1) << 53) - 1)
        return base * (1 - jitter + 2 * jitter * unit)
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
