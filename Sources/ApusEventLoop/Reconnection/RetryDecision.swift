/// The decision whether to retry after a failure.
public enum RetryDecision: Sendable, Hashable {
    /// Retry after the policy's delay.
    case retry
    /// Retry after the policy's delay, but not earlier than this duration (for example a
    /// `Retry-After` field). Limited to ``maximumDelay``.
    case retryAfter(Duration)
    /// Do not retry: another attempt would fail too.
    case giveUp

    /// The maximum delay that a peer can impose: ten minutes.
    public static let maximumDelay: Duration = .seconds(600)

    /// Creates the decision of a ``RetryClassifiable`` error, or ``retry`` for any other error.
    public init(classifying error: (any Error)?) {
        self = (error as? any RetryClassifiable)?.retryDecision ?? .retry
    }
}

/// An error that states whether another attempt can succeed.
public protocol RetryClassifiable: Error {
    /// The decision whether to retry.
    var retryDecision: RetryDecision { get }
}
