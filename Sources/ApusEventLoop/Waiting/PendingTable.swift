public import NIOCore

/// The waits of one object, such as those for acks, by their ids.
///
/// A wait ends exactly once: it is taken when its answer arrives, when it is cancelled or when its
/// owner closes, or it is passed to `timedOut` at its deadline. The table removes it in each case.
/// Confined to its event loop. Inlinable, because unspecialized code would allocate memory for each
/// wait.
@usableFromInline
package final class PendingTable<Wait>: DeadlineTimer {
    @usableFromInline let timedOut: (Int, Wait) -> Void
    @usableFromInline var waits: [Int: Wait] = [:]

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop of the owner and of the deadlines.
    ///   - timedOut: Called with each wait whose deadline passes.
    @inlinable package init(on eventLoop: any EventLoop, timedOut: @escaping (_ id: Int, _ wait: Wait) -> Void) {
        self.timedOut = timedOut
        super.init(on: eventLoop)
    }

    /// The number of waits.
    @inlinable package var count: Int { self.waits.count }

    /// The wait with an id, until it ends.
    @inlinable package subscript(id: Int) -> Wait? { self.waits[id] }

    /// Adds a wait.
    ///
    /// - Parameters:
    ///   - wait: The wait.
    ///   - id: The id, never reused, so that a late answer cannot end another wait.
    ///   - timeout: The maximum length of the wait; `nil` for no limit.
    @inlinable package func add(_ wait: Wait, id: Int, endingIn timeout: Duration?) {
        self.waits[id] = wait
        if let timeout { self.startDeadline(of: id, in: timeout, amongWaiting: self.waits.count) }
    }

    /// Changes a wait that has not ended.
    @inlinable package func update(_ id: Int, _ change: (inout Wait) -> Void) {
        guard let index = self.waits.index(forKey: id) else { return }
        change(&self.waits.values[index])
    }

    /// Ends a wait and returns it; `nil` if it has ended already.
    @inlinable package func take(_ id: Int) -> Wait? { self.waits.removeValue(forKey: id) }

    /// Ends the waits that match, and returns them in the order of their ids.
    @inlinable package func takeAll(where isIncluded: (Wait) -> Bool) -> [Wait] {
        self.waits.filter { isIncluded($0.value) }.keys.sorted().compactMap { self.take($0) }
    }

    /// Ends all waits, and returns them in the order of their ids.
    @inlinable package func takeAll() -> [Wait] {
        self.cancelDeadlines()
        return self.takeAll { _ in true }
    }

    @inlinable override func isWaiting(_ id: Int) -> Bool { self.waits[id] != nil }

    @inlinable override func deadlinePassed(_ id: Int) {
        if let wait = self.take(id) { self.timedOut(id, wait) }
    }
}
