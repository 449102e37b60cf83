import NIOConcurrencyHelpers

/// What is to be done when a request is over, however it ends and in whatever order that becomes known.
final class CompletionHook: Sendable {
    private enum State {
        /// Nothing is known to be done yet. Leaves to `set` or `ended`.
        case waiting
        /// Leaves to `ended`.
        case set(@Sendable () -> Void)
        /// Final: what comes now is done at once.
        case ended
    }

    private let state = NIOLockedValueBox(State.waiting)

    func set(_ body: @escaping @Sendable () -> Void) {
        let isLate = self.state.withLockedValue { state in
            if case .ended = state { return true }
            state = .set(body)
            return false
        }
        if isLate { body() }
    }

    /// What was set is not to be done any more, and is let go of.
    func cancel() { self.state.withLockedValue { $0 = .ended } }

    func end() {
        let old = self.state.withLockedValue { state in
            defer { state = .ended }
            return state
        }
        if case .set(let body) = old { body() }
    }
}
