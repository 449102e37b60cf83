/// A piece of the log a client asks the server for, the second and third form of `sync`.
package enum SyncPullRequest: Hashable, Sendable {
    /// The events from `from` on, in order: the client is a little behind and catches up.
    case page(from: Int64, limit: Int)
    /// The newest events below `before`: the client is new here, or too far behind to read everything in between.
    case window(before: Int64, limit: Int)
}
