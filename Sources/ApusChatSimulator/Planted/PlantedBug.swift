/// A bug that the simulator's own shell has on request, to show that the oracle finds it.
enum PlantedBug: String, CaseIterable, Sendable {
    /// Acks leave after the decision. A server that stops before the commit has acknowledged what
    /// it does not have.
    case ackBeforeCommit = "ack-before-commit"
    /// A retry is compared with the stored body, which an edit or a recall has changed.
    case retryByStoredBody = "retry-by-stored-body"
    /// The number of unread messages counts the changes after the read position, too.
    case unreadCountsChanges = "unread-counts-changes"
    /// The answers of `history` come from a cache that a recall does not reach.
    case recalledServed = "recalled-served"
    /// A push that arrives early moves the cursor over the events before it, of which the store is
    /// not told.
    case earlyPushSkips = "early-push-skips"

    /// A seed that finds the bug. `scripts/simulate --planted all` prints the lowest ones.
    var seed: UInt64 {
        switch self {
        case .ackBeforeCommit: 2
        case .retryByStoredBody: 1
        case .unreadCountsChanges: 1
        case .recalledServed: 1
        case .earlyPushSkips: 1
        }
    }
}
