import NIOConcurrencyHelpers

/// The time that changes in the database are stamped with. It never runs back, whatever the machine's clock does.
///
/// A client asks for what has changed since the time that its last `sync` named (rule 5). So a stamp is taken inside the transaction, by the one
/// thread that writes, and a `sync` names the last stamp that had been committed before its snapshot was taken: whatever the snapshot lacks
/// bears that stamp or a later one, however long it waited in the queue and however long its commit took.
final class StoreClock: Sendable {
    private struct State {
        var stamped: Int64
        var committed: Int64
    }

    private let state: NIOLockedValueBox<State>
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - last: The newest stamp in the database, in milliseconds since 1970.
    ///   - now: The machine's clock, in the same unit.
    init(last: Int64, now: @escaping @Sendable () -> Int64) {
        self.state = NIOLockedValueBox(State(stamped: last, committed: last))
        self.now = now
    }

    /// A time for the change that is being made. Only inside a transaction that writes.
    func stamp() -> Int64 {
        let now = self.now()
        return self.state.withLockedValue { state in
            state.stamped = max(state.stamped, now)
            return state.stamped
        }
    }

    /// The transaction is on the disk. On the thread that writes, before the next one begins.
    func didCommit() { self.state.withLockedValue { $0.committed = $0.stamped } }

    /// The last stamp that is on the disk.
    var lastCommitted: Int64 { self.state.withLockedValue { $0.committed } }
}
