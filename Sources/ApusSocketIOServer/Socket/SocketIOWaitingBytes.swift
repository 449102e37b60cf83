import Atomics

/// The bytes of the events of one client that wait for asynchronous handlers. Counted up on its event loop, down wherever the handlers run.
final class SocketIOWaitingBytes: Sendable {
    let maximum: Int
    private let bytes = ManagedAtomic(0)

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Counts an event. `false`: there is no room beside those that wait; alone it may be as large as it is.
    func add(_ count: Int) -> Bool {
        let before = self.bytes.loadThenWrappingIncrement(by: count, ordering: .relaxed)
        guard before > 0, count > max(0, self.maximum - before) else { return true }
        self.remove(count)
        return false
    }

    /// An event waits no longer.
    func remove(_ count: Int) { self.bytes.wrappingDecrement(by: count, ordering: .relaxed) }
}
