/// A request for part of a conversation's log: `sync` with `from` or `before`.
package enum SyncPullRequest: Hashable, Sendable {
    /// The events from `from` on, for a client that is a few events behind.
    case page(from: Int64, limit: Int)
    /// The newest events below `before`, for a new client or one that is too far behind to read all
    /// events.
    case window(before: Int64, limit: Int)
}
