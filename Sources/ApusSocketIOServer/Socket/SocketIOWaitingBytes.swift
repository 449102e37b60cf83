import Atomics

/// The number of bytes of one client's events that wait for asynchronous handlers. Increased on its
/// event loop, decreased where the handlers run.
final class SocketIOWaitingBytes: Sendable {
    let maximum: Int
    private let bytes = ManagedAtomic(0)

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Adds an event. Returns `false` when it exceeds the limit together with those that wait. A
    /// single event may be of any size.
    func add(_ count: Int) -> Bool {
        let before = self.bytes.loadThenWrappingIncrement(by: count, ordering: .relaxed)
        guard before > 0, count > max(0, self.maximum - before) else { return true }
        self.remove(count)
        return false
    }

    /// Removes an event that no longer waits.
    func remove(_ count: Int) { self.bytes.wrappingDecrement(by: count, ordering: .relaxed) }
}
