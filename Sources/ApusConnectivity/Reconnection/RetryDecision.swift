/// Whether a lost connection is worth another attempt.
public enum RetryDecision: Sendable, Hashable {
    /// Another attempt, when the policy says.
    case retry
    /// Another attempt, but not sooner than this (a server's `Retry-After` for instance). The policy may make it later;
    /// more than ``maximumDelay`` is pulled down to it.
    case retryAfter(Duration)
    /// It would fail again: stop.
    case giveUp

    /// The longest wait that a peer can impose: ten minutes.
    public static let maximumDelay: Duration = .seconds(600)

    /// What the error says of itself when it is ``RetryClassifiable``; otherwise a retry.
    public init(classifying error: (any Error)?) {
        self = (error as? any RetryClassifiable)?.retryDecision ?? .retry
    }
}

/// An error that knows whether another attempt can succeed.
public protocol RetryClassifiable: Error {
    /// Whether another attempt is worth it.
    var retryDecision: RetryDecision { get }
}
