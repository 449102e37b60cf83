import NIOConcurrencyHelpers

/// The source of the times stored with changes. Its times never decrease, even if the system clock
/// does.
///
/// A client requests the changes since the time named by its last `sync` (docs/chat-rules.md, 5). A
/// stamp is therefore taken inside the transaction, by the only thread that writes. A `sync` names
/// the last stamp committed before its snapshot was taken. A change outside the snapshot has that
/// stamp or a later one, however long it was queued and however long its commit took.
final class StoreClock: Sendable {
    private struct State {
        var stamped: Int64
        var committed: Int64
    }

    private let state: NIOLockedValueBox<State>
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - last: The latest stamp in the database, in milliseconds since 1970.
    ///   - now: The system clock, in the same unit.
    init(last: Int64, now: @escaping @Sendable () -> Int64) {
        self.state = NIOLockedValueBox(State(stamped: last, committed: last))
        self.now = now
    }

    /// Returns the time of a change. Called only inside a write transaction.
    func stamp() -> Int64 {
        let now = self.now()
        return self.state.withLockedValue { state in
            state.stamped = max(state.stamped, now)
            return state.stamped
        }
    }

    /// Records that the transaction is durable. Called on the writer's thread, before the next
    /// transaction begins.
    func didCommit() { self.state.withLockedValue { $0.committed = $0.stamped } }

    /// The last durable stamp.
    var lastCommitted: Int64 { self.state.withLockedValue { $0.committed } }
}
